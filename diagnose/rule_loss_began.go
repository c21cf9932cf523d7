package diagnose

import "github.com/pathwise-net/pathwise/measure"

// lossBegan: more packets are lost from a time on.
var lossBegan = Rule{
	ID:    "loss-began",
	Of:    OfEvent,
	Needs: []Name{LossBefore, LossAfter},
	Look: func(s *Subject) *Claim {
		if s.Value(LossAfter) <= s.Value(LossBefore) {
			return nil
		}
		return &Claim{Where: OnPath, Confidence: s.event.sure(measure.LossRatio), Words: s.event.words(),
			Evidence: []Name{LossBefore, LossAfter}, Advice: []string{"diagnose"}, Unpredicted: true}
	},
}
