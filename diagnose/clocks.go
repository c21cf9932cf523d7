package diagnose

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
)

// Facts about the wall clocks of both ends: the near one asks, the far one is asked.
const (
	NearKept   Name = "near_clock_kept" // something keeps it right, as its kernel says
	FarKept    Name = "far_clock_kept"
	NearStep   Name = "near_clock_step" // how far it was set during a test, the most of all tests
	FarStep    Name = "far_clock_step"
	ClocksMost Name = "clock_error" // the most that both together may be off, by their kernels' word; known where both are kept
	// ClockAhead is how far the far clock is ahead of the near one, with the least and the most that round trips allow. ClocksApart is how
	// far they are apart at the least, whichever is ahead.
	ClockAhead  Name = "clock_ahead"
	ClocksApart Name = "clocks_apart"
)

// clockDefinitions are of these facts.
var clockDefinitions = []definition{
	{Name: NearKept, Metric: "clock_synchronized_count", Means: "the kernel of {sender} says that something keeps its clock"},
	{Name: FarKept, Metric: "clock_synchronized_count", Means: "the kernel of {receiver} says that something keeps its clock"},
	{Name: NearStep, Metric: "clock_step_seconds", Unit: "s", Means: "by which the clock of {sender} was set during a test"},
	{Name: FarStep, Metric: "clock_step_seconds", Unit: "s", Means: "by which the clock of {receiver} was set during a test"},
	{Name: ClocksMost, Metric: "clock_error_seconds", Unit: "s", Means: "the most that both clocks together are off, as their kernels say"},
	{Name: ClockAhead, Metric: "clock_ahead_seconds", Unit: "s", Means: "by which the clock of {receiver} is ahead of that of {sender}"},
	{Name: ClocksApart, Metric: "clocks_apart_seconds", Unit: "s", Means: "by which the clocks are apart at the least, as round trips allow"},
}

// readClocks takes what a Result says of the clocks of both ends. Where clocks were set meanwhile, what two of them showed says nothing.
func readClocks(g *gathering, r *measure.Result) {
	if r.TargetClock == nil {
		return // of one end alone there is nothing to hold its clock against
	}
	if g.clocks == nil {
		g.clocks = &Subject{Kind: OfClocks}
	}
	s, near, far := g.clocks, &r.Clock, r.TargetClock
	s.Sender, s.Receiver = r.Source.NameOrAddress(), r.Target.NameOrAddress()
	s.set(NearKept, yes(near.Synchronized, r))
	s.set(FarKept, yes(far.Synchronized, r))
	setMost(s, NearStep, near.StepSeconds, r)
	setMost(s, FarStep, far.StepSeconds, r)
	if near.ErrorSeconds != nil && far.ErrorSeconds != nil {
		setMost(s, ClocksMost, *near.ErrorSeconds+*far.ErrorSeconds, r)
	}
	if a := far.AheadSeconds; a != nil && a[0] <= a[1] {
		f := Fact{Value: (a[0] + a[1]) / 2, Low: a[0], High: a[1], Result: r.ID}
		if now := s.Fact(ClockAhead); !s.Known(ClockAhead) || f.High-f.Low < now.High-now.Low { // the shortest round trip tells most
			s.set(ClockAhead, f)
		}
	}
}

// setMost notes a fact whose value that is furthest from 0 counts, if that is not 0.
func setMost(s *Subject, n Name, value float64, r *measure.Result) {
	if math.Abs(value) > math.Abs(s.Value(n)) {
		s.set(n, exactly(value, r))
	}
}

// deriveClocks adds how far the clocks are apart, and over which round trip; and to both ways how right they are, which says what a one-way
// delay is worth, and how far apart they seem, which is what ways that are not alike show where clocks are right.
func (g *gathering) deriveClocks() {
	if g.clocks == nil {
		return
	}
	if forward := g.ways[measure.Forward]; forward.Known(EmptyRoundTrip) {
		g.clocks.set(EmptyRoundTrip, forward.Fact(EmptyRoundTrip))
	}
	for _, way := range g.ways {
		way.set(ClocksMost, g.clocks.Fact(ClocksMost))
		if g.clocks.Known(ClockAhead) {
			way.set(ClockAhead, g.clocks.Fact(ClockAhead))
		}
	}
	if g.clocks.Known(ClockAhead) {
		ahead := g.clocks.Fact(ClockAhead)
		g.clocks.set(ClocksApart, Fact{Value: max(0, ahead.Low, -ahead.High), Low: max(0, ahead.Low, -ahead.High),
			High: max(-ahead.Low, ahead.High), Result: ahead.Result})
	}
}
