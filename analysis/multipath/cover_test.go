package multipath

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The flows of a cover pass every vertex and every certain link of random topologies, and are no more than there are links; a limit holds.
func TestCover(t *testing.T) {
	for seed := range uint64(100) {
		n := randomNetwork(rand.New(rand.NewPCG(seed, 5)), 16, false, seed%2 == 0, seed%3 == 0)
		s, err := New(Config{Seed: seed, MaxProbes: 50000})
		if err != nil {
			t.Fatal(err)
		}
		for batch := s.Next(); len(batch) > 0; batch = s.Next() {
			for _, p := range batch {
				s.Tell(p, n.answer(p))
			}
		}
		g := s.Graph()
		flows, all := s.Cover(1000)
		seen := map[passed]bool{}
		for _, f := range flows {
			for _, p := range s.passes(f) {
				seen[p] = true
			}
		}
		links := 0
		for _, v := range g.Vertices {
			if !v.Silent() && !seen[passed{ttl: v.TTL, to: v.Address}] {
				t.Errorf("seed %d: no flow of %v passes %v", seed, flows, v)
			}
		}
		for _, l := range g.Links {
			from, to := g.Vertices[l.From], g.Vertices[l.To]
			if from.Silent() || to.Silent() {
				continue
			}
			links++
			if !seen[passed{to.TTL, from.Address, to.Address}] {
				t.Errorf("seed %d: no flow of %v passes %v to %v", seed, flows, from, to)
			}
		}
		if !all || len(flows) > max(1, links+len(g.Vertices)) {
			t.Errorf("seed %d: %d flows cover %d links, all %v", seed, len(flows), links, all)
		}
		if few, all := s.Cover(1); len(few) != 1 || all != (len(flows) == 1) {
			t.Errorf("seed %d: at most one flow: %v, all %v", seed, few, all)
		}
	}
	silent, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	flows, all := silent.Cover(4)
	if diff := cmp.Diff([]int{0}, flows); diff != "" || !all {
		t.Errorf("of nothing: all %v (-want +got)\n%s", all, diff)
	}
}
