package diagnose

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/quantity"
)

// RouteText says what differs between two routes that followed each other: hop 7: A is now B, one hop more, round trip as before.
// after.Changed says where; nowhere: no hop differs.
func RouteText(before, after *analysis.Route) string {
	parts := changedText(before, after)
	if before.Whole && after.Whole {
		parts = append(parts, lengthText(len(after.Hops)-len(before.Hops)))
	}
	was, one := before.Trip()
	is, two := after.Trip()
	if one && two {
		parts = append(parts, tripText(was, is))
	}
	return strings.Join(parts, ", ")
}

func changedText(before, after *analysis.Route) []string {
	ttls := after.Changed
	if len(ttls) == 0 {
		return []string{"no hop differs"}
	}
	parts := []string{fmt.Sprintf("hop %d: %s", ttls[0], hopText(before.At(ttls[0]), after.At(ttls[0])))}
	switch n := len(ttls) - 1; {
	case n == 1:
		parts = append(parts, fmt.Sprintf("hop %d differs, too", ttls[1]))
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d hops from %d to %d differ, too", n, ttls[1], ttls[n]))
	}
	return parts
}

// hopText says who is another one at a hop. Beyond the end of the shorter of two routes, the longer one may have a hop that is silent.
func hopText(before, after analysis.Hop) string {
	switch {
	case len(before.Addresses) == 0 && len(after.Addresses) == 0 && after.TTL == 0:
		return "a silent hop is gone"
	case len(before.Addresses) == 0 && len(after.Addresses) == 0:
		return "a silent hop is new"
	case len(before.Addresses) == 0:
		return namesOf(after) + " is new"
	case len(after.Addresses) == 0:
		return namesOf(before) + " is gone"
	}
	return namesOf(before) + " is now " + namesOf(after)
}

// namesOf are the addresses of a hop that shares its load, as far as a line has room for them.
func namesOf(h analysis.Hop) string {
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
