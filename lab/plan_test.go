package lab

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanAddresses(t *testing.T) {
	p := NewPlan(mustParse(t, bobAndCarol))
	got := map[string][]string{}
	for _, n := range p.Nodes {
		for _, id := range n.Interfaces {
			got[n.Name] = append(got[n.Name], p.Interfaces[id].Address.String())
		}
	}
	want := map[string][]string{
		"bob": {"10.0.0.1"}, "denver": {"10.0.0.2", "10.0.1.1"}, "chicago": {"10.0.1.2", "10.0.2.1"}, "carol": {"10.0.2.2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

// A square with a tail: the shorter way round is taken, the earlier link wins a tie, and hosts do not forward.
func TestPlanRoutes(t *testing.T) {
	p := NewPlan(mustParse(t, `
hosts: {a: {}, b: {}, between: {}}
routers: [r1, r2, r3]
links:
  - {between: [a, r1]}
  - {between: [r1, r2]}
  - {between: [r1, r3]}
  - {between: [r2, b]}
  - {between: [r3, r2]}
  - {between: [a, between]}
  - {between: [between, b]}
`))
	node := func(name string) int { n, _ := p.NodeByName(name); return n }
	for _, c := range []struct {
		from, to string
		link     int // -1: none
	}{
		{"a", "b", 0}, {"r1", "b", 1}, {"r1", "r3", 2}, {"r3", "b", 4}, {"r3", "a", 2}, {"a", "between", 5}, {"r1", "between", 0},
	} {
		got := p.nextHop[node(c.from)][node(c.to)]
		if c.from == "r1" && c.to == "between" { // only hosts touch it, and they do not forward
			c.link = -1
		}
		if got < 0 && c.link < 0 {
			continue
		}
		if got/2 != c.link {
			t.Errorf("%s to %s leaves by direction %d, want link %d", c.from, c.to, got, c.link)
		}
	}
	if p.owner[netip.MustParseAddr("10.0.3.2")] != node("b") {
		t.Error("10.0.3.2 is not b's")
	}
}
