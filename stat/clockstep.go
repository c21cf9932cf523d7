package stat

import (
	"math"
	"slices"
)

// ClockStep is that the far clock was set in relation to the near one.
type ClockStep struct {
	At float64 // by the near clock, of the first exchange that shows it
	By float64 // forward above 0, in seconds
}

const (
	// stepWindow is of how many exchanges the least delays are held against those of as many before: the more, the surer one is without a queue.
	stepWindow = 5
	// leastClockStep, in seconds, is the least step that is told.
	leastClockStep = 0.001
	// driftMost is more than an undisturbed clock runs wrong, and the rate at which the kernel slews one (500 ppm) on top: what a step is not.
	driftMost = 0.001
)

// ClockSteps finds where a clock was set between exchanges, in the order of sending. A step makes one way longer and the other shorter by as
// much, while round trips stay as they are; queues make ways longer each for itself. So what is opposite on both ways, and more than round trips
// vary, is a step; and what would have a packet arrive before it was sent is one for certain.
func ClockSteps(exchanges []Exchange) (steps []ClockStep) {
	n := len(exchanges)
	window := min(stepWindow, n/2)
	if window == 0 {
		return nil
	}
	noise := math.Inf(1)
	if n >= 2*stepWindow {
		noise = tripNoise(exchanges)
	}
	for k := window; k+window <= n; k++ {
		by, is := stepBetween(exchanges[k-window:k], exchanges[k:k+window], noise)
		if !is {
			continue
		}
		at := k
		for next := k + 1; next < k+window && next+window <= n; next++ { // where it is clearest
			if more, is := stepBetween(exchanges[next-window:next], exchanges[next:next+window], noise); is && math.Abs(more) > math.Abs(by) {
				at, by = next, more
			}
		}
		steps = append(steps, ClockStep{At: exchanges[at].Sent, By: by})
		k = at + window - 1
	}
	return steps
}

// tripNoise is by how much round trips usually exceed the shortest.
func tripNoise(exchanges []Exchange) float64 {
	trips := make([]float64, len(exchanges))
	for i, e := range exchanges {
		trips[i] = e.forward() + e.reverse()
	}
	slices.Sort(trips)
	return Quantile(trips, 0.75) - trips[0]
}

// stepBetween is by how much a clock was set between two groups of exchanges.
func stepBetween(before, after []Exchange, noise float64) (by float64, is bool) {
	f1, r1 := leastDelays(before)
	f2, r2 := leastDelays(after)
	if f1+r1 < 0 || f2+r2 < 0 { // within a group: another cut shows it better
		return 0, false
	}
	drift := driftMost * (after[len(after)-1].Received - before[0].Sent)
	by = ((f2 - f1) - (r2 - r1)) / 2
	certain := -r2 > f1+drift || f2 < -r1-drift
	opposite := math.Abs((f2-f1)+(r2-r1)) <= math.Abs(by)/4
	return by, certain && math.Abs(by) > leastClockStep || opposite && math.Abs(by) > 2*noise+drift+leastClockStep
}

// leastDelays are the least raw delays of exchanges, forward and reverse.
func leastDelays(exchanges []Exchange) (forward, reverse float64) {
	forward, reverse = math.Inf(1), math.Inf(1)
	for _, e := range exchanges {
		forward, reverse = min(forward, e.forward()), min(reverse, e.reverse())
	}
	return forward, reverse
}

// Clocks are what a run's exchanges tell of both clocks.
type Clocks struct {
	Steps []ClockStep
	Fit   *ClockFit // of the exchanges after the last step; nil: there are none, or the clocks do not run straight beside each other
	// Low and High are the least and the most that the far clock can have been ahead of the near one, in seconds, whenever a packet was stamped.
	Low, High float64
}

// CompareClocks tells what exchanges, in the order of sending, tell of both clocks; ok is false where there are none.
func CompareClocks(exchanges []Exchange) (c Clocks, ok bool) {
	if len(exchanges) == 0 {
		return Clocks{}, false
	}
	c = Clocks{Steps: ClockSteps(exchanges), Low: math.Inf(1), High: math.Inf(-1)}
	rest := exchanges
	for i := 0; i <= len(c.Steps); i++ {
		part := rest
		if i < len(c.Steps) {
			end := slices.IndexFunc(rest, func(e Exchange) bool { return e.Sent >= c.Steps[i].At })
			part, rest = rest[:end], rest[end:]
		}
		c.take(part)
	}
	return c, true
}

// take takes in exchanges between which no clock was set.
func (c *Clocks) take(part []Exchange) {
	c.Fit = nil
	if fit, straight := FitClocks(part); straight {
		c.Fit = &fit
		c.Low, c.High = min(c.Low, fit.Low), max(c.High, fit.High)
		return
	}
	for _, e := range part { // whatever the clocks did, no packet arrived before it was sent
		c.Low, c.High = min(c.Low, -e.reverse()), max(c.High, e.forward())
	}
}

// Error returns the most that a one-way delay of the run is wrong by for the clocks. claim is the most that both clocks together are off by
// their kernels' word; NaN: they say nothing. The tighter of both counts; where they contradict each other, what the packets allow does.
func (c Clocks) Error(claim float64) (most float64, contradicted bool) {
	proven := max(math.Abs(c.Low), math.Abs(c.High))
	switch {
	case math.IsNaN(claim):
		return proven, false
	case c.Low > claim || c.High < -claim:
		return proven, true
	}
	return min(claim, proven), false
}
