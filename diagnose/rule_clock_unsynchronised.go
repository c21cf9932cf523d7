package diagnose

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// clockUnsynchronised: what the clocks of both ends show cannot be held against each other. No transfer is slower for it, so that it is a
// remark: delays of one way, logs and captures of both ends, and when something began are wrong by as much.
//
// A clock that nothing keeps, and that agrees with the other one, is not told of: host-settings names it where the host is looked at.
var clockUnsynchronised = Rule{
	ID:     "clock-unsynchronised",
	Of:     OfClocks,
	Needs:  []Name{NearKept, FarKept},
	Reads:  []Name{NearStep, FarStep, ClocksApart, ClockAhead, ClocksMost, EmptyRoundTrip},
	Brings: clockDefinitions,
	Look: func(s *Subject) *Claim {
		near, far := s.Is(NearKept), s.Is(FarKept)
		apart, trip := s.Value(ClocksApart), s.Value(EmptyRoundTrip)
		c := &Claim{
			Severity: measure.Info, Where: AtEnds, Confidence: 0.9, Unpredicted: true,
			Evidence: []Name{NearStep, FarStep, ClocksApart, ClocksMost, EmptyRoundTrip},
			Advice:   []string{"near", "far"},
			Words:    map[string]string{"unkept": s.Sender, "kept": s.Receiver},
		}
		if near && !far {
			c.Words["unkept"], c.Words["kept"] = s.Receiver, s.Sender
		}
		if s.Known(NearStep) {
			c.Says = append(c.Says, "near-step")
		}
		if s.Known(FarStep) {
			c.Says = append(c.Says, "far-step")
		}
		switch most := s.Value(ClocksMost); {
		case near && far && s.Known(ClocksMost) && apart > most+sock.LeastStep.Seconds():
			c.Says = append(c.Says, "contradict")
		case apart > math.Max(trip/2, clocksKept):
			c.Says = append(c.Says, "main")
		}
		if near != far {
			c.Says = append(c.Says, "unkept")
		}
		if c.Says == nil {
			return nil
		}
		return c
	},
}

// clocksKept is how far apart clocks may be, in seconds, where daemons keep them over the Internet: some milliseconds.
const clocksKept = 0.01
