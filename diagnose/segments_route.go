package diagnose

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Route is the hops of the newest trace among Results, without its end.
func Route(results []*measure.Result) []measure.Hop { return between(Traced(results)) }

// Traced is the hops of the newest trace among Results.
func Traced(results []*measure.Result) []measure.Hop {
	var newest *measure.Result
	for _, r := range results {
		if r.Kind == "trace" && len(r.Samples.Hops) > 0 && (newest == nil || r.Started.After(newest.Started)) {
			newest = r
		}
	}
	if newest == nil {
		return nil
	}
	return newest.Samples.Hops
}

// between are the hops of a route without its end, and without those after the last that answered.
func between(hops []measure.Hop) []measure.Hop {
	if at := slices.IndexFunc(hops, func(h measure.Hop) bool { return h.Reply != "" }); at >= 0 {
		return hops[:at]
	}
	last := len(hops)
	for last > 0 && len(hops[last-1].Addresses) == 0 {
		last--
	}
	return hops[:last]
}

// common is how many routers two routes begin with that are the same ones. A silent router may be any.
func common(a, b []measure.Hop) (n int) {
	known := 0 // ends behind the last router that both show
	for n < len(a) && n < len(b) && sameHop(a[n], b[n]) {
		if n++; len(a[n-1].Addresses) > 0 && len(b[n-1].Addresses) > 0 {
			known = n
		}
	}
	if n == len(a) || n == len(b) {
		return n
	}
	return known
}

// sameHop reports whether two hops may be one router.
func sameHop(a, b measure.Hop) bool {
	return len(a.Addresses) == 0 || len(b.Addresses) == 0 ||
		slices.ContainsFunc(a.Addresses, func(s string) bool { return slices.Contains(b.Addresses, s) })
}

// Position is where a host stands along a route from one host to another.
type Position struct {
	Routers int     // of the route, before the host
	Detour  float64 // seconds that a round trip over the host takes longer than one between the ends; 0: that is not known
}

// Along says at which place a host stands along a route. along is false where it does not stand there, or the routes do not tell: what goes
// over the host must pass all of the route's routers, and take no longer than it may be off. Each route is the hops of a trace.
func Along(whole, there, onward []measure.Hop) (p Position, along bool) {
	route, first, second := between(whole), between(there), between(onward)
	if len(route) == 0 || !shown(route) {
		return Position{}, false
	}
	p.Routers = common(route, first)
	if p.Routers == 0 || p.Routers < len(first)-ownRouters {
		return Position{}, false
	}
	// The router that the host hangs on shows another address to what comes from the host: it is no part of what must be the same.
	if rest := len(route) - p.Routers; common(reversed(route[p.Routers:]), reversed(second)) < rest {
		return Position{}, false
	}
	direct, before, behind := endTrip(whole), endTrip(there), endTrip(onward)
	if direct > 0 && before > 0 && behind > 0 {
		p.Detour = max(0, before+behind-direct)
	}
	if p.Detour > 2*max(tripSlack, tripSlackShare*direct) { // of two round trips
		return Position{}, false
	}
	return p, true
}

// endTrip is the shortest round trip to the end of a trace, in seconds; 0: it did not answer.
func endTrip(hops []measure.Hop) float64 {
	for _, h := range hops {
		if h.Reply != "" {
			least, _ := h.Least()
			return least
		}
	}
	return 0
}

func reversed(hops []measure.Hop) []measure.Hop {
	hops = slices.Clone(hops)
	slices.Reverse(hops)
	return hops
}

// shown reports whether any router of a route answered.
func shown(route []measure.Hop) bool {
	return slices.ContainsFunc(route, func(h measure.Hop) bool { return len(h.Addresses) > 0 })
}

const (
	// ownRouters is how many routers of its own site a host may stand behind.
	ownRouters = 2
	// Round trips may be off by this much, for what hosts and routers take to answer, in seconds, or by a share of the whole.
	tripSlack      = 0.002
	tripSlackShare = 0.1
)

// offRoute says why a point does not stand on the route, by round trips in seconds and by the routers before it; "" if it does, or
// nothing tells. place is how many routers of the route are before it.
func offRoute(whole, point stretch, route, before []measure.Hop) (place int, why string) {
	slack := max(tripSlack, tripSlackShare*whole.trip)
	if point.trip > whole.trip+slack && whole.trip > 0 {
		return 0, fmt.Sprintf("its round trip of %s is longer than that of the whole path, %s", quantity.FormatSeconds(point.trip),
			quantity.FormatSeconds(whole.trip))
	}
	if !shown(route) || !shown(before) {
		return 0, ""
	}
	place = common(route, before)
	switch beyond := len(before) - place; {
	case place == 0:
		return 0, "no router on the way to it is on the route"
	case beyond > ownRouters:
		return 0, fmt.Sprintf("%d routers on the way to it are not on the route", beyond)
	}
	if at := longestHop(route[:place]); at > 0 && point.trip > at+slack {
		return 0, fmt.Sprintf("it is %s away from the last router that is on the way to both", quantity.FormatSeconds(point.trip-at))
	}
	return place, ""
}
