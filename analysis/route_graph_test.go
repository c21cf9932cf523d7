package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// tracedPair is a pair that was traced four times by each of some routes, given as addresses by hop.
func tracedPair(source, target string, routes ...[][]string) TracedPair {
	p := TracedPair{Source: source, Target: target}
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for i := range 4 * len(routes) {
		hops := routes[i/4]
		r := traceOf(source+target, at.Add(time.Duration(i)*time.Minute), hops...)
		r.Samples.Hops[len(hops)-1].Reply = "port unreachable"
		p.Traces = append(p.Traces, r)
	}
	p.Course = CourseOf(p.Traces)
	return p
}

func hopsBy(addresses ...string) (hops [][]string) {
	for _, a := range addresses {
		if a == "" {
			hops = append(hops, nil)
		} else {
			hops = append(hops, []string{a})
		}
	}
	return hops
}

// Warrington, Reading, Leeds and London are one node each, by the two ends of their links, and a link that traffic was moved to and the one it left are
// marked.
func TestGraph(t *testing.T) {
	moved := time.Date(2026, 11, 28, 12, 4, 0, 0, time.UTC)
	got := GraphOf([]TracedPair{
		tracedPair("dl", "ucl", hopsBy("10.0.0.2", "10.0.1.2", "10.0.2.2", "10.0.5.2"), hopsBy("10.0.0.2", "10.0.3.2", "10.0.4.2", "10.0.5.2")),
		tracedPair("ucl", "dl", hopsBy("10.0.5.1", "10.0.2.1", "10.0.1.1", "10.0.0.1"), hopsBy("10.0.5.1", "10.0.4.1", "10.0.3.1", "10.0.0.1")),
	})
	want := Graph{
		Nodes: []GraphNode{
			{Host: "dl", Addresses: []string{"10.0.0.1"}, Pairs: 2},
			{Host: "ucl", Addresses: []string{"10.0.5.2"}, Pairs: 2},
			{Addresses: []string{"10.0.0.2", "10.0.1.1", "10.0.3.1"}, Pairs: 2}, // Warrington
			{Addresses: []string{"10.0.1.2", "10.0.2.1"}, Pairs: 0},             // Reading
			{Addresses: []string{"10.0.2.2", "10.0.4.2", "10.0.5.1"}, Pairs: 2}, // London
			{Addresses: []string{"10.0.3.2", "10.0.4.1"}, Pairs: 2},             // Leeds
		},
		Links: []GraphLink{
			{From: 0, To: 2, Pairs: 2, Sure: true},
			{From: 1, To: 4, Pairs: 2, Sure: true},
			{From: 2, To: 3, Pairs: 0, Sure: true, Left: &moved},
			{From: 2, To: 5, Pairs: 2, Sure: true, Appeared: &moved},
			{From: 3, To: 4, Pairs: 0, Sure: true, Left: &moved},
			{From: 4, To: 5, Pairs: 2, Sure: true, Appeared: &moved},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A silent hop is told on the link across it, balanced routers are links of their own, and between two such hops it is not sure which leads to which. What a
// router tells of its interfaces makes it one; what one trace has twice is not one.
func TestGraphOfWhatIsNotPlain(t *testing.T) {
	told := tracedPair("a", "b", hopsBy("10.1.0.2", "", "10.1.2.2", "10.1.3.2"))
	for _, r := range told.Traces {
		r.Samples.Hops[0].Interfaces = []measure.HopPort{{Role: "arrived by", Address: "10.1.0.2"}, {Role: "would leave by", Address: "192.0.2.1"}, {Role: "next hop", Address: "10.1.1.2"}}
	}
	balanced := tracedPair("c", "d", [][]string{{"10.2.0.2"}, {"l", "r"}, {"l2", "r2"}, {"10.2.9.2"}})
	loop := tracedPair("e", "f", hopsBy("10.3.0.2", "10.3.1.2", "10.3.1.1", "10.3.9.2"))
	beside := tracedPair("i", "j", hopsBy("10.4.0.2", "10.1.3.3")) // the next address of b's network
	got := GraphOf([]TracedPair{told, balanced, loop, beside, {Source: "g", Target: "h", Course: CourseOf(nil)}})
	links := map[string]GraphLink{}
	name := func(n GraphNode) string { return append([]string{n.Host}, n.Addresses...)[min(1, len(n.Addresses))] }
	for _, l := range got.Links {
		links[name(got.Nodes[l.From])+" "+name(got.Nodes[l.To])] = l
	}
	for between, want := range map[string]GraphLink{
		"10.1.0.2 10.1.2.2": {Pairs: 1, Sure: true, Silent: 1},
		"10.2.0.2 l":        {Pairs: 1, Sure: true},
		"l l2":              {Pairs: 1},
		"l r2":              {Pairs: 1},
		"10.3.0.2 10.3.1.2": {Pairs: 1, Sure: true},
		"10.3.1.1 10.3.1.2": {Pairs: 1, Sure: true},
		"10.1.3.3 10.4.0.2": {Pairs: 1, Sure: true},
		"10.1.3.2 10.1.2.2": {Pairs: 1, Sure: true},
	} {
		l := links[between]
		l.From, l.To = 0, 0
		if diff := cmp.Diff(want, l); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%+v", between, diff, got)
		}
	}
	for _, n := range got.Nodes {
		if len(n.Addresses) > 0 && n.Addresses[0] == "10.1.0.2" && !cmp.Equal(n.Addresses, []string{"10.1.0.2", "192.0.2.1"}) {
			t.Errorf("a router that tells its interfaces has %q", n.Addresses)
		}
	}
}

// A router that tells of addresses as its own is neither a host of the mesh nor another router on its way for that.
func TestGraphBelievesNoClaim(t *testing.T) {
	routes := func(claims ...string) []TracedPair {
		liar := tracedPair("a", "b", hopsBy("10.1.0.2", "10.1.2.2", "10.1.5.2", "10.1.9.2"))
		for _, r := range liar.Traces {
			for _, address := range claims {
				r.Samples.Hops[0].Interfaces = append(r.Samples.Hops[0].Interfaces, measure.HopPort{Role: "would leave by", Address: address})
			}
		}
		return []TracedPair{liar, tracedPair("c", "d", hopsBy("10.2.0.2", "10.2.9.2"))}
	}
	if diff := cmp.Diff(GraphOf(routes()), GraphOf(routes("10.1.9.2", "10.2.9.2", "10.1.5.2"))); diff != "" {
		t.Errorf("claims of b, d and a router of the same way (-without +with):\n%s", diff)
	}
}
