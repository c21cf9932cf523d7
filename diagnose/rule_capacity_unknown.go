package diagnose

import "github.com/pathwise-net/pathwise/measure"

// capacityUnknown says that no cause shows, and that slow cannot be told from small.
var capacityUnknown = Rule{
	ID:    "capacity-unknown",
	Of:    OfWay,
	Last:  true,
	Needs: []Name{Goodput, Steady},
	Reads: []Name{PayloadCapacity, Capacity, BehindGaps, ReceiveWindowShare},
	Look: func(s *Subject) *Claim {
		if s.Known(PayloadCapacity) {
			return nil
		}
		c := &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{Goodput},
			Says:     []string{"main"},
			Advice:   []string{"compare"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		if why := s.Fact(Capacity).Unknown; why != untold && why != "" {
			c.Says, c.Words = append(c.Says, "doubt"), map[string]string{"why": sentence(why)}
		}
		if s.Value(BehindGaps) > 0 {
			c.Evidence, c.Says = append(c.Evidence, BehindGaps), append(c.Says, "gaps")
		}
		if s.From == nil {
			c.Evidence, c.Says = append(c.Evidence, ReceiveWindowShare), append(c.Says, "one-end")
		}
		if !s.Responder {
			c.Advice = []string{"respond", "compare"}
		}
		return c
	},
}
