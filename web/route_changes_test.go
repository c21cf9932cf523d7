package web

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

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
	const each = 4 // traces
	add := func(w way, routes ...[][]string) {
		for i := range each * len(routes) {
			hops := routes[i/each]
			n++
			at := begin.Add(time.Duration(i)*5*time.Minute + time.Duration(n)*time.Millisecond)
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
		change(2*each-1, 2*each, "a", "b", "hop 2: y is now w, 2 hops from 3 to 4 differ, too, one hop more"),
		change(4*each-1, 4*each, "a", "b", "hop 2: w is now y, 2 hops from 3 to 4 differ, too, one hop fewer"),
	}
	back := change(len(all)-each-1, len(all)-each, "a", "strict", "hop 1: x is now y, as many hops")
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
	put := func(minute int, hop string) {
		t.Helper()
		for second := range 5 {
			at := from.Add(time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
			r := traceOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at, []string{hop})
			r.Role = measure.RolePlanned
			if err := b.Archive.Put(t.Context(), []*measure.Result{r}); err != nil {
				t.Fatal(err)
			}
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
	put(1, "x")
	put(2, "y")
	first := count("", "", from)
	put(3, "x")
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
		return routeDoc{tool + "@all", tool, "planned", family, analysis.Route{First: all[first].Started, Last: all[last].Started,
			Results: results, Result: all[first].ID, Hops: []analysis.Hop{{TTL: 1, Addresses: []string{hop}}}, Changed: append([]int{}, changed...)}}
	}
	want := routesDoc{Routes: []routeDoc{
		route("route", "ipv4", "x", 0, 3, 2), route("route", "ipv6", "y", 1, 4, 2), route("route-tcp", "ipv4", "w", 2, 2, 1), route("route-tcp", "ipv4", "v", 5, 5, 1, 1),
	}, Names: addressNames{}, Known: []knownDoc{}}
	for _, c := range []struct{ tool, family string }{{"route-tcp", "ipv4"}, {"route", "ipv4"}, {"route", "ipv6"}} {
		want.Courses = append(want.Courses, courseDoc{Test: c.tool + "@all", Tool: c.tool, Role: "planned", Family: c.family, Changes: []movedDoc{}, Turns: []turnsDoc{},
			Varying: []varyingDoc{}, Brief: []analysis.Brief{}, Delays: []delayDoc{}})
	}
	want.Courses[0].Brief = []analysis.Brief{{First: all[5].Started, Last: all[5].Started, Results: 1, Result: all[5].ID, Hops: want.Routes[3].Hops, Changed: []int{1}}}
	got := read[routesDoc](b, "/api/v1/pairs/a/b/routes?from=-2h")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a test's traces come to says which changes are some, with the round trips before and after, and has the round trips to draw.
func TestCourseOfRoutes(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	begin := time.Now().UTC().Add(-10 * time.Hour).Truncate(time.Second)
	var all []*measure.Result
	for i := range 1200 {
		hop, trip := "x", 0.010
		if i >= 600 {
			hop, trip = "y", 0.022
		}
		at := begin.Add(time.Duration(i) * 10 * time.Second)
		r := traceOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at, []string{hop}, []string{"z"})
		r.Samples.Hops[1].RTTSeconds = []*float64{&trip}
		all = append(all, r)
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	doc := read[routesDoc](b, "/api/v1/pairs/a/b/routes?from=-1d")
	if len(doc.Courses) != 1 || len(doc.Courses[0].Changes) != 1 || len(doc.Courses[0].Delays) != 400 {
		t.Fatalf("%d courses, %+v", len(doc.Courses), doc.Courses)
	}
	c := doc.Courses[0].Changes[0]
	step := analysis.Estimate{Value: 0.012, Low: 0.012, High: 0.012, Runs: 100}
	if diff := cmp.Diff(&step, c.Step, cmpopts.EquateApprox(0, 1e-9)); diff != "" || !c.Before.Last.Equal(all[599].Started) || c.After.Result != all[600].ID ||
		c.Text != "hop 1: x is now y, as many hops, round trip 10.0 ms before, 22.0 ms after: 12.0 ms more (12.0 ms to 12.0 ms)" {
		t.Errorf("%s; step (-want +got):\n%s", c.Text, diff)
	}
}

// The routes of all pairs are one graph, of the planned traces of all tests: who is on them, how many pairs use each link, and which changed.
func TestGraphOfRoutes(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	begin := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	var all []*measure.Result
	for i := range 16 {
		at := begin.Add(time.Duration(i) * time.Minute)
		there, back := []string{"10.0.0.2", "10.0.1.2", "10.0.2.2"}, []string{"10.0.2.1", "10.0.1.1", "10.0.0.1"}
		if i >= 8 {
			there[1] = "10.0.7.9"
		}
		for k, addresses := range [][]string{there, back} {
			at = at.Add(time.Duration(k) * time.Millisecond)
			r := traceOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at, addresses[:1], addresses[1:2], addresses[2:])
			r.Samples.Hops[2].Reply = "port unreachable"
			r.Role, r.Source.Name, r.Target.Name = measure.RolePlanned, []string{"a", "b"}[k], []string{"b", "a"}[k]
			all = append(all, r)
		}
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	b.Known = func(_ context.Context, addresses []netip.Addr) (known []measure.AddressInfo) {
		for _, a := range addresses {
			known = append(known, measure.AddressInfo{Address: a.String(), ASN: 64500})
		}
		return known
	}
	doc := read[routeGraphDoc](b, "/api/v1/routes?from=-2h")
	if len(doc.Known) == 0 || doc.Known[0].Text != "[AS64500]" {
		t.Errorf("known of routers: %+v", doc.Known)
	}
	moved := all[16].Started
	want := analysis.Graph{
		Nodes: []analysis.GraphNode{{Host: "a", Addresses: []string{"10.0.0.1"}, Pairs: 2}, {Host: "b", Addresses: []string{"10.0.2.2"}, Pairs: 2},
			{Addresses: []string{"10.0.0.2", "10.0.1.1"}, Pairs: 2}, {Addresses: []string{"10.0.1.2", "10.0.2.1"}, Pairs: 1}, {Addresses: []string{"10.0.7.9"}, Pairs: 1}},
		Links: []analysis.GraphLink{{From: 0, To: 2, Pairs: 2, Sure: true}, {From: 1, To: 3, Pairs: 1, Sure: true, Left: &moved}, {From: 1, To: 4, Pairs: 1, Sure: true, Appeared: &moved},
			{From: 2, To: 3, Pairs: 1, Sure: true, Left: &moved}, {From: 2, To: 4, Pairs: 1, Sure: true, Appeared: &moved}},
	}
	if diff := cmp.Diff(want, doc.Graph); diff != "" || doc.Pairs != 2 {
		t.Errorf("%d pairs (-want +got):\n%s", doc.Pairs, diff)
	}
}
