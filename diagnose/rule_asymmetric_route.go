package diagnose

import (
	"cmp"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// Hops that the route there has, and those that answers came back by; and what the far end finds that traces the way back.
const (
	HopsThere   Name = "hops_there"
	HopsBack    Name = "hops_back"
	WaysSame    Name = "ways_same"     // where addresses tell
	OneWayLinks Name = "one_way_links" // of the route of either way
)

// asymmetricRoute: what comes back takes another way than what goes there. Where it passes another number of routers, or takes another time, a Pathwise
// responder at the target is asked to trace the way back, which tells; else the number of routers alone does. Ways of equal length and time may differ,
// too, which nobody asks then.
var asymmetricRoute = Rule{
	ID:    "asymmetric-route",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{HopsThere, HopsBack, Steady},
	Reads: []Name{WaysSame, OneWayLinks},
	Brings: []definition{
		{Name: HopsThere, Metric: string(measure.HopCount), Unit: "hops",
			Means: "on the way there, each of which answered", From: ofTrace, Read: answeredHops},
		{Name: HopsBack, Metric: string(measure.ReverseHopCount), Unit: "hops",
			Means: "on the way back, by what was left of the time to live of answers",
			From:  ofPing, Read: func(_ *Subject, r *measure.Result) (float64, bool) { return r.Get(measure.ReverseHopCount) }},
		{Name: WaysSame, Metric: "same_route_count", Means: "the far end traced the way back, and the ways are the same", From: ofTrace,
			Step: tracedBack, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				back := r.Samples.Return
				if back == nil || back.Comparison.Verdict == measure.RoutesUnknown {
					return 0, false
				}
				return yes(back.Comparison.Verdict == measure.RoutesSame, r).Value, true
			}},
		{Name: OneWayLinks, Metric: string(measure.OneWayLinks), Unit: "links", Means: "that one way has and the other has not, as the far end traced it",
			From: ofTrace, Read: func(_ *Subject, r *measure.Result) (float64, bool) {
				links, told := r.Get(measure.OneWayLinks)
				return links, told && r.Samples.Return != nil && r.Samples.Route != nil
			}},
	},
	Suspect: func(s *Subject) bool {
		return s.Name == measure.Forward && s.Known(HopsThere) && s.Known(HopsBack) && (s.Value(HopsThere) != s.Value(HopsBack) || longerOneWay(s))
	},
	Look: func(s *Subject) *Claim {
		differ := s.Value(HopsThere) != s.Value(HopsBack)
		if s.Name != measure.Forward || s.Is(WaysSame) || !differ && s.Value(OneWayLinks) == 0 { // it is one thing of both ways, and told once
			return nil
		}
		c := &Claim{
			Severity: measure.Info, Where: OnPath, Confidence: 0.8, // a host may send with a time to live of its own
			Evidence: []Name{HopsThere, HopsBack, OneWayLinks, EmptyRoundTrip},
			Advice:   []string{"trace"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		if s.Value(OneWayLinks) == 0 || s.back == nil {
			return c
		}
		c.Confidence, c.Says, c.Advice = 0.95, []string{"traced"}, []string{"ask"}
		c.Words = map[string]string{"there": s.oneWay(false), "back": s.oneWay(true)}
		return c
	},
}

// tracedBack has the far end trace the way back.
func tracedBack(s *Subject) (Step, bool) {
	return Step{Name: "both-ways", Kind: "trace", Way: measure.Way(s.Name), Why: "which way the answers come back",
		Parameters: map[string]any{"both": true}, Seconds: 2 * traceTakes}, s.Responder
}

// oneWay are the addresses of the hops that packets come to by links which are on one way alone, in their order on that way, for people.
func (s *Subject) oneWay(back bool) string {
	hops, on := s.there, map[int]bool{}
	if back {
		hops = s.back.Hops
	}
	for _, link := range s.back.Comparison.Links {
		ttl := link.Forward
		if back {
			ttl = link.Return
		}
		on[ttl] = link.Mark == measure.LinkOther || on[ttl]
	}
	var names []string
	for _, h := range hops {
		if on[h.TTL] {
			names = append(names, cmp.Or(strings.Join(h.Addresses, "/"), "a silent hop"))
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none of its own")
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
