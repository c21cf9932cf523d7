package hoploss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
)

// counted are hops that lost so many of so many packets, from TTL 1 on.
func counted(sent int, lost ...int) (all []Count) {
	for i, l := range lost {
		all = append(all, Count{i + 1, sent, l})
	}
	return all
}

func TestLocate(t *testing.T) {
	for name, c := range map[string]struct {
		counts  []Count
		reached bool
		want    measure.PathLoss // without its ratios
	}{
		"nothing sent":                       {nil, false, measure.PathLoss{}},
		"nobody answers":                     {counted(10, 10, 10), false, measure.PathLoss{}},
		"nothing is lost":                    {counted(100, 0, 0, 0), true, measure.PathLoss{End: 3, Reached: true}},
		"a router limits its answers":        {counted(100, 0, 60, 0, 0), true, measure.PathLoss{End: 4, Reached: true, Limiting: []int{2}}},
		"two do, the nearer one more":        {counted(100, 80, 30, 0), true, measure.PathLoss{End: 3, Reached: true, Limiting: []int{1, 2}}},
		"one packet of many":                 {counted(1000, 0, 0, 1), true, measure.PathLoss{End: 3, Reached: true}},
		"the path loses from hop 3 on":       {counted(300, 0, 1, 30, 33, 28), true, measure.PathLoss{End: 5, Reached: true, Lossy: true, After: 2, Hop: 3, By: 3}},
		"and a router limits its answers":    {counted(300, 0, 0, 200, 33, 28), true, measure.PathLoss{End: 5, Reached: true, Lossy: true, After: 2, Hop: 4, By: 4, Limiting: []int{3}}},
		"from the first hop on":              {counted(300, 30, 33, 28), true, measure.PathLoss{End: 3, Reached: true, Lossy: true, Hop: 1, By: 1}},
		"the target alone":                   {counted(300, 0, 0, 28), true, measure.PathLoss{End: 3, Reached: true, Lossy: true, After: 2, Hop: 3, By: 3}},
		"behind a silent hop":                {counted(300, 0, 300, 30, 28), true, measure.PathLoss{End: 4, Reached: true, Lossy: true, After: 1, Hop: 3, By: 3}},
		"little at hop 2, most from hop 4":   {counted(2000, 0, 20, 22, 400, 410), true, measure.PathLoss{End: 5, Reached: true, Lossy: true, After: 3, Hop: 4, By: 4}},
		"too few packets to say where":       {counted(20, 0, 0, 0, 2, 2), true, measure.PathLoss{End: 5, Reached: true, Lossy: true, By: 4}},
		"the target does not answer":         {counted(300, 0, 30, 28, 300), false, measure.PathLoss{End: 3, Lossy: true, After: 1, Hop: 2, By: 2}},
		"many packets":                       {counted(1000000, 100, 90000, 90100), true, measure.PathLoss{End: 3, Reached: true, Lossy: true, After: 1, Hop: 2, By: 2}},
		"a hop in between may or may not":    {counted(40, 0, 0, 9, 0, 10), true, measure.PathLoss{End: 5, Reached: true, Lossy: true, After: 4, Hop: 5, By: 5}},
		"a hop that was asked seldom so far": {[]Count{{1, 300, 0}, {2, 4, 0}, {3, 300, 40}}, true, measure.PathLoss{End: 3, Reached: true, Lossy: true, After: 1, By: 3}},
	} {
		got := Locate(c.counts, c.reached)
		if got.Lossy && (got.Confidence < 0.9 || got.LossRatio < got.Low || got.LossRatio > got.High) {
			t.Errorf("%s: confidence %v of a loss of %v, %v to %v", name, got.Confidence, got.LossRatio, got.Low, got.High)
		}
		got.LossRatio, got.Low, got.High, got.Confidence = 0, 0, 0, 0
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// On random paths with routers that limit their answers, loss is blamed on the hop that has it, and hardly ever on another: neither where
// the path loses nor where it does not. (What cannot be told: a router just before the link that loses, and which answers as seldom as the end.
// Those that limit here leave out half of their answers at least.)
func TestInnocentHopsAreNotBlamed(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 4))
	type outcome struct{ blamed, right int }
	const paths = 200
	for _, rounds := range []int{50, 200, 1000} {
		for _, loss := range []float64{0, 0.01, 0.05, 0.2} {
			var o outcome
			for range paths {
				hops, at := 3+random.IntN(15), 0
				at = 1 + random.IntN(hops)
				counts, next := make([]Count, hops), 0 // the first hop from at on that does not limit its answers
				for i := range counts {
					limit := 0.0
					if i < hops-1 && random.Float64() < 0.2 {
						limit = 0.5 + random.Float64()/2
					} else if i+1 >= at && next == 0 {
						next = i + 1
					}
					counts[i] = Count{TTL: i + 1, Sent: rounds}
					for range rounds {
						if i+1 >= at && random.Float64() < loss || random.Float64() < limit {
							counts[i].Lost++
						}
					}
				}
				v := Locate(counts, true)
				if v.Hop > 0 {
					o.blamed++
					if loss > 0 && at <= v.Hop && v.Hop <= next {
						o.right++
					}
				}
			}
			wrong := float64(o.blamed-o.right) / paths
			t.Logf("%4d rounds, %4.0f %%: %3.0f %% blamed, %.1f %% of paths on a wrong hop", rounds, 100*loss, 100*float64(o.blamed)/paths, 100*wrong)
			if wrong > 0.02 {
				t.Errorf("%d rounds, loss %v: %.3f of the paths are blamed on a wrong hop", rounds, loss, wrong)
			}
			if enough := float64(rounds)*loss >= 40; enough && float64(o.right)/paths < 0.9 {
				t.Errorf("%d rounds, loss %v: %d of %d found", rounds, loss, o.right, paths)
			}
		}
	}
}

