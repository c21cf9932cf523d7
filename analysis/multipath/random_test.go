package multipath

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// topologies is how many of each sort are played; PATHWISE_SWEEPS=all plays many.
func topologies() int {
	if os.Getenv("PATHWISE_SWEEPS") == "all" {
		return 2000
	}
	return 200
}

// Of random topologies with up to 16 parallel paths, all paths are found in at least 95 %, and never one that does not exist.
func TestRandomTopologies(t *testing.T) {
	for i, c := range []struct {
		name             string
		silents, lengths bool
		loss             float64
	}{
		{name: "by flow"},
		{name: "silent hops", silents: true},
		{name: "branches of different lengths", lengths: true},
		{name: "1 % of the answers lost", loss: 0.01},
	} {
		played, whole, probes, most := 0, 0, 0, 0
		for seed := range uint64(topologies()) {
			r := rand.New(rand.NewPCG(seed, 1))
			if i > 0 && seed >= uint64(topologies()/4) {
				break
			}
			played++
			n := randomNetwork(r, 16, false, c.silents, c.lengths)
			n.loss = c.loss
			g := n.search(t, Config{Seed: seed, MaxProbes: 50000})
			want, got := n.paths(), found(g)
			if slices.Equal(want, got) {
				whole++
			}
			for _, p := range got {
				if !slices.Contains(want, p) {
					t.Errorf("%s, seed %d: no such path: %s\nof %q", c.name, seed, p, want)
				}
			}
			if !g.Complete || g.Confidence < 0.9499 {
				t.Errorf("%s, seed %d: complete %v, confidence %v", c.name, seed, g.Complete, g.Confidence)
			}
			probes += n.probes
			most = max(most, n.probes)
		}
		t.Logf("%s: all paths in %d of %d, %d probes in the mean, %d at most", c.name, whole, played, probes/played, most)
		if whole*100 < played*95 {
			t.Errorf("%s: all paths were found in %d of %d, want 95 %%", c.name, whole, played)
		}
	}
}

// Where routers balance by packet, all links are in the graph, and those that are said to be certain exist.
func TestRandomTopologiesByPacket(t *testing.T) {
	played, whole, probes, kinds := topologies()/2, 0, 0, 0
	for seed := range uint64(played) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := randomNetwork(r, 16, true, false, false)
		g := n.search(t, Config{Seed: seed, Batch: 1000})
		want := n.links()
		got := map[string]bool{}
		for _, l := range g.Links {
			from, to := g.Vertices[l.From], g.Vertices[l.To]
			link := fmt.Sprintf("%d %s-%s", from.TTL, name(from.Address), name(to.Address))
			got[link] = true
			if l.Certain && !want[link] {
				t.Errorf("seed %d: no such link: %s", seed, link)
			}
		}
		missing := 0
		for link := range want {
			if !got[link] {
				missing++
			}
		}
		if missing == 0 {
			whole++
		}
		right := 0
		for _, v := range g.Vertices {
			for i, router := range n.routers {
				if address(i) == v.Address && v.Balancing != Single && (v.Balancing == PerPacket) != router.packet {
					right = 1
				}
			}
		}
		kinds += right
		probes += n.probes
	}
	t.Logf("all links in %d of %d, %d probes in the mean; %d with a balancer of the wrong kind", whole, played, probes/played, kinds)
	if whole*100 < played*95 {
		t.Errorf("all links were found in %d of %d, want 95 %%", whole, played)
	}
	if kinds > 0 {
		t.Errorf("in %d topologies a balancer is said to be of the wrong kind", kinds)
	}
}
