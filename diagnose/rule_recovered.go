package diagnose

import (
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// recovered: something is better from a time on than it was before: less delay over the same route, less loss, more throughput.
var recovered = Rule{
	ID: "recovered",
	Of: OfEvent,
	Reads: []Name{LeastDelayBefore, LeastDelayAfter, UsualDelayBefore, UsualDelayAfter, LossBefore, LossAfter, RateBefore, RateAfter,
		HopsAfter},
	Look: func(s *Subject) *Claim {
		c := &Claim{Severity: measure.Info, Where: OnPath, Confidence: s.event.sure(measure.RTTMin, measure.RTTMedian, measure.LossRatio,
			measure.Throughput), Words: s.event.words(), Unpredicted: true}
		var better []string
		add := func(what, unit string, before, after Name) {
			better = append(better, what+" "+inText(s.Value(after), unit)+", before "+inText(s.Value(before), unit))
			c.Evidence = append(c.Evidence, before, after)
		}
		if before, after := s.delay(); after < before && !s.Known(HopsAfter) {
			if s.Known(LeastDelayAfter) {
				add("the least round trip "+c.Words["is"], "s", LeastDelayBefore, LeastDelayAfter)
			} else {
				add("a round trip "+c.Words["takes"], "s", UsualDelayBefore, UsualDelayAfter)
			}
		}
		if s.Value(LossAfter) < s.Value(LossBefore) {
			add("the share of lost packets "+c.Words["is"], "ratio", LossBefore, LossAfter)
		}
		if s.Value(RateAfter) > s.Value(RateBefore) {
			add("transfers "+c.Words["get"], "bit/s", RateBefore, RateAfter)
		}
		c.Words["better"] = strings.Join(better, "; ")
		if better == nil {
			return nil
		}
		return c
	},
}
