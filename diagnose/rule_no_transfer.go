package diagnose

import "github.com/pathwise-net/pathwise/measure"

// noTransfer says that nothing could be measured of how fast the path is, and what answered.
var noTransfer = Rule{
	ID:    "no-transfer",
	Of:    OfPath,
	Reads: []Name{Pings, Answers, EmptyRoundTrip},
	Look: func(s *Subject) *Claim {
		if s.failed == "" {
			return nil
		}
		c := &Claim{
			Severity: measure.Info, Where: AtTarget, Confidence: 0.9,
			Evidence: []Name{Pings, Answers, EmptyRoundTrip},
			Says:     []string{"main", "answers"}, Words: map[string]string{"why": sentence(s.failed)},
			Advice: []string{"respond"}, Unpredicted: true,
		}
		if s.Value(Answers) == 0 {
			c.Says, c.Confidence = []string{"main", "silent"}, 0.5
		}
		return c
	},
}
