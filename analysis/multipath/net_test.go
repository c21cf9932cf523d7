package multipath

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// router is one of a virtual network. It has no code in common with the search.
type router struct {
	next   []int // none: the destination
	packet bool  // it spreads packets, not flows
	inTurn bool  // packets one link after the other, not by chance
	silent bool
	turn   int
	shift  uint16 // what it, as an address translator, adds to the checksum of what it forwards
}

// network is routers; 0 is the first one, and the last one is the destination.
type network struct {
	routers []router
	rand    *rand.Rand
	seed    uint64
	loss    float64
	probes  int
	answers int // that the destination has left; 0: as many as are asked for
}

func address(router int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 0, byte(router >> 8), byte(router)})
}

// hash mixes bits as SplitMix64 does.
func hash(x uint64) int {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) >> 1)
}

func (n *network) answer(p Probe) Answer {
	n.probes++
	at, shift := 0, uint16(0)
	for ttl := p.TTL; ttl > 1 && len(n.routers[at].next) > 0; ttl-- {
		r := &n.routers[at]
		shift += r.shift
		way := 0
		switch {
		case r.packet && r.inTurn:
			r.turn++
			way = r.turn
		case r.packet:
			way = n.rand.IntN(len(r.next))
		default:
			way = hash(n.seed + uint64(at)<<32 + uint64(p.Flow))
		}
		at = r.next[way%len(r.next)]
	}
	if n.routers[at].silent || n.rand.Float64() < n.loss {
		return Answer{}
	}
	if last := len(n.routers[at].next) == 0; last && n.answers > 0 {
		if n.answers--; n.answers == 0 {
			n.answers = 1
			return Answer{}
		}
	}
	return Answer{Address: address(at), Final: len(n.routers[at].next) == 0, Shift: shift}
}

// search plays a search over the network, to its end.
func (n *network) search(t *testing.T, c Config) *Graph {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for rounds := 0; ; rounds++ {
		batch := s.Next()
		if len(batch) == 0 {
			break
		}
		for _, p := range batch {
			s.Tell(p, n.answer(p))
		}
		if rounds > 2000 {
			t.Fatalf("no end after %d rounds", rounds)
		}
	}
	return s.Graph()
}

func name(a netip.Addr) string {
	if !a.IsValid() {
		return "*"
	}
	return a.String()
}

func (n *network) name(router int) string {
	if n.routers[router].silent {
		return "*"
	}
	return address(router).String()
}

// paths are all that exist, by the addresses that answer.
func (n *network) paths() []string {
	set := map[string]bool{}
	var walk func(at int, path []string)
	walk = func(at int, path []string) {
		path = append(slices.Clone(path), n.name(at))
		if len(n.routers[at].next) == 0 {
			set[strings.Join(path, " ")] = true
		}
		for _, next := range n.routers[at].next {
			walk(next, path)
		}
	}
	walk(0, nil)
	return slices.Sorted(maps.Keys(set))
}

// links are all that exist, with the hop of their first end.
func (n *network) links() map[string]bool {
	set := map[string]bool{}
	var walk func(at, ttl int)
	walk = func(at, ttl int) {
		for _, next := range n.routers[at].next {
			set[fmt.Sprintf("%d %s-%s", ttl, n.name(at), n.name(next))] = true
			walk(next, ttl+1)
		}
	}
	walk(0, 1)
	return set
}

func found(g *Graph) []string {
	set := map[string]bool{}
	for _, path := range g.Paths(10000) {
		var names []string
		for _, v := range path {
			names = append(names, name(g.Vertices[v].Address))
		}
		set[strings.Join(names, " ")] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// randomNetwork has at most so many parallel paths: routers in a row, some of which open a diamond of branches that have a length each and may open another.
func randomNetwork(r *rand.Rand, most int, packets, silents, lengths bool) *network {
	for {
		n := &network{rand: r, seed: r.Uint64()}
		n.routers = []router{{}}
		ends := []int{0}
		grow := func(from []int) int {
			n.routers = append(n.routers, router{silent: silents && r.IntN(8) == 0})
			for _, f := range from {
				n.routers[f].next = append(n.routers[f].next, len(n.routers)-1)
			}
			return len(n.routers) - 1
		}
		for hops := 3 + r.IntN(10); hops > 0; hops-- {
			switch r.IntN(4) {
			case 0: // an end forks
				from := []int{ends[r.IntN(len(ends))]}
				for range 1 + r.IntN(most-1) {
					ends = append(ends, grow(from))
				}
				fallthrough
			case 1: // all go on for a hop; where lengths may differ, all but one
				for i := range ends {
					if !lengths || i > 0 || len(ends) == 1 {
						ends[i] = grow(ends[i : i+1])
					}
				}
			case 2: // some join
				k := 1 + r.IntN(len(ends))
				ends = append([]int{grow(ends[:k])}, ends[k:]...)
			case 3: // all join
				ends = []int{grow(ends)}
			}
		}
		last := grow(ends)
		n.routers[last].silent, n.routers[0].silent = false, false
		wide := false
		for i := range n.routers {
			if w := len(n.routers[i].next); w > 1 {
				wide = true
				n.routers[i].packet = packets && r.IntN(3) == 0
				n.routers[i].inTurn = r.IntN(2) == 0
			}
		}
		if len(n.paths()) <= most && wide && !n.deaf() {
			return n
		}
	}
}

// deaf says that hops in a row are silent for so long that a search gives up.
func (n *network) deaf() bool {
	return slices.ContainsFunc(n.paths(), func(p string) bool { return strings.Contains(p, "* * * *") })
}
