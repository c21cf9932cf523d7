package web

import (
	"context"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// hopDoc is who answered at a distance, over all Results of a route.
type hopDoc struct {
	TTL       int      `json:"ttl"`
	Addresses []string `json:"addresses" doc:"None: nobody answered"`
}

// routeDoc is a route that held for a time.
type routeDoc struct {
	First   time.Time `json:"first" doc:"When it was seen first"`
	Last    time.Time `json:"last"`
	Results int       `json:"results" doc:"How often it was seen"`
	Result  string    `json:"result" doc:"ID of the first of them"`
	Hops    []hopDoc  `json:"hops"`
	Changed []int     `json:"changed" doc:"TTLs at which it differs from the one before"`
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

// mostTraces is how many Results of routes are looked at for an answer: ten days of one every five minutes.
const mostTraces = 3000

func (s *Server) routes(ctx context.Context, in *routesInput) (*body[routesDoc], error) {
	now := time.Now()
	routes, more, err := s.routesOf(ctx, in.Source, in.Target, in.From.at(now), in.To.at(now))
	if err != nil {
		return nil, fault(err)
	}
	return &body[routesDoc]{routesDoc{routes, more}}, nil
}

// routesOf reads which routes there were between two hosts.
func (s *Server) routesOf(ctx context.Context, source, target string, from, to time.Time) (routes []routeDoc, more bool, err error) {
	exactly := archive.Key{Source: source, Target: target}.Exactly()
	query := archive.ResultQuery{Source: exactly.Source, Target: exactly.Target, Kind: "trace", From: from, To: to}
	var traces []*measure.Result
	more, err = s.search(ctx, query, mostTraces, func(r *measure.Result) {
		traces = append(traces, &measure.Result{ID: r.ID, Started: r.Started, Samples: measure.Samples{Hops: r.Samples.Hops}})
	})
	if err != nil {
		return nil, false, err
	}
	slices.Reverse(traces)
	return joinRoutes(traces), more, nil
}

// joinRoutes makes routes of Results in order of time. A router that does not answer each time, and several that share the
// load at one distance, are no change: a hop is another one only if the routers that answered there had not answered in this
// route before. Results without an answer say nothing.
func joinRoutes(traces []*measure.Result) []routeDoc {
	routes := []routeDoc{}
	for _, r := range traces {
		hops := hopsOf(r.Samples.Hops)
		if len(hops) == 0 {
			continue
		}
		var changed []int
		if n := len(routes); n > 0 {
			last := &routes[n-1]
			if changed = differing(last.Hops, hops); len(changed) == 0 {
				last.Hops, last.Last, last.Results = mergeHops(last.Hops, hops), r.Started, last.Results+1
				continue
			}
		}
		routes = append(routes, routeDoc{r.Started, r.Started, 1, r.ID, hops, append([]int{}, changed...)})
	}
	return routes
}

// hopsOf are the hops up to the last that answered.
func hopsOf(hops []measure.Hop) []hopDoc {
	var list []hopDoc
	answered := 0
	for _, h := range hops {
		addresses := []string{}
		for _, a := range h.Addresses {
			if a != "" && !slices.Contains(addresses, a) {
				addresses = append(addresses, a)
			}
		}
		if list = append(list, hopDoc{h.TTL, addresses}); len(addresses) > 0 {
			answered = len(list)
		}
	}
	return list[:answered]
}

// differing are the TTLs at which two routes have no router in common, or only one of them goes on.
func differing(a, b []hopDoc) (ttls []int) {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			ttls = append(ttls, b[i].TTL)
		case i >= len(b):
			ttls = append(ttls, a[i].TTL)
		case len(a[i].Addresses) > 0 && len(b[i].Addresses) > 0 &&
			!slices.ContainsFunc(b[i].Addresses, func(s string) bool { return slices.Contains(a[i].Addresses, s) }):
			ttls = append(ttls, a[i].TTL)
		}
	}
	return ttls
}

// mergeHops adds who answered to those who had, of routes of one length.
func mergeHops(all, more []hopDoc) []hopDoc {
	for i, h := range more {
		for _, a := range h.Addresses {
			if !slices.Contains(all[i].Addresses, a) {
				all[i].Addresses = append(all[i].Addresses, a)
			}
		}
	}
	return all
}
