package analysis

import (
	"math/rand/v2"
	"slices"

	"github.com/pathwise-net/pathwise/stat"
)

// nearTrips is how many traces on each side of a change its delays are of: enough for an interval, and near enough to be of the change.
const nearTrips = 50

// moveOf is the change from one stretch to the next, with what became of the round trip.
func moveOf(before, after *stretch) Move {
	m := Move{Before: before.route, After: after.route, Confidence: confidence(before, after)}
	m.After.Changed = Differing(&m.Before, &m.After)
	was, is := m.Before.Trips, m.After.Trips
	was, is = was[max(0, len(was)-nearTrips):], is[:min(len(is), nearTrips)]
	if len(was) > 0 {
		level := Level(was)
		m.DelayBefore = &level
	}
	if len(is) > 0 {
		level := Level(is)
		m.DelayAfter = &level
	}
	if len(was) > 0 && len(is) > 0 {
		step := stepOf(was, is)
		m.Step = &step
	}
	return m
}

// stepOf is by how much the median grew, with its 95 % interval, by resampling both.
func stepOf(before, after []float64) Estimate {
	random := rand.New(rand.NewPCG(1, uint64(len(before)+len(after)))) // the same each time
	one, two := resample(before, random), resample(after, random)
	for i := range two {
		two[i] -= one[i]
	}
	slices.Sort(two)
	step := median(after) - median(before)
	return Estimate{step, min(step, stat.Quantile(two, 0.025)), max(step, stat.Quantile(two, 0.975)), len(before) + len(after)}
}

const (
	// leastStep and leastStepShare are how much of a step, in seconds and of the delay, another router between two that are the same shows
	// itself by: less is as likely a queue, or the time of day.
	leastStep      = 0.5e-3
	leastStepShare = 0.05
)

// steps says whether the delay changed with the route.
func (m *Move) steps() bool {
	if m.Step == nil {
		return false
	}
	least := max(leastStep, leastStepShare*m.DelayBefore.Value)
	return (m.Step.Low > 0 || m.Step.High < 0) && (m.Step.Value >= least || m.Step.Value <= -least)
}
