package diagnose

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// pathChange: traffic takes another route than before, and stays there. A longer one costs throughput where a window is the limit: in
// proportion to the round trips.
var pathChange = Rule{
	ID:    "path-change",
	Of:    OfEvent,
	Needs: []Name{HopsBefore, HopsAfter},
	Reads: []Name{LeastDelayBefore, LeastDelayAfter, UsualDelayBefore, UsualDelayAfter, RateBefore, RateAfter},
	Apart: map[string]Name{"delay-step": HopsAfter},
	Look: func(s *Subject) *Claim {
		c := &Claim{Severity: measure.Info, Where: OnPath, Confidence: 0.95, Says: []string{"main", "same"}, Words: s.event.words(),
			Evidence: []Name{HopsBefore, HopsAfter, LeastDelayBefore, LeastDelayAfter, UsualDelayBefore, UsualDelayAfter, RateBefore, RateAfter},
			Advice:   []string{"ask"}, Unpredicted: true}
		before, after := s.delay()
		switch {
		case before == 0:
		case after > before:
			c.Severity, c.Says = measure.Warning, []string{"main", "longer"}
		default:
			c.Says = []string{"main", "shorter"}
		}
		if before > 0 {
			c.Words["before"], c.Words["after"] = inText(before, "s"), inText(after, "s")
		}
		was, is := s.Value(RateBefore), s.Value(RateAfter)
		if was > 0 && is > 0 && is < was && before > 0 && near(is/was, before/after) {
			c.Says = append(c.Says, "window")
			c.Returns = &measure.Predicted{BitsPerSecond: was,
				Basis: fmt.Sprintf("what it carried over the route before, of %s, with the same window", quantity.FormatSeconds(before))}
		}
		return c
	},
}

// near is whether two ratios are one, as far as usual rates of a path are: to a fifth.
func near(a, b float64) bool { return a < 1.2*b && b < 1.2*a }

// delay is the delay before and after an event, the least where it is known to have changed, else the usual; 0: it did not change.
func (s *Subject) delay() (before, after float64) {
	if s.Known(LeastDelayAfter) {
		return s.Value(LeastDelayBefore), s.Value(LeastDelayAfter)
	}
	return s.Value(UsualDelayBefore), s.Value(UsualDelayAfter)
}
