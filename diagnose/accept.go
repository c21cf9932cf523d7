package diagnose

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Acceptance says whether a path held a rate, as whoever orders a line asks when it is handed over.
type Acceptance struct {
	RateBitsPerSecond float64 `json:"rate_bits_per_second"` // of TCP payload
	DurationSeconds   float64 `json:"duration_seconds"`
	Outcome           Outcome `json:"outcome"` // the worst of the checks
	Checks            []Check `json:"checks"`
}

const (
	// held is the share of the rate that must arrive over the whole time: one hundredth is the start of the connection in a test of
	// some ten seconds, and what clocks and intervals differ by.
	held = 0.99
	// heldEach is the share of it that must arrive in each second after the first: a program that was held up catches up in the next.
	heldEach = 0.9
)

// AcceptanceSteps are a transfer each way, at a rate of payload in bit/s and for so many seconds.
func AcceptanceSteps(rate, seconds float64, directions ...string) (steps []Step) {
	for _, d := range directions {
		steps = append(steps, step("accept", "throughput", d, "whether the rate is held", seconds+setUpTakes,
			map[string]any{"rate": float64(int64(rate)), "duration": seconds, "length": surveyWrite}))
	}
	return steps
}

// JudgeAcceptance says whether a rate was held, by the Results of AcceptanceSteps. A way without a Result cannot be told.
func JudgeAcceptance(rate, seconds float64, results []*measure.Result, directions ...string) *Acceptance {
	a := &Acceptance{RateBitsPerSecond: rate, DurationSeconds: seconds, Checks: []Check{}}
	for _, d := range directions {
		whole := Check{Name: "rate", Way: measure.Way(d), Outcome: Untold, Needed: held * rate, Unit: "bit/s", Means: "what arrived over the whole time",
			Advice: []measure.Advice{}}
		each := Check{Name: "lowest second", Way: measure.Way(d), Outcome: Untold, Needed: heldEach * rate, Unit: "bit/s",
			Means: "the least that arrived in one second after the first", Advice: []measure.Advice{}}
		for _, r := range results {
			if measure.WayOf(r.Kind, r.Parameters) != measure.Way(d) {
				continue
			}
			if v, known := r.Get(measure.Throughput); known {
				whole.judge(v)
			}
			if v, at, known := lowest(r, d); known {
				each.Means += fmt.Sprintf("; it ended after %s", quantity.FormatSeconds(at))
				each.judge(v)
			}
		}
		a.Checks = append(a.Checks, whole, each)
	}
	a.Outcome = worst(a.Checks)
	return a
}

// judge holds a value against what is needed.
func (c *Check) judge(v float64) {
	c.Value, c.Outcome = v, Fails
	if v >= c.Needed {
		c.Outcome = Passes
	}
}

// lowest is the least rate of a whole interval after the first, by the receiver's count where there is one, and when it ended.
func lowest(r *measure.Result, direction string) (rate, at float64, known bool) {
	of := func(end string) func(measure.Interval) bool {
		return func(i measure.Interval) bool { return i.Stream == 0 && i.Direction == direction && i.End == end }
	}
	end := measure.Receiver
	if !slices.ContainsFunc(r.Samples.Intervals, of(end)) {
		end = measure.Sender
	}
	for _, i := range r.Samples.Intervals {
		whole := i.EndSeconds-i.StartSeconds > 0.9 // the last one may be a remainder
		if of(end)(i) && i.StartSeconds > 0.5 && whole && (!known || i.BitsPerSecond < rate) {
			rate, at, known = i.BitsPerSecond, i.EndSeconds, true
		}
	}
	return rate, at, known
}
