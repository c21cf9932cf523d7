package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// route is hops of which each letter is an address, "-" a silent hop, "A" an address that answered one packet of three, and "." behind a letter the end.
func routeOfLetters(letters string) (hops []measure.Hop) {
	for _, letter := range letters {
		if letter == '.' {
			hops[len(hops)-1].Reply = "echo reply"
			continue
		}
		h := measure.Hop{TTL: len(hops) + 1, Addresses: []string{}, RTTSeconds: make([]*float64, 3)}
		answers := 3
		switch {
		case letter == '-':
			answers = 0
		case letter < 'a':
			answers = 1
		}
		for i := range answers {
			h.RTTSeconds[i] = new(0.001)
		}
		if answers > 0 {
			h.Addresses = append(h.Addresses, strings.ToLower(string(letter)))
		}
		hops = append(hops, h)
	}
	return hops
}

func TestRemarks(t *testing.T) {
	for _, c := range []struct {
		name, letters string
		want          []measure.RouteRemark
	}{
		{"all well", "abcd.", nil},
		{"none", "", nil},
		{"silent", "a-c-e.", []measure.RouteRemark{{Kind: "silent", TTLs: []int{2, 4}}}},
		{"nothing beyond", "ab", nil},
		{"a loop", "abcbcbc", []measure.RouteRemark{{Kind: "loop", TTLs: []int{2, 3}, Addresses: []string{"b", "c"}}}},
		{"a loop of three, one round of which was not heard whole", "abcdbc-bcdbcd", []measure.RouteRemark{{Kind: "loop", TTLs: []int{2, 3, 4}, Addresses: []string{"b", "c", "d"}}}},
		{"a loop that ends is none", "abcbcbcd.", nil},
		{"a loop that was left is none", "abcbcbcdefg", nil},
		{"two rounds may be a change of the route", "abcbc", nil},
		{"one address again and again is no loop", "abccccccc", []measure.RouteRemark{{Kind: "same-address", TTLs: []int{3, 4}, Addresses: []string{"c"}}}},
		{"few answers before all", "aBcd.", []measure.RouteRemark{{Kind: "few-answers", TTLs: []int{2}}}},
		{"many sent and few answered at the end", "abcD.", []measure.RouteRemark{{Kind: "loss", TTLs: []int{3, 4}, Count: 2}}},
		{"few answers, and few before", "aBcD.", []measure.RouteRemark{{Kind: "few-answers", TTLs: []int{2}}, {Kind: "loss", TTLs: []int{0, 4}, Count: 2}}},
	} {
		hops := routeOfLetters(c.letters)
		if c.name == "many sent and few answered at the end" { // 60 packets of the hops before came back
			for i := range 3 {
				for range 17 {
					hops[i].RTTSeconds = append(hops[i].RTTSeconds, new(0.001))
				}
			}
		}
		if diff := cmp.Diff(c.want, remarksOf(hops, "target", len(hops), true)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// Each kind has a sentence, and what an agent of another build may send breaks none.
func TestRemarkTexts(t *testing.T) {
	for _, kind := range []measure.RemarkKind{measure.RemarkSilent, measure.RemarkLoop, measure.RemarkZeroTTL, measure.RemarkSameAddress, measure.RemarkExplicitTunnel,
		measure.RemarkOpaqueTunnel, measure.RemarkImplicitTunnel, measure.RemarkLongReturn, measure.RemarkTranslated, measure.RemarkFewAnswers, measure.RemarkLoss,
		measure.RemarkSpread, measure.RemarkTargetAddress} {
		if remarkText(measure.RouteRemark{Kind: kind, TTLs: []int{1, 2}}) == "" || remarkText(measure.RouteRemark{Kind: kind}) != "" {
			t.Errorf("%s: no sentence, or one about no hop", kind)
		}
	}
	tunnel := measure.RouteRemark{Kind: measure.RemarkOpaqueTunnel, TTLs: []int{4}, Count: 1}
	if got, want := remarkText(tunnel), "an MPLS tunnel ends before hop 4, and hides 1 hop, by the TTL of its label"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for want, ttls := range map[string][]int{"hop 3": {3}, "hops 3 and 4": {3, 4}, "hops 3 to 5": {3, 4, 5}, "hops 3, 5 and 6": {3, 5, 6}} {
		if got := hopsText(ttls); got != want {
			t.Errorf("%v: %s, want %s", ttls, got, want)
		}
	}
	loop := &measure.RouteSample{Remarks: []measure.RouteRemark{{Kind: measure.RemarkLoop, TTLs: []int{2, 3}}}}
	if got := len(Straight(routeOfLetters("abcbcbc"), loop)); got != 4 {
		t.Errorf("%d hops of a loop are shown, want 4", got)
	}
}

func TestLeastShareLost(t *testing.T) {
	for _, c := range []struct {
		lost, sent int
		want       float64
	}{{1, 1, 0.05}, {1, 3, 0.01695}, {5, 10, 0.22244}, {10, 10, 0.74113}} { // of the beta distribution, to five digits
		if got := leastShareLost(c.lost, c.sent, 0.05); got < c.want-1e-4 || got > c.want+1e-4 {
			t.Errorf("%d of %d: %.5f, want %.5f", c.lost, c.sent, got, c.want)
		}
	}
}
