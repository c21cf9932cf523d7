package probe

import (
	"math/rand/v2"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// What a sweep wants of a point before it leaves it.
const (
	// sweepLeast is how many runs an interval is made of at least: two can agree by chance.
	sweepLeast = 3
	// sweepFailures is how many runs of a point may fail: one may have met a moment in which the far end was busy.
	sweepFailures = 2
	// sweepHopeless is how many runs may fail, whatever their points, while none has measured anything.
	sweepHopeless = 3
)

// sweepPlan decides what a sweep measures next. It goes in rounds: each measures, in an order drawn for it, every point that is not
// known narrowly yet. So what changes meanwhile on the path touches all points alike, and what a point leaves behind (full queues, what
// kernels remember) meets each time another one.
//
//	round 1  c a d b
//	round 2  b d a c      a is narrow
//	round 3  d b c
type sweepPlan struct {
	points int
	within float64 // how narrow a point has to be: half of its interval, over its mean
	budget float64 // seconds for all
	each   float64 // seconds that a run takes, before one was made
	seed   int64   // of the rounds' orders
}

// sweepRun is what came of one run.
type sweepRun struct {
	point   int
	value   float64
	failure string // "": it measured
	seconds float64
}

// next is the point to measure after those runs, or why the sweep is over: then ended is one of the words of measure.Sweep.
func (p sweepPlan) next(runs []sweepRun) (point int, ended string) {
	spent, longest, failed := 0., p.each, 0
	visits := make([]int, p.points)
	for i, r := range runs {
		spent += r.seconds
		if longest = max(longest, r.seconds); i == 0 {
			longest = r.seconds
		}
		visits[r.point]++
		if r.failure != "" {
			failed++
		}
	}
	if failed == len(runs) && failed >= sweepHopeless {
		return 0, measure.SweepFailed
	}
	open := p.open(runs)
	switch {
	case len(open) == 0 && failed == len(runs):
		return 0, measure.SweepFailed
	case len(open) == 0:
		return 0, measure.SweepNarrow
	case spent+longest > p.budget && len(runs) > 0:
		return 0, measure.SweepBudget
	}
	round := visits[open[0]]
	for _, i := range open {
		round = min(round, visits[i])
	}
	var left []int
	for _, i := range p.order(round) {
		if slices.Contains(open, i) && visits[i] == round {
			left = append(left, i)
		}
	}
	if len(runs) > 0 && len(left) > 1 && left[0] == runs[len(runs)-1].point { // the last of the round before
		return left[1], ""
	}
	return left[0], ""
}

// order is the order in which a round tests its points.
func (p sweepPlan) order(round int) []int {
	return rand.New(rand.NewPCG(uint64(p.seed), uint64(round))).Perm(p.points)
}

// open are the points that are to be measured again, in their order.
func (p sweepPlan) open(runs []sweepRun) (all []int) {
	for i := range p.points {
		values, failures := sweepOutcome(runs, i)
		if failures < sweepFailures && !(len(values) >= sweepLeast && isNarrow(values, p.within)) {
			all = append(all, i)
		}
	}
	return all
}

// sweepOutcome are the values that runs of a point brought, and how many failed.
func sweepOutcome(runs []sweepRun, point int) (values []float64, failures int) {
	for _, r := range runs {
		switch {
		case r.point != point:
		case r.failure != "":
			failures++
		default:
			values = append(values, r.value)
		}
	}
	return values, failures
}

// isNarrow says whether half the interval of a mean is at most that share of it.
func isNarrow(values []float64, within float64) bool {
	low, high := stat.MeanInterval(values)
	return (high-low)/2 <= within*(low+high)/2
}
