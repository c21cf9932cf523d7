package probe

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

func TestSweepPlanEnds(t *testing.T) {
	ran := func(point int, value float64) sweepRun { return sweepRun{point: point, value: value, seconds: 2} }
	lost := func(point int) sweepRun { return sweepRun{point: point, failure: "refused", seconds: 2} }
	for name, c := range map[string]struct {
		points int
		runs   []sweepRun
		budget float64
		ended  string
	}{
		"nothing was done":              {2, nil, 60, ""},
		"the first run is always made":  {2, nil, 1, ""},
		"two runs that agree":           {1, []sweepRun{ran(0, 10), ran(0, 10)}, 60, ""},
		"three that agree":              {1, []sweepRun{ran(0, 10), ran(0, 10), ran(0, 10.1)}, 60, measure.SweepNarrow},
		"three that differ":             {1, []sweepRun{ran(0, 10), ran(0, 10), ran(0, 13)}, 60, ""},
		"three of which one failed":     {1, []sweepRun{ran(0, 10), lost(0), ran(0, 10)}, 60, ""},
		"one of two points is narrow":   {2, []sweepRun{ran(0, 10), ran(1, 9), ran(0, 10), ran(1, 5), ran(0, 10), ran(1, 7)}, 60, ""},
		"no time for another":           {1, []sweepRun{ran(0, 10), ran(0, 20)}, 5, measure.SweepBudget},
		"just time for another":         {1, []sweepRun{ran(0, 10), ran(0, 20)}, 6, ""},
		"a point that fails is left":    {2, []sweepRun{lost(0), ran(1, 5), lost(0), ran(1, 5), ran(1, 5)}, 60, measure.SweepNarrow},
		"a point that failed once":      {2, []sweepRun{lost(0), ran(1, 5), ran(1, 5), ran(1, 5)}, 60, ""},
		"three of many failed":          {9, []sweepRun{lost(4), lost(3), lost(7)}, 60, measure.SweepFailed},
		"the only point failed":         {1, []sweepRun{lost(0), lost(0)}, 60, measure.SweepFailed},
		"nothing arrives, each time":    {1, []sweepRun{ran(0, 0), ran(0, 0), ran(0, 0)}, 60, measure.SweepNarrow},
		"nothing arrives, then it does": {1, []sweepRun{ran(0, 0), ran(0, 0), ran(0, 1)}, 60, ""},
	} {
		p := sweepPlan{points: c.points, within: 0.05, budget: c.budget, each: 2, seed: 1}
		if point, ended := p.next(c.runs); ended != c.ended || point < 0 || point >= c.points {
			t.Errorf("%s: point %d, %q, want %q", name, point, ended, c.ended)
		}
	}
}

// Whatever the seed, a sweep visits all points in each round, never one twice in a row while there are others, and gives what scatters
// more of its runs.
func TestSweepPlanOrder(t *testing.T) {
	first, scattered := map[int]bool{}, 0
	for seed := range int64(50) {
		const points = 5
		noise := rand.New(rand.NewPCG(uint64(seed), 9))
		p := sweepPlan{points: points, within: 0.05, budget: 1e6, each: 2, seed: seed}
		var runs []sweepRun
		counts := make([]int, points)
		for {
			point, ended := p.next(runs)
			if ended != "" {
				if ended != measure.SweepNarrow {
					t.Fatalf("seed %d: ended %q", seed, ended)
				}
				break
			}
			if len(runs) > 0 && len(runs) < points*sweepLeast && runs[len(runs)-1].point == point {
				t.Errorf("seed %d: point %d twice in a row", seed, point)
			}
			value := 100.
			if point == 2 { // it scatters by 10 %
				value += 10 * noise.NormFloat64()
			}
			runs = append(runs, sweepRun{point: point, value: value, seconds: 2})
			counts[point]++
			if n := len(runs); n%points == 0 && n <= points*sweepLeast && slices.Min(counts) != n/points {
				t.Errorf("seed %d: %v after %d runs", seed, counts, n)
			}
		}
		scattered += counts[2]
		if counts[0] != sweepLeast || counts[2] < sweepLeast {
			t.Errorf("seed %d: runs %v", seed, counts)
		}
		first[runs[0].point] = true
	}
	if scattered < 50*2*sweepLeast {
		t.Errorf("what scatters was measured %d times in 50 sweeps", scattered)
	}
	if len(first) != 5 {
		t.Errorf("sweeps begin with %v alone", first)
	}
}
