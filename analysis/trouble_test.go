package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// hours are spells of an hour each up to noon, the newest so many of which are otherwise.
func hours(n, ill int, usual, otherwise Spell) (all []Spell) {
	for h := n; h > 0; h-- {
		s := usual
		if h <= ill {
			s = otherwise
		}
		s.From, s.Length = noon.Add(-time.Duration(h)*time.Hour), time.Hour
		all = append(all, s)
	}
	return all
}

// level is a spell of runs that came to about as much.
func level(value float64, runs int) Spell {
	return Spell{Window: Window{Value: value, Low: 0.99 * value, High: 1.01 * value, Runs: runs}}
}

// lost is a spell of runs of a hundred packets, each of which lost so many.
func lost(each float64, runs int) Spell {
	return Spell{Window: Window{Value: each, Low: each, High: each, Runs: runs}, Of: each * float64(runs), All: 100 * float64(runs)}
}

func partsBetween(source, target string, more ...Part) []Part {
	return append([]Part{{FromHost, source}, {ToHost, target}, {AtHost, source}, {AtHost, target}}, more...)
}

// told is what a Trouble says, and to which pairs.
type toldOf struct {
	Part  Part
	Signs []Told
	Pairs int
}

func toldBy(h Health) (all []toldOf) {
	for _, t := range h.Troubles {
		all = append(all, toldOf{t.Part, t.Signs, len(t.Pairs)})
	}
	return all
}

