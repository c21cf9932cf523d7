package web

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// Changes of all pairs are looked up once for all who ask at about the same time; a failure is not remembered.
func TestMeshRoutesAreRemembered(t *testing.T) {
	var m meshRoutes
	looked := 0
	find := func() ([]changeDoc, bool, error) {
		if looked++; looked == 1 {
			return nil, false, errMissing
		}
		return []changeDoc{{Text: fmt.Sprint(looked)}}, true, nil
	}
	if _, _, err := m.get("day", find); !errors.Is(err, errMissing) {
		t.Errorf("%v, want %v", err, errMissing)
	}
	for _, c := range []struct{ asked, want string }{{"day", "2"}, {"day", "2"}, {"hour", "3"}} {
		got, more, err := m.get(c.asked, find)
		if err != nil || !more || got[0].Text != c.want {
			t.Errorf("%s: %+v, %v, %v; want %s", c.asked, got, more, err, c.want)
		}
		got[0].Text = "changed by who asked"
	}
	m.began = m.began.Add(-matrixAge)
	if got, _, err := m.get("hour", find); err != nil || got[0].Text != "4" {
		t.Errorf("grown old: %+v, %v", got, err)
	}
}
