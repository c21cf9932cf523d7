package schedule

import "slices"

// none stands for no edge, no colour, no site.
const none = -1

// graph is what a colouring is made for: vertices (interfaces), edges (pairs that each need one round), and sites, of
// whose crossing edges only some may share a round.
type graph struct {
	vertices int
	edges    []Pair  // by vertex
	site     []int32 // of each vertex; none: its link is not limited
	atOnce   []int   // of each site: crossing edges in a round
}

// crossing returns the sites whose links an edge goes through: those in which it has one end.
func (g *graph) crossing(e Pair) (s, t int32) {
	if g.site == nil {
		return none, none
	}
	if s, t = g.site[e.Source], g.site[e.Target]; s == t {
		return none, none
	}
	return s, t
}

// rounds is the least number of rounds that a colouring can have.
func (g *graph) rounds() int {
	t := newTally(g)
	for _, e := range g.edges {
		t.add(e, 1)
	}
	return int(t.bound(func(sum, by int64) int64 { return (sum + by - 1) / by }))
}

// tally counts, by rounds or by time, what no plan can do without.
type tally struct {
	*graph
	busy     []int64 // of each vertex: its edges
	all      int64
	crossing []int64 // of each site: edges that cross its link
	touching []int64 // of each site: those, and edges within it
	between  int64   // edges that cross two links
}

func newTally(g *graph) *tally {
	return &tally{graph: g, busy: make([]int64, g.vertices), crossing: make([]int64, len(g.atOnce)),
		touching: make([]int64, len(g.atOnce))}
}

func (t *tally) add(e Pair, weight int64) {
	t.busy[e.Source] += weight
	t.busy[e.Target] += weight
	t.all += weight
	if t.site == nil {
		return
	}
	a, b := t.site[e.Source], t.site[e.Target]
	switch {
	case a == b && a != none:
		t.touching[a] += weight
		return
	case a != none && b != none:
		t.between += weight
	}
	for _, s := range [2]int32{a, b} {
		if s != none {
			t.crossing[s] += weight
			t.touching[s] += weight
		}
	}
}

// bound is the largest of: the busiest vertex; all edges over half the vertices in use, rounded down; for each site,
// what crosses its link over what that lets through, and what touches it over what it can do at a time; what crosses
// two links over half of what all links let through.
func (t *tally) bound(divide func(sum, by int64) int64) int64 {
	most := slices.Max(append(t.busy, 0))
	inUse, inSite := int64(0), make([]int64, len(t.atOnce))
	for v, n := range t.busy {
		if n == 0 {
			continue
		}
		inUse++
		if t.site != nil && t.site[v] != none {
			inSite[t.site[v]]++
		}
	}
	if inUse > 1 {
		most = max(most, divide(t.all, inUse/2))
	}
	through := int64(0)
	for s, atOnce := range t.atOnce {
		limit := min(int64(atOnce), inSite[s])
		through += limit
		if limit > 0 {
			most = max(most, divide(t.crossing[s], limit), divide(t.touching[s], limit+(inSite[s]-limit)/2))
		}
	}
	if t.between > 0 && through > 1 {
		most = max(most, divide(t.between, through/2))
	}
	return most
}
