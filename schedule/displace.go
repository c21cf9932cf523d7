package schedule

import "math/bits"

// settle displaces edges until all are coloured or its steps are used up.
func (c *colouring) settle(left []int) int {
	most := min(displaceMost, displaceSteps*(len(left)+20))
	if c.hasty {
		most = len(left)
	}
	for ; len(left) > 0 && c.steps < most; c.steps++ {
		i := c.random.IntN(len(left))
		e := left[i]
		left[i] = left[len(left)-1]
		left = left[:len(left)-1]
		if !c.greedy(e) && !c.alternate(e) {
			left = c.displace(e, left)
		}
	}
	return len(left)
}

// displace gives edge e a colour that is free at one of its ends, takes it from the edge that has it at the other, and
// from crossing edges where a site has no room, and returns left with those.
func (c *colouring) displace(e int, left []int) []int {
	p := c.edges[e]
	colour := c.cheapest(e)
	if colour == none {
		return append(left, e)
	}
	for _, v := range []int32{p.Source, p.Target} {
		if other := c.at.get(int(v), colour); other != none {
			c.unset(int(other))
			left = append(left, int(other))
		}
	}
	s, t := c.crossing(p)
	for _, site := range []int32{s, t} {
		if site != none && c.count[int(site)*c.colours+colour] >= int32(c.atOnce[site]) {
			other := c.someCrossing(site, colour)
			c.unset(other)
			left = append(left, other)
		}
	}
	c.set(e, colour)
	return left
}

// cheapest returns a random colour for edge e of those that only one other edge would have to give up for it; if there is none such,
// one that several would have to. none: no colour may ever be e's.
func (c *colouring) cheapest(e int) int {
	p := c.edges[e]
	s, t := c.crossing(p)
	var sets [4][]uint64
	sets[0], sets[1] = c.row(c.used, int(p.Source)), c.row(c.used, int(p.Target))
	n := 2
	for _, site := range [2]int32{s, t} {
		if site != none {
			sets[n] = c.row(c.full, int(site))
			n++
		}
	}
	if c.random.IntN(displaceShake) == 0 {
		return c.pick(e, c.random.IntN(c.words), ^uint64(0))
	}
	second := none
	begin := c.random.IntN(c.words)
	for i := range c.words {
		w := begin + i
		if w >= c.words {
			w -= c.words
		}
		var one, two uint64 // bits that at least one, at least two of the sets have
		for _, set := range sets[:n] {
			two |= one & set[w]
			one |= set[w]
		}
		if colour := c.pick(e, w, ^two); colour != none {
			return colour
		}
		if second == none {
			second = c.pick(e, w, ^uint64(0))
		}
	}
	return second
}

// pick is a random one of the colours of a word that are open to edge e.
func (c *colouring) pick(e, w int, free uint64) int {
	for free != 0 {
		bit := free
		for range c.random.IntN(bits.OnesCount64(free)) {
			bit &= bit - 1
		}
		if colour := w*64 + bits.TrailingZeros64(bit); c.open(e, colour) {
			return colour
		}
		free &^= bit & -bit
	}
	return none
}

// open says whether edge e may ever have the colour.
func (c *colouring) open(e, colour int) bool {
	return colour < c.colours && (c.closed == nil || !c.closed(e, colour))
}

// someCrossing is an edge of the colour that crosses the site's link. There is one.
func (c *colouring) someCrossing(site int32, colour int) int {
	for i, skip := 0, c.random.IntN(c.vertices); ; i++ {
		v := (i + skip) % c.vertices
		if c.site[v] != site {
			continue
		}
		if e := c.at.get(v, colour); e != none {
			if s, t := c.crossing(c.edges[e]); s == site || t == site {
				return int(e)
			}
		}
	}
}