func ExampleLocate() {
	v := Locate([]Count{{1, 300, 0}, {2, 300, 190}, {3, 300, 31}, {4, 300, 29}}, true)
	fmt.Printf("loss of %.1f %% from hop %d on; hops %v answer seldom\n", 100*v.LossRatio, v.Hop, v.Limiting)
	// Output: loss of 9.7 % from hop 3 on; hops [2] answer seldom
}

// Of several ways it is told where each loses, and of all together only where they lose alike.
func TestLocateWays(t *testing.T) {
	way := func(lost ...int) (counts []Count) {
		for i, n := range lost {
			counts = append(counts, Count{TTL: i + 1, Sent: 100, Lost: n})
		}
		return counts
	}
	for _, c := range []struct {
		name    string
		ways    [][]Count
		apart   bool
		whole   int // the hop to blame of all together
		each    []int
		percent float64
	}{
		{name: "none loses", ways: [][]Count{way(0, 0, 0), way(0, 0, 0)}, each: []int{0, 0}},
		{name: "one loses", ways: [][]Count{way(0, 40, 42), way(0, 0, 0), way(0, 0, 0), way(0, 0, 0)}, apart: true, each: []int{2, 0, 0, 0}, percent: 10.5},
		{name: "both lose behind hop 2", ways: [][]Count{way(0, 0, 20), way(0, 0, 24)}, whole: 3, each: []int{3, 3}, percent: 22},
		{name: "from other hops on", ways: [][]Count{way(0, 40, 40, 40), way(0, 0, 40, 40)}, apart: true, each: []int{2, 3}, percent: 40},
		{name: "a little, which all of them together show", ways: [][]Count{way(0, 0, 4), way(0, 0, 4), way(0, 0, 4)}, whole: 3, each: []int{0, 0, 0}, percent: 4},
		{name: "of several lengths", ways: [][]Count{way(0, 0, 20), way(0, 0, 0, 20)}, each: []int{3, 4}, apart: true, percent: 20},
	} {
		reached := make([]bool, len(c.ways))
		for i := range reached {
			reached[i] = true
		}
		whole, each, apart := LocateWays(c.ways, reached)
		var hops []int
		for _, e := range each {
			hops = append(hops, e.Hop)
		}
		if apart != c.apart || whole.Hop != c.whole || !slices.Equal(hops, c.each) || math.Abs(100*whole.LossRatio-c.percent) > 0.01 || whole.Lossy != (c.percent > 0) {
			t.Errorf("%s: apart %v, hop %d of %v, %.1f %%: %+v", c.name, apart, whole.Hop, hops, 100*whole.LossRatio, whole)
		}
	}
}

// Of as many ways as there are, all of which lose as much from one hop on, hardly any are called apart; one that loses much more among them is.
func TestWaysAlikeAreNotApart(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 5))
	const trials, sent, hops, from = 50, 200, 5, 3
	for _, n := range []int{2, 16, 64} {
		apart, found := 0, 0
		for range trials {
			ways, reached := make([][]Count, n), slices.Repeat([]bool{true}, n)
			for i := range ways {
				for ttl := 1; ttl <= hops; ttl++ {
					c := Count{TTL: ttl, Sent: sent}
					for range sent {
						if ttl >= from && random.Float64() < 0.1 {
							c.Lost++
						}
					}
					ways[i] = append(ways[i], c)
				}
			}
			if _, _, is := LocateWays(ways, reached); is {
				apart++
			}
			ways[0] = counted(sent, 0, 0, 80, 80, 80)
			if _, _, is := LocateWays(ways, reached); is {
				found++
			}
		}
		t.Logf("%d ways: %d of %d apart by chance, %d of them with one that loses more", n, apart, trials, found)
		if apart > 2 || found < trials-2 {
			t.Errorf("%d ways: %d of %d apart by chance, %d of them with one that loses more", n, apart, trials, found)
		}
	}
}
