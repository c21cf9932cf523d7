package schedule

// fits says whether an edge can have the colour as things are.
func (c *colouring) fits(e, colour int) bool {
	p := c.edges[e]
	if c.closed != nil && c.closed(e, colour) || c.has(int(p.Source), colour) || c.has(int(p.Target), colour) {
		return false
	}
	s, t := c.crossing(p)
	return (s == none || c.count[int(s)*c.colours+colour] < int32(c.atOnce[s])) &&
		(t == none || c.count[int(t)*c.colours+colour] < int32(c.atOnce[t]))
}

// lowest is the first word that may hold a colour free at all that the edge needs. Sets only ever get emptier again in
// unset, which lowers it.
func (c *colouring) lowest(p Pair, s, t int32) (w int) {
	for _, v := range [2]int32{p.Source, p.Target} {
		w = max(w, advance(&c.low[v], c.row(c.used, int(v))))
	}
	for _, site := range [2]int32{s, t} {
		if site != none {
			w = max(w, advance(&c.low[c.vertices+int(site)], c.row(c.full, int(site))))
		}
	}
	if s != none && t != none {
		w = max(w, int(c.gates[gateOf(s, t)]))
	}
	return w
}

// advance moves low on to the first word of a bit set that is not full.
func advance(low *int32, set []uint64) int {
	for int(*low) < len(set) && set[*low] == ^uint64(0) {
		*low++
	}
	return int(*low)
}

func (c *colouring) row(sets []uint64, i int) []uint64 { return sets[i*c.words : (i+1)*c.words] }

// has says whether a vertex has the colour.
func (c *colouring) has(v, colour int) bool {
	return c.used[v*c.words+colour/64]&(1<<(colour%64)) != 0
}

// other is the far end of an edge.
func (c *colouring) other(e, v int) int {
	p := c.edges[e]
	return int(p.Source) + int(p.Target) - v
}

// set gives an edge without colour one that fits.
func (c *colouring) set(e, colour int) {
	p := c.edges[e]
	c.colour[e] = int32(colour)
	w, bit := colour/64, uint64(1)<<(colour%64)
	for _, v := range [2]int32{p.Source, p.Target} {
		c.used[int(v)*c.words+w] |= bit
		c.at.set(int(v), colour, int32(e))
	}
	s, t := c.crossing(p)
	for _, site := range [2]int32{s, t} {
		if site == none {
			continue
		}
		n := &c.count[int(site)*c.colours+colour]
		if *n++; *n == int32(c.atOnce[site]) {
			c.full[int(site)*c.words+w] |= bit
		}
	}
}

// unset takes an edge's colour.
func (c *colouring) unset(e int) {
	p, colour := c.edges[e], int(c.colour[e])
	c.colour[e] = none
	w, bit := colour/64, uint64(1)<<(colour%64)
	for _, v := range [2]int32{p.Source, p.Target} {
		c.used[int(v)*c.words+w] &^= bit
		c.at.set(int(v), colour, none)
		c.low[v] = min(c.low[v], int32(w))
	}
	s, t := c.crossing(p)
	for _, site := range [2]int32{s, t} {
		if site == none {
			continue
		}
		c.count[int(site)*c.colours+colour]--
		c.full[int(site)*c.words+w] &^= bit
		c.low[c.vertices+int(site)] = min(c.low[c.vertices+int(site)], int32(w))
		for other := range int32(len(c.atOnce)) {
			g := &c.gates[gateOf(site, other)]
			*g = min(*g, int32(w))
		}
	}
}

// edgeAt finds the edge of a colour at a vertex: in a table, or in a map where most of a table would be empty.
type edgeAt struct {
	colours int
	table   []int32 // edge + 1
	sparse  map[uint64]int32
}

// maxTable keeps the table below 128 MB: a mesh of 1,000 hosts needs 8.
const maxTable = 32 << 20

func newEdgeAt(vertices, colours int) edgeAt {
	if vertices*colours > maxTable {
		return edgeAt{colours: colours, sparse: map[uint64]int32{}}
	}
	return edgeAt{colours: colours, table: make([]int32, vertices*colours)}
}

func (a *edgeAt) get(v, colour int) int32 {
	if a.sparse != nil {
		return a.sparse[uint64(v)*uint64(a.colours)+uint64(colour)] - 1
	}
	return a.table[v*a.colours+colour] - 1
}

func (a *edgeAt) set(v, colour int, e int32) {
	if a.sparse == nil {
		a.table[v*a.colours+colour] = e + 1
		return
	}
	key := uint64(v)*uint64(a.colours) + uint64(colour)
	if e == none {
		delete(a.sparse, key)
	} else {
		a.sparse[key] = e + 1
	}
}

// swap exchanges the edges of two colours at a vertex.
func (a *edgeAt) swap(v, one, other int) {
	if a.sparse == nil {
		i, j := v*a.colours+one, v*a.colours+other
		a.table[i], a.table[j] = a.table[j], a.table[i]
		return
	}
	e, f := a.get(v, one), a.get(v, other)
	a.set(v, one, f)
	a.set(v, other, e)
}