func expectTold(t *testing.T, want []toldOf, h Health) {
	t.Helper()
	if diff := cmp.Diff(want, toldBy(h), cmpopts.IgnoreFields(Sign{}, "Evidence"), cmpopts.IgnoreFields(Told{}, "Pairs"), cmpopts.IgnoreUnexported(Sign{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A pair that is new says neither that a link is ill nor that it is well: what most known pairs of the link show is the link's.
func TestNewPairsSayNothing(t *testing.T) {
	link := Part{OnLink, "r1 - r2"}
	var pairs []Watched
	for i, source := range []string{"a", "b", "c", "d", "e", "f"} {
		known, target := 24, string(rune('g'+i))
		if i >= 4 {
			known = 2
		}
		delays := hours(known, 3, level(0.02, 12), level(0.08, 12))
		pairs = append(pairs, Watched{Source: source, Target: target, Parts: partsBetween(source, target, link), Spells: map[Aspect][]Spell{Delayed: delays}})
	}
	h := Judge(pairs)
	expectTold(t, []toldOf{{link, []Told{{Sign: Sign{Aspect: Delayed, Since: noon.Add(-3 * time.Hour), Usual: 0.02, Now: 0.08}, Ill: 4, All: 6}}, 4}}, h)
	if h.Looked != 4 {
		t.Errorf("%d pairs are known, want 4", h.Looked)
	}
}

// Where a host loses packets, each pair of it whose transfers are slow is told with it.
func TestAllSlowPairsOfALossyHost(t *testing.T) {
	var pairs []Watched
	for _, other := range []string{"a", "b", "c", "d"} {
		for _, ends := range [][2]string{{"h", other}, {other, "h"}} {
			slow := 0
			if ends[0] == "h" && other < "c" {
				slow = 3
			}
			pairs = append(pairs, Watched{Source: ends[0], Target: ends[1], Parts: partsBetween(ends[0], ends[1]), Spells: map[Aspect][]Spell{
				Losing: hours(24, 3, lost(0, 12), lost(5, 12)), Slowed: hours(24, slow, level(1e8, 3), level(2e7, 3))}})
		}
	}
	h := Judge(pairs)
	since := noon.Add(-3 * time.Hour)
	expectTold(t, []toldOf{{Part{AtHost, "h"}, []Told{
		{Sign: Sign{Aspect: Losing, Since: since, Usual: 0, Now: 0.05}, Ill: 8, All: 8},
		{Sign: Sign{Aspect: Slowed, Since: since, Usual: 1e8, Now: 2e7}, Ill: 2, All: 8}}, 8}}, h)
}

// A host whose line has always been short of what is declared is told so, also where a few of its pairs got slow for another reason; and since when,
// nothing older tells.
func TestShortOfWhatIsDeclared(t *testing.T) {
	unknown := []Spell{{From: noon.Add(-72 * time.Hour), Length: 24 * time.Hour}, {From: noon.Add(-48 * time.Hour), Length: 24 * time.Hour}}
	var pairs []Watched
	for _, other := range []string{"a", "b", "c", "d"} {
		rates := hours(12, 0, level(4e6, 3), Spell{})
		if other == "d" {
			rates = hours(12, 3, level(18e6, 3), level(3e6, 3))
		}
		for _, ends := range [][2]string{{"h", other}, {other, "h"}} {
			pairs = append(pairs, Watched{Source: ends[0], Target: ends[1], Parts: partsBetween(ends[0], ends[1]), Declared: 2e7,
				Spells: map[Aspect][]Spell{Slowed: append(unknown[:2:2], rates...)}})
		}
	}
	expectTold(t, []toldOf{{Part{AtHost, "h"}, []Told{
		{Sign: Sign{Aspect: Slowed, Since: noon.Add(-12 * time.Hour), Longer: true, Usual: 2e7, Now: 4e6, Declared: true}, Ill: 8, All: 8}}, 8}}, Judge(pairs))
}

// A host that loses packets and one that receives slowly stand behind one router: each is told by itself, and the router of neither, since
// what is slow for the packets that it loses speaks for the router no more.
func TestTwoBehindARouter(t *testing.T) {
	gateway := Part{AtRouter, "gw"}
	var pairs []Watched
	hosts := []string{"a", "b", "c", "d", "e", "l", "w"} // l loses packets, w has a small window
	for _, source := range hosts {
		for _, target := range hosts {
			if source == target {
				continue
			}
			parts, losing, slow := partsBetween(source, target), 0, 0
			if source > "e" || target > "e" {
				parts = append(parts, gateway)
			}
			if source == "l" || target == "l" {
				losing, slow = 3, 3
			}
			if target == "w" {
				slow = 3
			}
			pairs = append(pairs, Watched{Source: source, Target: target, Parts: parts, Spells: map[Aspect][]Spell{
				Losing: hours(24, losing, lost(0, 12), lost(5, 12)), Slowed: hours(24, slow, level(1e8, 3), level(2e7, 3))}})
		}
	}
	since := noon.Add(-3 * time.Hour)
	slow := Sign{Aspect: Slowed, Since: since, Usual: 1e8, Now: 2e7}
	expectTold(t, []toldOf{
		{Part{AtHost, "l"}, []Told{{Sign: Sign{Aspect: Losing, Since: since, Usual: 0, Now: 0.05}, Ill: 12, All: 12}, {Sign: slow, Ill: 12, All: 12}}, 12},
		{Part{ToHost, "w"}, []Told{{Sign: slow, Ill: 5, All: 6}}, 5},
	}, Judge(pairs))
}

// A pair between two hosts that are ill is of neither alone; where a trouble has no other, it is all that there is.
func TestOwn(t *testing.T) {
	h := Health{Troubles: []Trouble{{Pairs: []int{3, 1, 2}}, {Pairs: []int{2, 5}}, {Pairs: []int{2}}}}
	for k, want := range [][]int{{3, 1}, {5}, {2}} {
		if diff := cmp.Diff(want, h.Own(k)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", k, diff)
		}
	}
}

// Of pairs together it is declared, and longer than is known, what most of them say so of.
func TestPooled(t *testing.T) {
	slow := func(usual float64, declared, longer bool) *Sign {
		return &Sign{Aspect: Slowed, Since: noon, Usual: usual, Now: 4e6, Declared: declared, Longer: longer}
	}
	signs := []*Sign{slow(20e6, true, true), slow(20e6, true, true), slow(18e6, false, false)}
	want := Sign{Aspect: Slowed, Since: noon, Usual: 20e6, Now: 4e6, Declared: true, Longer: true}
	got := pooled(nil, signs, []int{0, 1, 2}, Slowed)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Sign{}, "Evidence"), cmpopts.IgnoreUnexported(Sign{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := pooled(nil, signs, []int{0, 2}, Slowed); got.Declared || got.Longer {
		t.Errorf("of one in two: %+v", got)
	}
}
