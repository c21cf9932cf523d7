package diagnose

import "github.com/pathwise-net/pathwise/measure"

// delayStep: round trips take longer from a time on, over a route that is the same as far as is known. Where the least one does so too,
// the way is longer below what traces show; where it does not, something waits in a queue.
var delayStep = Rule{
	ID:    "delay-step",
	Of:    OfEvent,
	Reads: []Name{LeastDelayBefore, LeastDelayAfter, UsualDelayBefore, UsualDelayAfter, HopsAfter, CreepTakes},
	Apart: map[string]Name{"path-change": HopsAfter, "delay-creep": CreepTakes},
	Look: func(s *Subject) *Claim {
		if before, after := s.delay(); after <= before || s.Known(HopsAfter) || s.Known(CreepTakes) {
			return nil
		}
		return delayClaim(s)
	},
}

// delayClaim is what is said of delays that rose.
func delayClaim(s *Subject) *Claim {
	before, after := s.delay()
	c := &Claim{Severity: measure.Warning, Where: OnPath, Confidence: s.event.sure(measure.RTTMin, measure.RTTMedian),
		Says: []string{"main", "path"}, Words: s.event.words(), Advice: []string{"look"}, Unpredicted: true,
		Evidence: []Name{LeastDelayBefore, LeastDelayAfter, UsualDelayBefore, UsualDelayAfter, CreepTakes}}
	c.Words["before"], c.Words["after"] = inText(before, "s"), inText(after, "s")
	if !s.Known(LeastDelayAfter) {
		c.Says = []string{"main", "queue"}
	}
	return c
}
