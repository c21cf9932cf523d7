package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// routeText says what differs between two routes that followed each other: hop 7: A is now B, one hop more, round trip as before.
func routeText(before, after *routeDoc) string {
	first, others := after.Changed[0], after.Changed[1:]
	parts := []string{fmt.Sprintf("hop %d: %s", first, hopText(before.at(first), after.at(first)))}
	switch n := len(others); {
	case n == 1:
		parts = append(parts, fmt.Sprintf("hop %d differs, too", others[0]))
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d hops from %d to %d differ, too", n, others[0], others[n-1]))
	}
	if before.whole && after.whole {
		parts = append(parts, lengthText(len(after.Hops)-len(before.Hops)))
	}
	if len(before.trips) > 0 && len(after.trips) > 0 {
		parts = append(parts, tripText(median(before.trips), median(after.trips)))
	}
	return strings.Join(parts, ", ")
}

// at is the hop at a distance; without an address, where the route has none.
func (r *routeDoc) at(ttl int) hopDoc {
	if i := slices.IndexFunc(r.Hops, func(h hopDoc) bool { return h.TTL == ttl }); i >= 0 {
		return r.Hops[i]
	}
	return hopDoc{}
}

func hopText(before, after hopDoc) string {
	switch {
	case len(before.Addresses) == 0:
		return after.names() + " is new"
	case len(after.Addresses) == 0:
		return before.names() + " is gone"
	}
	return before.names() + " is now " + after.names()
}

// names are the addresses of a hop that shares its load, as far as a line has room for them.
func (h hopDoc) names() string {
	const most = 2
	if n := len(h.Addresses) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(h.Addresses[:most], ", "), n)
	}
	return strings.Join(h.Addresses, ", ")
}

func lengthText(more int) string {
	switch {
	case more == 0:
		return "as many hops"
	case more == 1:
		return "one hop more"
	case more == -1:
		return "one hop fewer"
	case more < 0:
		return fmt.Sprintf("%d hops fewer", -more)
	}
	return fmt.Sprintf("%d hops more", more)
}

// A trace has few round trips: what they differ by less than is queueing, as likely as not.
const (
	sameTripShare   = 0.1
	sameTripSeconds = 1e-3
)

func tripText(before, after float64) string {
	if d := after - before; max(d, -d) <= max(sameTripShare*before, sameTripSeconds) {
		return "round trip as before"
	}
	return fmt.Sprintf("round trip %s, before %s", quantity.FormatSeconds(after), quantity.FormatSeconds(before))
}

// tripOf is the median round trip to the end of a route, if it was reached.
func tripOf(hops []measure.Hop) (trip float64, reached bool) {
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
			return median(trips), true
		}
	}
	return 0, false
}

// median is the lower of the middle two, of an even number of values.
func median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}
