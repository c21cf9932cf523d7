package diagnose

import "github.com/pathwise-net/pathwise/measure"

// Hops that the route there has, and those that answers came back by.
const (
	HopsThere Name = "hops_there"
	HopsBack  Name = "hops_back"
)

// asymmetricRoute: what comes back passes another number of routers than what goes there, so that it takes another way. Ways of equal
// length may differ, too, which this does not see.
var asymmetricRoute = Rule{
	ID:    "asymmetric-route",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{HopsThere, HopsBack, Steady},
	Brings: []definition{
		{Name: HopsThere, Metric: string(measure.HopCount), Unit: "hops",
			Means: "on the way there, each of which answered", From: ofTrace, Read: answeredHops},
		{Name: HopsBack, Metric: string(measure.ReverseHopCount), Unit: "hops",
			Means: "on the way back, by what was left of the time to live of answers",
			From:  ofPing, Read: func(_ *Subject, r *measure.Result) (float64, bool) { return r.Get(measure.ReverseHopCount) }},
	},
	Look: func(s *Subject) *Claim {
		if s.Name != measure.Forward || s.Value(HopsThere) == s.Value(HopsBack) { // it is one thing of both ways, and told once
			return nil
		}
		return &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.8, // a host may send with a time to live of its own
			Evidence: []Name{HopsThere, HopsBack, EmptyRoundTrip},
			Advice:   []string{"trace"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
	},
}

// answeredHops is the length of a route of which every hop answered. Where one is silent the target may be nearer than it seems: hosts
// answer only so many probes a second.
func answeredHops(_ *Subject, r *measure.Result) (hops float64, told bool) {
	for _, h := range r.Samples.Hops {
		if len(h.Addresses) == 0 {
			return 0, false
		}
	}
	return r.Get(measure.HopCount)
}
