package diagnose

import "github.com/pathwise-net/pathwise/measure"

// pathFull says that nothing is wrong: the narrowest link is used.
var pathFull = Rule{
	ID:    "path-full",
	Of:    OfWay,
	In:    []State{Full},
	Needs: []Name{Steady},
	Reads: []Name{PayloadCapacity, LoadedRoundTrip, EmptyRoundTrip},
	Look: func(s *Subject) *Claim {
		c := &Claim{Severity: measure.Info, Where: OnPath, Confidence: 0.9, Unpredicted: true,
			Evidence: []Name{Steady, Capacity, PayloadCapacity, LoadedRoundTrip}, Allows: s.Value(PayloadCapacity)}
		if !s.Known(PayloadCapacity) { // a queue stands, so what goes through is what the narrowest link lets through
			c.Says, c.Confidence, c.Allows = []string{"queue"}, 0.6, s.Value(Steady)
		}
		return c
	},
}
