package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// hopDoc is who answered at a distance, over all Results of a route.
type hopDoc struct {
	TTL       int      `json:"ttl"`
	Addresses []string `json:"addresses" doc:"None: nobody answered"`
}

// routeDoc is a route that held for a time, as one test found it.
type routeDoc struct {
	Test    string    `json:"test,omitempty" doc:"Which traced it; none: a test on demand"`
	Tool    string    `json:"tool"`
	Role    string    `json:"role" doc:"Why it was traced"`
	Family  string    `json:"family" enum:"ipv4,ipv6" doc:"Of IP"`
	First   time.Time `json:"first" doc:"When it was seen first"`
	Last    time.Time `json:"last"`
	Results int       `json:"results" doc:"How often it was seen"`
	Result  string    `json:"result" doc:"ID of the first of them"`
	Hops    []hopDoc  `json:"hops"`
	Changed []int     `json:"changed" doc:"TTLs at which it differs from the one before of the same test, tool, role and family"`

	whole bool      // one of its Results reached its end, so that there is nothing beyond the last hop
	trips []float64 // round trips to its end, in seconds: of each Result that reached it, the median
}

type routesDoc struct {
	Routes []routeDoc `json:"routes" doc:"Oldest first"`
	More   bool       `json:"more" doc:"Whether there may be more before these, of Results that were not looked at: ask for a span that ends there"`
}

type routesInput struct {
	Source string `path:"source"`
	Target string `path:"target"`
	Span
}

func (s *Server) routes(ctx context.Context, in *routesInput) (*body[routesDoc], error) {
	now := time.Now()
	all, more, err := s.traces(ctx, in.Source, in.Target, in.From.At(now), in.To.At(now))
	if err != nil {
		return nil, fault(err)
	}
	routes := []routeDoc{}
	for of, traces := range all {
		for _, r := range joinRoutes(traces) {
			r.Test, r.Tool, r.Role, r.Family = of.test, of.tool, string(of.role), of.family
			routes = append(routes, r)
		}
	}
	slices.SortFunc(routes, func(a, b routeDoc) int { return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Result, b.Result)) })
	return &body[routesDoc]{routesDoc{routes, more}}, nil
}

// joinRoutes makes routes of Results in order of time. A router that does not answer each time, and several that share the
// load at one distance, are no change: a hop is another one only if the routers that answered there had not answered in this
// route before. Nor is it one if nobody answers beyond some distance. Results without an answer say nothing.
func joinRoutes(traces []*measure.Result) []routeDoc {
	routes := []routeDoc{}
	for _, r := range traces {
		one := routeDoc{First: r.Started, Last: r.Started, Results: 1, Result: r.ID, Changed: []int{}}
		if one.Hops, one.whole = hopsOf(r.Samples.Hops); len(one.Hops) == 0 {
			continue
		}
		if trip, reached := tripOf(r.Samples.Hops); reached {
			one.trips = []float64{trip}
		}
		if n := len(routes); n > 0 {
			last := &routes[n-1]
			if one.Changed = differing(last, &one); len(one.Changed) == 0 {
				last.merge(&one)
				continue
			}
		}
		routes = append(routes, one)
	}
	return routes
}

// hopsOf are the hops up to the last that answered. whole: that is the end of the route.
func hopsOf(hops []measure.Hop) (list []hopDoc, whole bool) {
	answered := 0
	for _, h := range hops {
		addresses := []string{}
		for _, a := range h.Addresses {
			if a != "" && !slices.Contains(addresses, a) {
				addresses = append(addresses, a)
			}
		}
		if list = append(list, hopDoc{h.TTL, addresses}); len(addresses) > 0 {
			answered, whole = len(list), h.Reply != ""
		}
	}
	return list[:answered], whole
}

// differing are the TTLs at which two routes have no router in common, or one of them goes on where the other is at its end.
func differing(a, b *routeDoc) (ttls []int) {
	for i := range max(len(a.Hops), len(b.Hops)) {
		switch {
		case i >= len(a.Hops):
			if a.whole {
				ttls = append(ttls, b.Hops[i].TTL)
			}
		case i >= len(b.Hops):
			if b.whole {
				ttls = append(ttls, a.Hops[i].TTL)
			}
		case !a.Hops[i].meets(b.Hops[i]):
			ttls = append(ttls, a.Hops[i].TTL)
		}
	}
	return ttls
}

// meets says whether two hops may be one: they have a router in common, or one of them is silent.
func (h hopDoc) meets(other hopDoc) bool {
	return len(h.Addresses) == 0 || len(other.Addresses) == 0 ||
		slices.ContainsFunc(other.Addresses, func(s string) bool { return slices.Contains(h.Addresses, s) })
}

// merge adds what a Result shows that differs in nothing.
func (r *routeDoc) merge(one *routeDoc) {
	r.Last, r.Results, r.whole, r.trips = one.Last, r.Results+1, r.whole || one.whole, append(r.trips, one.trips...)
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

// foundChanges are changes of routes. more: there may be others before.
type foundChanges struct {
	changes []changeDoc
	more    bool
}

// changesOfRoutes reads which routes changed between two hosts. Those of all pairs are looked up once for all who ask the same at
// about the same time.
func (s *Server) changesOfRoutes(ctx context.Context, source, target string, from, to time.Time) (foundChanges, error) {
	find := func(ctx context.Context) (found foundChanges, err error) {
		all, more, err := s.traces(ctx, source, target, from, to)
		if err != nil {
			return found, err
		}
		for of, traces := range all {
			found.changes = append(found.changes, routeChanges(of, joinRoutes(traces))...)
		}
		found.more = more
		return found, nil
	}
	if source != "" || target != "" {
		return find(ctx)
	}
	return s.meshRoutes.get(ctx, fmt.Sprint(from.Truncate(matrixAge), to.Truncate(matrixAge)), time.Now(), find)
}

// routeChanges are the beginnings of all routes but the first.
func routeChanges(of traced, routes []routeDoc) (changes []changeDoc) {
	for i := 1; i < len(routes); i++ {
		before, r := &routes[i-1], &routes[i]
		changes = append(changes, changeDoc{At: r.First, Kind: "route", Severity: "info", Text: routeText(before, r), Result: r.Result,
			Source: of.source, Target: of.target, Before: &before.Last})
	}
	return changes
}
