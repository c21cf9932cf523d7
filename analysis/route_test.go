package analysis

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// traceOf is a trace in which each hop's text has the addresses that answered, without any: silence. z and end are where it leads; ! says that
// nothing does.
func traceOf(id string, at time.Time, hops ...[]string) *measure.Result {
	r := measure.NewResult("trace", at)
	r.ID, r.Source.Name, r.Target.Name, r.Tool = id, "a", "b", "trace"
	for i, addresses := range hops {
		hop := measure.Hop{TTL: i + 1, Addresses: addresses}
		switch {
		case slices.Contains(addresses, "!"):
			hop.Addresses, hop.Reply = addresses[:1], "host unreachable"
		case slices.Contains(addresses, "z") || slices.Contains(addresses, "end"):
			hop.Reply = "port unreachable"
		}
		r.Samples.Hops = append(r.Samples.Hops, hop)
	}
	return r
}

func TestRoutes(t *testing.T) {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	x, y, z, silent := []string{"x"}, []string{"y"}, []string{"z"}, []string(nil)
	var traces []*measure.Result
	for i, hops := range [][][]string{
		{x, y, z},
		{x, silent, z},
		{silent, silent},                     // says nothing
		{x, {"y2", "y"}, z, silent},          // shares the load with y
		{x, {"y2"}, z},                       // still that
		{x, {"w"}, z},                        // another router
		{x, {"w"}, {"v"}, z},                 // a longer way
		{x, silent, silent, {"v2"}, {"end"}}, // and one more
		{x, {"w"}},                           // lost on the way
		{x, {"w"}, {"v"}, {"v2"}, {"end"}},   // there again
		{x, {"u"}},                           // another one, of which the end is lost
		{x, {"u"}, {"v"}},
		{x, {"u"}, {"v"}, z},
	} {
		traces = append(traces, traceOf(string(rune('A'+i)), at.Add(time.Duration(i)*time.Minute), hops...))
	}
	minute := func(n int) time.Time { return at.Add(time.Duration(n) * time.Minute) }
	hop := func(ttl int, addresses ...string) Hop { return Hop{ttl, addresses} }
	want := []Route{
		{First: minute(0), Last: minute(4), Results: 4, Result: "A", Newest: "E", Hops: []Hop{hop(1, "x"), hop(2, "y", "y2"), hop(3, "z")}, Changed: []int{}, Whole: true},
		{First: minute(5), Last: minute(5), Results: 1, Result: "F", Newest: "F", Hops: []Hop{hop(1, "x"), hop(2, "w"), hop(3, "z")}, Changed: []int{2}, Whole: true},
		{First: minute(6), Last: minute(6), Results: 1, Result: "G", Newest: "G", Hops: []Hop{hop(1, "x"), hop(2, "w"), hop(3, "v"), hop(4, "z")}, Changed: []int{3, 4}, Whole: true},
		{First: minute(7), Last: minute(9), Results: 3, Result: "H", Newest: "J", Hops: []Hop{hop(1, "x"), hop(2, "w"), hop(3, "v"), hop(4, "v2"), hop(5, "end")}, Changed: []int{4, 5}, Whole: true},
		{First: minute(10), Last: minute(12), Results: 3, Result: "K", Newest: "M", Hops: []Hop{hop(1, "x"), hop(2, "u"), hop(3, "v"), hop(4, "z")}, Changed: []int{2}, Whole: true},
	}
	if diff := cmp.Diff(want, Routes(traces)); diff != "" {
		t.Error(diff)
	}
}

// What one trace lacks is no other route: a hop that is silent, a target that does not answer, or does so only when it is asked once more.
func TestRoutesWithLostAnswers(t *testing.T) {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	silent, unreachable := []string(nil), []string{"y", "!"}
	ways := map[rune][][]string{
		'n': {{"x"}, {"y"}, {"z"}}, // as it is
		'-': {{"x"}, silent, {"z"}},
		'.': {{"x"}, {"y"}, silent}, // the target is silent
		'!': {{"x"}, unreachable},   // a router says so
		'4': {{"x"}, {"y"}, silent, {"z"}},
		'5': {{"x"}, {"y"}, silent, silent, {"z"}},
		'6': {{"x"}, silent, silent, silent, {"z"}},
		'w': {{"x"}, {"y"}, {"w"}, {"z"}},    // one hop more
		'e': {{"x"}, {"y"}, silent, {"end"}}, // another end
		's': {{"x"}, {"z"}},                  // one hop fewer
	}
	for seen, want := range map[string]string{ // to the first traces of each route
		"n": "n", "4": "4", "nn": "n", "n-.!n": "n",
		"n4": "n", "4n": "4", "n4n": "n", "n44n": "n", "n4.5n!4n": "n", "n5n": "n", "n6n": "n", "4nn": "4",
		"n44": "n4", "n444n": "n44", "nnw": "nw", "nwn": "nwn", "nw4": "nw", "ns": "ns", "ns6": "ns", "sn": "sn",
		"ne": "ne", "e4": "e4",
	} {
		var traces []*measure.Result
		for i, w := range seen {
			traces = append(traces, traceOf(string(w), at.Add(time.Duration(i)*time.Minute), ways[w]...))
		}
		got := ""
		for _, r := range Routes(traces) {
			got += r.Result
		}
		if got != want {
			t.Errorf("%s: routes that begin with %s, want %s", seen, got, want)
		}
	}
}

// What a packet passes is known where one router alone answers.
func TestLinks(t *testing.T) {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		hops           [][]string
		links, routers []string
	}{
		{[][]string{{"x"}, {"y"}, {"z"}}, []string{"x - y", "y - z"}, []string{"x", "y"}},
		{[][]string{{"x"}, {"y"}}, []string{"x - y"}, []string{"x", "y"}},
		{[][]string{{"x"}, nil, {"y"}, {"z"}}, []string{"y - z"}, []string{"x", "y"}},
		{[][]string{{"x"}, {"y", "y2"}, {"w"}, {"z"}}, []string{"w - z"}, []string{"x", "w"}},
		{[][]string{{"z"}}, nil, nil},
	} {
		routes := Routes([]*measure.Result{traceOf("A", at, c.hops...)})
		links, routers := routes[0].Links()
		if !slices.Equal(links, c.links) || !slices.Equal(routers, c.routers) {
			t.Errorf("%v: links %q, routers %q", c.hops, links, routers)
		}
	}
}
