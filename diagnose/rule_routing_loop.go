package diagnose

import "github.com/pathwise-net/pathwise/measure"

// Of a loop in the route there.
const (
	LoopHops Name = "loop_hops"
	LoopFrom Name = "loop_from"
)

// routingLoop: routers send packets to each other in a circle until their time to live runs out, so that none arrives.
var routingLoop = Rule{
	ID:    "routing-loop",
	Of:    OfPath,
	Needs: []Name{LoopHops, LoopFrom},
	Reads: []Name{Pings, Answers},
	Apart: map[string]Name{"no-transfer": LoopHops, "route-refused": LoopHops},
	Brings: []definition{
		{Name: LoopHops, Metric: string(measure.HopCount), Unit: "hops", Means: "that packets pass again and again", From: ofTrace,
			Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				hops := loop(r)
				return float64(len(hops)), len(hops) > 0
			}},
		{Name: LoopFrom, Metric: "hop", Unit: "hop", Means: "the first of them", From: ofTrace,
			Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				hops := loop(r)
				if len(hops) == 0 {
					return 0, false
				}
				return float64(hops[0]), true
			}},
	},
	Look: func(s *Subject) *Claim {
		if !s.Known(Answers) || s.Value(Answers) > 0 { // the loop came and went, or is of some flows alone
			return nil
		}
		from, hops := int(s.Value(LoopFrom)), int(s.Value(LoopHops))
		return &Claim{
			Where: OnPath, Confidence: 0.95,
			Evidence: []Name{LoopHops, LoopFrom, Answers},
			Words:    map[string]string{"first": s.hop(from), "last": s.hop(from + hops - 1)},
			Advice:   []string{"ask"}, Unpredicted: true,
		}
	},
}
