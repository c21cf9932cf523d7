package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// traceOf is a trace in which each hop's text has the addresses that answered, without any: silence. z and end are where it leads.
func traceOf(id string, at time.Time, hops ...[]string) *measure.Result {
	r := measure.NewResult("trace", at)
	r.ID, r.Source.Name, r.Target.Name, r.Tool = id, "a", "b", "trace"
	for i, addresses := range hops {
		hop := measure.Hop{TTL: i + 1, Addresses: addresses}
		if slices.Contains(addresses, "z") || slices.Contains(addresses, "end") {
			hop.Reply = "port unreachable"
		}
		r.Samples.Hops = append(r.Samples.Hops, hop)
	}
	return r
}

// What differs between two routes is told in one line.
func TestRouteText(t *testing.T) {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	x, y, z := []string{"x"}, []string{"y"}, []string{"z"}
	trip := func(hops [][]string, ms ...float64) *measure.Result {
		r := traceOf("A", at, hops...)
		for _, v := range ms {
			seconds := v / 1e3
			last := &r.Samples.Hops[len(hops)-1]
			last.RTTSeconds = append(last.RTTSeconds, &seconds, nil)
		}
		return r
	}
	for want, routes := range map[string][2]*measure.Result{
		"hop 2: y is now w, as many hops":                                         {trip([][]string{x, y, z}), trip([][]string{x, {"w"}, z})},
		"hop 2: y is now w, as many hops, round trip as before":                   {trip([][]string{x, y, z}, 10, 12, 11), trip([][]string{x, {"w"}, z}, 11.9)},
		"hop 2: y is now w, as many hops, round trip 20.0 ms, before 10.0 ms":     {trip([][]string{x, y, z}, 10), trip([][]string{x, {"w"}, z}, 20)},
		"hop 2: y is now w, as many hops, round trip 5.00 ms, before 10.0 ms":     {trip([][]string{x, y, z}, 10), trip([][]string{x, {"w"}, z}, 5)},
		"hop 2: y is now w, as many hops, round trip as before ":                  {trip([][]string{x, y, z}, 0.1), trip([][]string{x, {"w"}, z}, 0.9)},
		"hop 2: y is now w, hop 3 differs, too":                                   {trip([][]string{x, y, y}, 10), trip([][]string{x, {"w"}, z}, 10)},
		"hop 2: z is now y, hop 3 differs, too, one hop more":                     {trip([][]string{x, z}), trip([][]string{x, y, z})},
		"hop 2: y is now z, hop 3 differs, too, one hop fewer":                    {trip([][]string{x, y, z}), trip([][]string{x, z})},
		"hop 1: z is now x, 3 hops from 2 to 4 differ, too, 3 hops more":          {trip([][]string{z}), trip([][]string{x, y, y, z})},
		"hop 1: x is now z, 3 hops from 2 to 4 differ, too, 3 hops fewer":         {trip([][]string{x, y, y, z}), trip([][]string{z})},
		"hop 3: a silent hop is new, 2 hops from 4 to 5 differ, too, 3 hops more": {trip([][]string{x, z}), trip([][]string{x, nil, nil, nil, {"end"}})},
		"hop 3: y is new": {trip([][]string{x, z}), trip([][]string{x, z, y})},
		"hop 2: y, y2 is now w, w2 and 1 more, as many hops": {trip([][]string{x, {"y", "y2"}, z}), trip([][]string{x, {"w", "w2", "w3"}, z})},
	} {
		found := analysis.Routes([]*measure.Result{routes[0], routes[1]})
		if len(found) != 2 {
			t.Errorf("%s: %d routes", want, len(found))
			continue
		}
		if got := RouteText(&found[0], &found[1]); got != trimmed(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Two routes of which none says where they differ are told, too.
func TestRouteTextOfNoChange(t *testing.T) {
	r := analysis.Routes([]*measure.Result{traceOf("A", time.Time{}, []string{"x"}, []string{"z"})})[0]
	if got, want := RouteText(&r, &r), "no hop differs, as many hops"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// trimmed takes off what tells two equal keys of a table apart.
func trimmed(text string) string {
	if n := len(text); n > 0 && text[n-1] == ' ' {
		return text[:n-1]
	}
	return text
}
