package schedule

import (
	"math/bits"
	"math/rand/v2"
)

// colouring gives each edge a colour, that is a round, such that no two edges of a colour share a vertex and no site
// has more crossing edges of a colour than it lets through.
//
//	greedy     edges in random order, each the lowest colour that is free at both ends
//	alternate  where no colour is: flip a path of two colours (Kempe 1879) so that one becomes free
//	displace   where that fails, too: take a colour from another edge, and go on with that one (Dinitz and Stinson 1987)
//
// What is left in the end has colour none.
type colouring struct {
	*graph
	colours int
	colour  []int32             // of each edge
	closed  func(e, c int) bool // whether edge e may not have colour c; nil: each may have each
	random  *rand.Rand

	words int
	used  []uint64 // bit set of each vertex: colours that it has
	full  []uint64 // bit set of each site: colours with as many crossing edges as it lets through
	count []int32  // of each site and colour: crossing edges
	low   []int32  // of each vertex, then of each site: the first word of its bit set that is not full
	gates []int32  // of each pair of sites: the first word with a colour that both let through
	at    edgeAt
	path  []int32 // edges of the path that is looked at
	along []int32 // its vertices
	steps int     // edges displaced
	hasty bool    // gives up soon: there are too few colours
}

// Limits of the search, found by trying: beyond them, meshes of all sizes gained nothing.
const (
	alternateTries = 12      // pairs of colours that are tried for one edge
	displaceSteps  = 200     // edges displaced for each one that is left, on average
	displaceMost   = 300_000 // and in all: less than a second
	displaceShake  = 16      // one in so many takes any colour: always the cheapest one runs in circles
)

func newColouring(g *graph, colours int, closed func(e, c int) bool, random *rand.Rand) *colouring {
	words := (colours + 63) / 64
	c := &colouring{
		graph: g, colours: colours, colour: make([]int32, len(g.edges)), closed: closed, random: random,
		words: words, used: make([]uint64, g.vertices*words), full: make([]uint64, len(g.atOnce)*words),
		count: make([]int32, len(g.atOnce)*colours), low: make([]int32, g.vertices+len(g.atOnce)),
		gates: make([]int32, len(g.atOnce)*(len(g.atOnce)+1)/2), at: newEdgeAt(g.vertices, colours),
	}
	for i := range c.colour {
		c.colour[i] = none
	}
	if tail := colours % 64; tail != 0 { // bits beyond the last colour are never free
		for v := range g.vertices {
			c.used[(v+1)*words-1] = ^uint64(0) << tail
		}
	}
	return c
}

// run colours all edges that it can and returns how many it could not.
func (c *colouring) run() int {
	order := c.random.Perm(len(c.edges))
	var left []int
	for _, e := range order {
		if !c.greedy(e) && !c.alternate(e) {
			left = append(left, e)
		}
	}
	return c.settle(left)
}

// greedy gives the edge the lowest colour that is free all along it.
func (c *colouring) greedy(e int) bool {
	p := c.edges[e]
	s, t := c.crossing(p)
	u, v := int(p.Source)*c.words, int(p.Target)*c.words
	gate := true // no word so far had a colour that both sites let through
	for w := c.lowest(p, s, t); w < c.words; w++ {
		var full uint64
		if s != none {
			full = c.full[int(s)*c.words+w]
		}
		if t != none {
			full |= c.full[int(t)*c.words+w]
		}
		if full == ^uint64(0) {
			continue
		}
		if gate && s != none && t != none {
			c.gates[gateOf(s, t)] = int32(w)
		}
		gate = false
		for free := ^(c.used[u+w] | c.used[v+w] | full); free != 0; free &= free - 1 {
			if colour := w*64 + bits.TrailingZeros64(free); c.closed == nil || !c.closed(e, colour) {
				c.set(e, colour)
				return true
			}
		}
	}
	if gate && s != none && t != none {
		c.gates[gateOf(s, t)] = int32(c.words)
	}
	return false
}

// gateOf numbers pairs of sites.
func gateOf(s, t int32) int { s, t = min(s, t), max(s, t); return int(t)*(int(t)+1)/2 + int(s) }

// alternate frees a colour for edge u-v: with a free at u and b free at v, it swaps a and b along the path that begins
// at v, unless that ends at u.
func (c *colouring) alternate(e int) bool {
	p := c.edges[e]
	if s, t := c.crossing(p); s != none || t != none {
		return false // a path frees nothing at a site
	}
	u, v := int(p.Source), int(p.Target)
	for range alternateTries {
		a, b := c.freeAt(u), c.freeAt(v)
		if a == none || b == none {
			return false
		}
		if c.flip(v, u, a, b) && c.fits(e, a) {
			c.set(e, a)
			return true
		}
	}
	return false
}

// flip swaps colours a and b along the path that leaves v by a, unless it ends at stop or a swap is not allowed.
func (c *colouring) flip(v, stop, a, b int) bool {
	c.path, c.along = c.path[:0], append(c.along[:0], int32(v))
	for from, to := a, b; ; from, to = to, from {
		e := c.at.get(v, from)
		if e == none {
			break
		}
		if c.closed != nil && c.closed(int(e), to) {
			return false
		}
		v = c.other(int(e), v)
		c.path, c.along = append(c.path, e), append(c.along, int32(v))
	}
	if v == stop || c.site != nil && !c.pathFits(a, b) {
		return false
	}
	if c.site == nil {
		c.swap(a, b)
		return true
	}
	for _, e := range c.path {
		c.unset(int(e))
	}
	for i, e := range c.path {
		c.set(int(e), [2]int{b, a}[i%2])
	}
	return true
}

// swap does what unset and set would, where no site counts: vertices inside the path keep both colours.
func (c *colouring) swap(a, b int) {
	for i, e := range c.path {
		c.colour[e] = int32([2]int{b, a}[i%2])
	}
	for _, v := range c.along {
		c.at.swap(int(v), a, b)
	}
	for _, v := range [2]int32{c.along[0], c.along[len(c.along)-1]} {
		row := c.row(c.used, int(v))
		row[a/64] ^= 1 << (a % 64)
		row[b/64] ^= 1 << (b % 64)
		c.low[v] = min(c.low[v], int32(min(a, b)/64))
	}
}

// pathFits says whether each site still lets through what crosses it when a and b are swapped along the path.
func (c *colouring) pathFits(a, b int) bool {
	change := map[int32]int32{}
	for i, e := range c.path {
		by := int32(1 - 2*(i%2)) // edges of a, now b: the first and each second after it
		s, t := c.crossing(c.edges[e])
		change[s] += by
		change[t] += by
	}
	for s, by := range change {
		if s == none {
			continue
		}
		limit, at := int32(c.atOnce[s]), int(s)*c.colours
		if by > 0 && c.count[at+b]+by > limit || by < 0 && c.count[at+a]-by > limit {
			return false
		}
	}
	return true
}

// freeAt is a colour that is free at the vertex, the first after a random one; none where none is.
func (c *colouring) freeAt(v int) int {
	begin := c.random.IntN(c.words)
	for i := range c.words {
		w := begin + i
		if w >= c.words {
			w -= c.words
		}
		if free := ^c.used[v*c.words+w]; free != 0 {
			for range c.random.IntN(bits.OnesCount64(free)) {
				free &= free - 1
			}
			return w*64 + bits.TrailingZeros64(free)
		}
	}
	return none
}
