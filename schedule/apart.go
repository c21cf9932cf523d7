package schedule

import (
	"math/rand/v2"
	"slices"
)

// setApart swaps rounds of a class, so that no pair is in two rounds that follow each other: neither its other
// direction nor another tool shall find the path as the first one left it.
func (p *Planner) setApart(c *component, places []position, content [][]edge, random *rand.Rand) {
	mates := newMates(len(p.mesh.Interfaces))
	meets := func(i, j int) bool {
		return i >= 0 && j >= 0 && i < len(places) && j < len(places) &&
			mates.meet(content[i], content[j])
	}
	fits := func(i int) bool {
		class := c.classes[places[i].class]
		return !slices.ContainsFunc(content[i], func(e edge) bool {
			return p.closures.concern(e.Pair) && !p.openAt(class, int(e.number), places[i].start)
		})
	}
	around := func(i, j int) (n int) { // neighbours that meet, where a swap of i and j changes that
		for _, k := range [4]int{i, i + 1, j, j + 1} {
			if meets(k-1, k) {
				n++
			}
		}
		return n
	}
	swap := func(i, j int) { // unless more would meet then
		before := around(i, j)
		content[i], content[j] = content[j], content[i]
		if around(i, j) > before || !fits(i) || !fits(j) {
			content[i], content[j] = content[j], content[i]
		}
	}
	for left, pass := 1, 0; left > 0 && pass < apartPasses; pass++ {
		left = 0
		for i := 1; i < len(places); i++ {
			for try := 0; try < apartTries && meets(i-1, i); try++ {
				j := random.IntN(len(places))
				if j != i && places[j].class == places[i].class && places[j].cycle == places[i].cycle {
					swap(i, j)
				}
				left++
			}
		}
	}
}

// Limits of the search. The first pass parts nearly all, and later ones the rest in meshes of some size; in very small
// ones some must meet.
const (
	apartPasses = 10
	apartTries  = 30
)

// mates tells whether two rounds have a pair in common, in either direction.
type mates struct {
	of    []int32 // of each interface: its partner in the first round
	stamp []int32 // the comparison in which that was
	now   int32
}

func newMates(n int) *mates { return &mates{of: make([]int32, n), stamp: make([]int32, n)} }

func (m *mates) meet(round, other []edge) bool {
	m.now++
	for _, e := range round {
		m.of[e.Source], m.of[e.Target] = e.Target, e.Source
		m.stamp[e.Source], m.stamp[e.Target] = m.now, m.now
	}
	for _, e := range other {
		if m.stamp[e.Source] == m.now && m.of[e.Source] == e.Target {
			return true
		}
	}
	return false
}
