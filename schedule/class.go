package schedule

import (
	"math/rand/v2"
	"slices"
	"time"
)

// class is what takes part in one colouring: exclusive tests of one length and timing. Its cycle is a number of rounds;
// in a round all runs begin together.
type class struct {
	key    uint64 // names its random numbers
	tests  []int32
	first  []int // of each test: its first edge
	graph  graph
	test   []measured
	length time.Duration // of a round, with the guard
	least  int           // rounds that a cycle has at least
	rounds int           // positions of rounds that a cycle offers

	grid   grid
	next   func(time.Time) time.Time // as the test has it
	packed bool                      // rounds follow each other closely, instead of being spread over the period
	period time.Duration             // of cycles; of a grid without one, their shortest distance
	window time.Duration             // from the start of a cycle on, over which its rounds are spread

	colourings map[int64]*rounds // of the last cycles asked for
}

// measured is what a class needs to know of one of its tests.
type measured struct {
	duration time.Duration
	slot     time.Duration
}

// Spare positions take the rounds that a colouring needs beyond the bound: none, as a rule, and with sites that let few
// runs through less than one in 200.
const sparePart = 200

// closedRounds is how many times the positions may be that a class with closed hours is offered, so that what is closed
// at one has another: a pair that is open a quarter of the time finds as many as it needs.
const closedRounds = 4

// edgeTest is the index of the test that an edge of the class belongs to.
func (c *class) edgeTest(e int) int {
	i, found := slices.BinarySearch(c.first, e)
	if !found {
		i--
	}
	return i
}

func (c *class) need() time.Duration { return time.Duration(c.rounds) * c.length }

// stratum is the distance of positions.
func (c *class) stratum() float64 { return float64(c.window) / float64(c.rounds) }

// edge is an edge of a class by its number, with its pair at hand: rounds of a large mesh are read from end to end.
type edge struct {
	number int32
	Pair
}

// rounds is one cycle's colouring: the edges of each position.
type rounds struct {
	edges [][]edge // by position
	used  int      // positions that have any
	left  []int32  // edges for which none was found, though some are open to them
}

// colour makes the rounds of a cycle. done are edges that had their turn, nil for none; open says which edges may have
// which positions, nil if each may have each.
func (c *class) colour(seed uint64, number int64, done func(e int) bool, open *openings) *rounds {
	g := c.graph
	original := []int32(nil) // of each edge of g, its number in the class; nil: the same
	if done != nil || open != nil {
		g.edges = nil
		for e, p := range c.graph.edges {
			if (done == nil || !done(e)) && (open == nil || open.ever(e)) {
				g.edges, original = append(g.edges, p), append(original, int32(e))
			}
		}
	}
	random := rand.New(rand.NewPCG(combine(seed, c.key), uint64(number)))
	place := random.Perm(c.rounds) // where each colour is in the cycle
	var closed func(e, colour int) bool
	if open != nil {
		closed = func(e, colour int) bool { return !open.at(int(original[e]), place[colour]) }
	}
	tooFew := open != nil && open.tooFew(&g, original)
	return colourWithin(&g, c.rounds, tooFew, closed, random).gather(c.rounds, place, original)
}

// Work that a colouring may cost before one that leaves some edges is taken, in edges and steps: a few tenths of a
// second.
const searchEdges = 200_000

// colourWithin colours with as few colours as it can find in reasonable time, most at most. Where it is known that
// these are too few, it tries once.
func colourWithin(g *graph, most int, tooFew bool, closed func(e, c int) bool, random *rand.Rand) *colouring {
	var best *colouring
	colours := min(max(g.rounds(), 1), most)
	if closed != nil || g.site != nil && len(g.edges) > searchEdges/10 {
		colours = most // a search for the last round would take long
	}
	left, spent := -1, 0
	for left != 0 {
		c := newColouring(g, colours, closed, random)
		c.hasty = tooFew
		n := c.run()
		if left < 0 || n < left {
			best, left = c, n
		}
		spent += len(g.edges) + c.steps + 1
		if tooFew {
			break
		}
		if spent > searchEdges {
			if colours == most {
				break
			}
			colours, spent = most, 0
		}
	}
	return best
}

// gather sorts the edges into positions.
func (c *colouring) gather(positions int, place []int, original []int32) *rounds {
	sizes := make([]int, positions)
	for _, colour := range c.colour {
		if colour != none {
			sizes[place[colour]]++
		}
	}
	r := &rounds{edges: make([][]edge, positions)}
	all := make([]edge, len(c.colour))
	for i, n := range sizes {
		r.edges[i], all = all[:0:n], all[n:]
		if n > 0 {
			r.used++
		}
	}
	for e, colour := range c.colour {
		name := int32(e)
		if original != nil {
			name = original[e]
		}
		if colour != none {
			at := place[colour]
			r.edges[at] = append(r.edges[at], edge{name, c.edges[e]})
		} else {
			r.left = append(r.left, name)
		}
	}
	return r
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
