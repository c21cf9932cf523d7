package diagnose

import (
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// RefusingHop is the hop that says that it does not forward packets to the target.
const RefusingHop Name = "refusing_hop"

// routeRefused: a router on the way says that it has no route to the target, or may not forward to it. A hop that is merely silent says nothing.
var routeRefused = Rule{
	ID:    "route-refused",
	Of:    OfPath,
	Needs: []Name{RefusingHop},
	Reads: []Name{Pings, Answers},
	Apart: map[string]Name{"no-transfer": RefusingHop},
	Brings: []definition{{Name: RefusingHop, Metric: "hop", Unit: "hop", Means: "which says that it does not forward what goes to the target",
		From: ofTrace, Read: refusingHop}},
	Look: func(s *Subject) *Claim {
		// What answers shows that it refuses some packets alone, such as those of a trace; so does a port that is closed.
		if !s.Known(Answers) || s.Value(Answers) > 0 || s.route == nil || strings.Contains(s.failed, "connection refused") {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.9,
			Evidence: []Name{RefusingHop, Answers},
			Words:    map[string]string{"hop": s.hop(int(s.Value(RefusingHop))), "why": s.route.Why},
			Advice:   []string{"ask"}, Unpredicted: true,
		}
	},
}

// refusingHop reads the first hop that does not forward, where it said so itself.
func refusingHop(_ *Subject, r *measure.Result) (hop float64, told bool) {
	route := r.Samples.Route
	if route == nil || !route.Certain || route.Reached {
		return 0, false
	}
	return float64(route.NotForwarding), route.NotForwarding > 0
}
