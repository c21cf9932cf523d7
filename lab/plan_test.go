package lab

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanAddresses(t *testing.T) {
	p := NewPlan(mustParse(t, bobAndCarol))
	got := map[string][]string{}
	for _, n := range p.Nodes {
		for _, id := range n.Interfaces {
			got[n.Name] = append(got[n.Name], p.Interfaces[id].Address.String(), p.Interfaces[id].Address6.String())
		}
	}
	want := map[string][]string{
		"bob":     {"10.0.0.1", "fd70:6174:6877::1"},
		"denver":  {"10.0.0.2", "fd70:6174:6877::2", "10.0.1.1", "fd70:6174:6877:1::1"},
		"chicago": {"10.0.1.2", "fd70:6174:6877:1::2", "10.0.2.1", "fd70:6174:6877:2::1"},
		"carol":   {"10.0.2.2", "fd70:6174:6877:2::2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

// A square with a tail: the shortest ways are found, all of them in the file's order, and hosts do not forward.
func TestRoutes(t *testing.T) {
	p := NewPlan(mustParse(t, `
hosts: {a: {}, b: {}, between: {}}
routers: [r1, r2, r3, r4]
links:
  - {between: [a, r1]}
  - {between: [r1, r2]}
  - {between: [r1, r3]}
  - {between: [r2, r4]}
  - {between: [r3, r4]}
  - {between: [r4, b]}
  - {between: [a, between]}
  - {between: [between, b]}
  - {between: [r4, b]}
`))
	node := func(name string) int { n, _ := p.NodeByName(name); return n }
	links := func(r routes, from, to string) []int {
		var got []int
		for _, d := range r[node(from)][node(to)] {
			got = append(got, d/2)
		}
		return got
	}
	plain := newRoutes(p, nil, nil)
	for _, c := range []struct {
		from, to string
		want     []int
	}{
		{"a", "b", []int{0}}, {"r1", "b", []int{1, 2}}, {"r2", "b", []int{3}}, {"r4", "b", []int{5, 8}}, {"r4", "a", []int{3, 4}},
		{"a", "between", []int{6}}, {"r1", "between", nil}, {"b", "b", nil},
	} {
		if got := links(plain, c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s to %s by links %v, want %v", c.from, c.to, got, c.want)
		}
	}
	withoutOne := newRoutes(p, nil, func(direction int) bool { return direction/2 == 1 })
	if got := links(withoutOne, "r1", "b"); !slices.Equal(got, []int{2}) {
		t.Errorf("round a link that is down: %v", got)
	}
	overridden := newRoutes(p, []Route{{At: "r4", To: "b", Via: "b", Link: 2}, {At: "r1", To: "b", Via: "r3"}}, nil)
	if got := append(links(overridden, "r4", "b"), links(overridden, "r1", "b")...); !slices.Equal(got, []int{8, 2}) {
		t.Errorf("with routes of the file: %v, want 8 and 2", got)
	}
	if p.owner[netip.MustParseAddr("10.0.5.2")] != node("b") || p.owner[netip.MustParseAddr("fd70:6174:6877:5::2")] != node("b") {
		t.Error("an address is not its node's")
	}
}
