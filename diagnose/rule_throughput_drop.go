package diagnose

import "github.com/pathwise-net/pathwise/measure"

// throughputDrop: transfers are slower from a time on. Where something else changed at that time, that is likely why.
var throughputDrop = Rule{
	ID:    "throughput-drop",
	Of:    OfEvent,
	Needs: []Name{RateBefore, RateAfter},
	Reads: []Name{HopsAfter, LossAfter, LeastDelayAfter, UsualDelayAfter},
	Look: func(s *Subject) *Claim {
		if s.Value(RateAfter) >= s.Value(RateBefore) {
			return nil
		}
		severity := measure.Problem
		if s.Known(HopsAfter) || s.Known(LossAfter) || s.Known(LeastDelayAfter) || s.Known(UsualDelayAfter) {
			severity = measure.Warning
		}
		return &Claim{Severity: severity, Where: OnPath, Confidence: s.event.sure(measure.Throughput), Words: s.event.words(),
			Evidence: []Name{RateBefore, RateAfter}, Advice: []string{"diagnose"}, Unpredicted: true}
	},
}
