package analysis

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Hop is who answered at a distance, over all Results of a route.
type Hop struct {
	TTL       int      `json:"ttl"`
	Addresses []string `json:"addresses" doc:"None: nobody answered"`
}

// Route is a route that held for a time.
type Route struct {
	First   time.Time `json:"first" doc:"When it was seen first"`
	Last    time.Time `json:"last"`
	Results int       `json:"results" doc:"How often it was seen"`
	Result  string    `json:"result" doc:"ID of the first of them"`
	Hops    []Hop     `json:"hops"`
	Changed []int     `json:"changed" doc:"TTLs at which it differs from the one before of the same test, tool, role and family"`

	Newest string    `json:"-"` // ID of the last of its Results
	Whole  bool      `json:"-"` // one of its Results reached its end, so that there is nothing beyond the last hop
	Trips  []float64 `json:"-"` // round trips to its end, in seconds: of each Result that reached it, the median
}

// Routes makes routes of Results of traces of one test in order of time. A router that does not answer each time, and several that
// share the load at one distance, are no change: a hop is another one only if the routers that answered there had not answered in
// this route before. Nor is it one if nobody answers beyond some distance, or if the end seems further away for an answer that was
// lost. Results without an answer say nothing.
func Routes(traces []*measure.Result) []Route {
	routes := []Route{}
	for _, one := range nearEnds(single(traces)) {
		if n := len(routes); n > 0 {
			last := &routes[n-1]
			if one.Changed = Differing(last, &one); len(one.Changed) == 0 {
				last.merge(&one)
				continue
			}
		}
		routes = append(routes, one)
	}
	return routes
}

// single are the routes of single traces, without those that say nothing.
func single(traces []*measure.Result) (routes []Route) {
	for _, r := range traces {
		one := Route{First: r.Started, Last: r.Started, Results: 1, Result: r.ID, Newest: r.ID, Changed: []int{}}
		if one.Hops, one.Whole = hopsOf(r.Samples.Hops); len(one.Hops) == 0 {
			continue
		}
		if trip, reached := TripOf(r.Samples.Hops); reached {
			one.Trips = []float64{trip}
		}
		routes = append(routes, one)
	}
	return routes
}

// hopsOf are the hops up to the last that answered. whole: that is the end of the route. A router that says that it cannot reach the
// target is not.
func hopsOf(hops []measure.Hop) (list []Hop, whole bool) {
	answered := 0
	for _, h := range hops {
		addresses := []string{}
		for _, a := range h.Addresses {
			if a != "" && !slices.Contains(addresses, a) {
				addresses = append(addresses, a)
			}
		}
		if list = append(list, Hop{h.TTL, addresses}); len(addresses) > 0 {
			answered, whole = len(list), h.Reply != "" && !slices.Contains(unreached, h.Reply)
		}
	}
	return list[:answered], whole
}

// unreached are replies of routers that the target does not answer, as package sock writes them.
var unreached = []string{"network unreachable", "host unreachable"}

// Differing are the TTLs at which two routes have no router in common, or one of them goes on where the other is at its end.
func Differing(a, b *Route) (ttls []int) {
	for i := range max(len(a.Hops), len(b.Hops)) {
		switch {
		case i >= len(a.Hops):
			if a.Whole {
				ttls = append(ttls, b.Hops[i].TTL)
			}
		case i >= len(b.Hops):
			if b.Whole {
				ttls = append(ttls, a.Hops[i].TTL)
			}
		case !a.Hops[i].meets(b.Hops[i]):
			ttls = append(ttls, a.Hops[i].TTL)
		}
	}
	return ttls
}

// meets says whether two hops may be one: they have a router in common, or one of them is silent.
func (h Hop) meets(other Hop) bool {
	return len(h.Addresses) == 0 || len(other.Addresses) == 0 ||
		slices.ContainsFunc(other.Addresses, func(s string) bool { return slices.Contains(h.Addresses, s) })
}

// merge adds what a Result, or a later time of the same route, shows that differs in nothing.
func (r *Route) merge(one *Route) {
	r.Last, r.Newest, r.Results = one.Last, one.Newest, r.Results+one.Results
	r.Whole, r.Trips = r.Whole || one.Whole, append(r.Trips, one.Trips...)
	for i, h := range one.Hops {
		if i >= len(r.Hops) {
			r.Hops = append(r.Hops, h)
			continue
		}
		for _, a := range h.Addresses {
			if !slices.Contains(r.Hops[i].Addresses, a) {
				r.Hops[i].Addresses = append(r.Hops[i].Addresses, a)
			}
		}
	}
}

// At is the hop at a distance; without an address, where the route has none.
func (r *Route) At(ttl int) Hop {
	if i := slices.IndexFunc(r.Hops, func(h Hop) bool { return h.TTL == ttl }); i >= 0 {
		return r.Hops[i]
	}
	return Hop{}
}

// Links are the pairs of routers that follow each other, and of routers those that alone answer at their distance. Where several
// share a load, or nobody answers, it is not known which one a packet passes.
func (r *Route) Links() (links, routers []string) {
	before := ""
	for i, h := range r.Hops {
		if len(h.Addresses) != 1 {
			before = ""
			continue
		}
		if before != "" {
			links = append(links, before+LinkSeparator+h.Addresses[0])
		}
		before = h.Addresses[0]
		if i < len(r.Hops)-1 || !r.Whole { // the last is the target itself
			routers = append(routers, before)
		}
	}
	return links, routers
}

// TripOf is the median round trip to the end of the route of one trace, in seconds, if it was reached.
func TripOf(hops []measure.Hop) (trip float64, reached bool) {
	for _, h := range hops {
		if h.Reply == "" {
			continue
		}
		var trips []float64
		for _, v := range h.RTTSeconds {
			if v != nil {
				trips = append(trips, *v)
			}
		}
		if len(trips) > 0 {
			return lowerMedian(trips), true
		}
	}
	return 0, false
}

// Trip is the median of the round trips to the end of a route, in seconds; known: there are some.
func (r *Route) Trip() (seconds float64, known bool) {
	if len(r.Trips) == 0 {
		return 0, false
	}
	return lowerMedian(r.Trips), true
}

// lowerMedian is the median; of an even number of values the lower of the middle two, which is one that was measured.
func lowerMedian(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}
