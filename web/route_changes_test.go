package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

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
		"hop 2: y is now w, as many hops":                                     {trip([][]string{x, y, z}), trip([][]string{x, {"w"}, z})},
		"hop 2: y is now w, as many hops, round trip as before":               {trip([][]string{x, y, z}, 10, 12, 11), trip([][]string{x, {"w"}, z}, 11.9)},
		"hop 2: y is now w, as many hops, round trip 20.0 ms, before 10.0 ms": {trip([][]string{x, y, z}, 10), trip([][]string{x, {"w"}, z}, 20)},
		"hop 2: y is now w, as many hops, round trip 5.00 ms, before 10.0 ms": {trip([][]string{x, y, z}, 10), trip([][]string{x, {"w"}, z}, 5)},
		"hop 2: y is now w, as many hops, round trip as before ":              {trip([][]string{x, y, z}, 0.1), trip([][]string{x, {"w"}, z}, 0.9)},
		"hop 2: y is now w, hop 3 differs, too":                               {trip([][]string{x, y, y}, 10), trip([][]string{x, {"w"}, z}, 10)},
		"hop 2: z is now y, hop 3 differs, too, one hop more":                 {trip([][]string{x, z}), trip([][]string{x, y, z})},
		"hop 2: y is now z, hop 3 differs, too, one hop fewer":                {trip([][]string{x, y, z}), trip([][]string{x, z})},
		"hop 1: z is now x, 3 hops from 2 to 4 differ, too, 3 hops more":      {trip([][]string{z}), trip([][]string{x, y, y, z})},
		"hop 1: x is now z, 3 hops from 2 to 4 differ, too, 3 hops fewer":     {trip([][]string{x, y, y, z}), trip([][]string{z})},
		"hop 3: y is new": {trip([][]string{x, z}), trip([][]string{x, z, y})},
		"hop 2: y, y2 is now w, w2 and 1 more, as many hops": {trip([][]string{x, {"y", "y2"}, z}), trip([][]string{x, {"w", "w2", "w3"}, z})},
	} {
		found := joinRoutes([]*measure.Result{routes[0], routes[1]})
		if len(found) != 2 {
			t.Errorf("%s: %d routes", want, len(found))
			continue
		}
		if got := routeText(&found[0], &found[1]); got != trimmed(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// trimmed takes off what tells two equal keys of a table apart.
func trimmed(text string) string {
	if n := len(text); n > 0 && text[n-1] == ' ' {
		return text[:n-1]
	}
	return text
}

// Without two names of hosts, changes have the routes of all pairs that planned tests trace, each beside its like. What is silent
// for a time, what shares a load, what goes by turns over two families or tools, and what somebody traced besides is no change.
func TestRoutesOfAllPairs(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	begin := time.Now().UTC().Add(-3 * time.Hour).Truncate(time.Second)
	type way struct {
		source, target, address, tool string
		role                          measure.Role
		way                           measure.Way
	}
	var all []*measure.Result
	n := 0
	add := func(w way, routes ...[][]string) {
		for i, hops := range routes {
			n++
			at := begin.Add(time.Duration(i)*10*time.Minute + time.Duration(n)*time.Millisecond)
			r := traceOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at, hops...)
			r.Source.Name, r.Target.Name, r.Target.Address, r.Tool, r.Test, r.Role, r.Way = w.source, w.target, w.address, w.tool, w.tool+"@all", w.role, w.way
			if w.role != measure.RolePlanned {
				r.Test = ""
			}
			all = append(all, r)
		}
	}
	x, y, w, z, silent := []string{"x"}, []string{"y"}, []string{"w"}, []string{"z"}, []string(nil)
	planned := measure.RolePlanned
	add(way{"a", "b", "10.0.0.2", "route", planned, ""}, [][]string{x, y, z}, [][]string{x, y, z}, [][]string{x, w, w, z}, [][]string{x, w, w, z}, [][]string{x, y, z})
	add(way{"b", "a", "10.0.0.1", "route", planned, ""}, [][]string{x, y, z}, [][]string{x, silent, z}, [][]string{silent, silent}, [][]string{x, {"y2", "y"}, z}, [][]string{x, {"y2"}, z}, [][]string{x, y, silent})
	add(way{"a", "gone", "10.0.0.3", "route", planned, ""}, [][]string{x, y, z}, [][]string{x, y, z}, [][]string{x, y, z})
	add(way{"a", "gone", "fd00::3", "route", planned, ""}, [][]string{w, z}, [][]string{w, z}, [][]string{w, z})
	add(way{"a", "gone", "10.0.0.3", "route-tcp", planned, ""}, [][]string{x, w, z}, [][]string{x, w, z})
	add(way{"a", "gone", "10.0.0.3", "route", measure.RoleDemand, ""}, [][]string{w, w, z}, [][]string{y, w, z})
	add(way{"strict", "a", "10.0.0.1", "route", planned, measure.Reverse}, [][]string{x, z}, [][]string{y, z})
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	change := func(before, after int, source, target, text string) changeDoc {
		return changeDoc{At: all[after].Started, Kind: "route", Severity: "info", Text: text, Result: all[after].ID, Source: source, Target: target, Before: &all[before].Started}
	}
	want := []changeDoc{
		change(1, 2, "a", "b", "hop 2: y is now w, 2 hops from 3 to 4 differ, too, one hop more"),
		change(3, 4, "a", "b", "hop 2: w is now y, 2 hops from 3 to 4 differ, too, one hop fewer"),
	}
	back := change(len(all)-2, len(all)-1, "a", "strict", "hop 1: x is now y, as many hops")
	got := read[changesDoc](b, "/api/v1/changes?from=-1d")
	if diff := cmp.Diff(changesDoc{Changes: []changeDoc{back, want[0], want[1]}}, got); diff != "" {
		t.Errorf("of all pairs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(changesDoc{Changes: want}, read[changesDoc](b, "/api/v1/changes?from=-1d&source=a&target=b")); diff != "" {
		t.Errorf("of one pair (-want +got):\n%s", diff)
	}
	if got := read[changesDoc](b, "/api/v1/changes?from=-1d&source=a&target=gone"); len(got.Changes) != 1 { // what somebody asked for twice
		t.Errorf("of a pair, also those traced on demand: %+v", got)
	}
}

// Changes of all pairs are looked up once for all who ask for about the same span at the same time, and those of a pair each time.
func TestMeshRoutesAreRemembered(t *testing.T) {
	b := newBench(t)
	from := time.Now().UTC().Truncate(matrixAge).Add(-time.Hour)
	put := func(id string, minute int, hop string) {
		t.Helper()
		r := traceOf(id, from.Add(time.Duration(minute)*time.Minute), []string{hop})
		r.Role = measure.RolePlanned
		if err := b.Archive.Put(t.Context(), []*measure.Result{r}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(source, target string, from time.Time) int {
		t.Helper()
		found, err := b.changesOfRoutes(t.Context(), source, target, from, from.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return len(found.changes)
	}
	put("01KAG0000000000000000000BA", 1, "x")
	put("01KAG0000000000000000000BB", 2, "y")
	first := count("", "", from)
	put("01KAG0000000000000000000BC", 3, "x")
	got := []int{first, count("", "", from.Add(matrixAge/2)), count("a", "b", from), count("", "", from.Add(-matrixAge))}
	if diff := cmp.Diff([]int{1, 1, 2, 2}, got); diff != "" {
		t.Errorf("at first, a moment later, of the pair, of another span (-want +got):\n%s", diff)
	}
}

// Routes that several tests trace between one pair do not follow each other: each has its own, and says whose it is.
func TestRoutesOfEachTest(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	begin := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	var all []*measure.Result
	for minute, c := range []struct{ tool, address, hop string }{
		{"route", "10.0.0.2", "x"}, {"route", "fd00::2", "y"}, {"route-tcp", "10.0.0.2", "w"},
		{"route", "10.0.0.2", "x"}, {"route", "fd00::2", "y"}, {"route-tcp", "10.0.0.2", "v"},
	} {
		at := begin.Add(time.Duration(minute) * time.Minute)
		r := traceOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at, []string{c.hop})
		r.Tool, r.Test, r.Target.Address, r.Role = c.tool, c.tool+"@all", c.address, measure.RolePlanned
		all = append(all, r)
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	route := func(tool, family, hop string, first, last, results int, changed ...int) routeDoc {
		return routeDoc{Test: tool + "@all", Tool: tool, Role: "planned", Family: family, First: all[first].Started, Last: all[last].Started,
			Results: results, Result: all[first].ID, Hops: []hopDoc{{1, []string{hop}}}, Changed: append([]int{}, changed...)}
	}
	want := routesDoc{Routes: []routeDoc{
		route("route", "ipv4", "x", 0, 3, 2), route("route", "ipv6", "y", 1, 4, 2), route("route-tcp", "ipv4", "w", 2, 2, 1), route("route-tcp", "ipv4", "v", 5, 5, 1, 1),
	}}
	got := read[routesDoc](b, "/api/v1/pairs/a/b/routes?from=-2h")
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(routeDoc{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
