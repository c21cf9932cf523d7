package schedule

import "fmt"

// openings says which edges of a class may have which positions of a cycle: those that have a place in time, at hours
// at which the edge is open. Edges that the same closures concern share a row.
type openings struct {
	of   []int32  // of each edge: its row
	rows [][]bool // by position
	many []int    // of each row: positions that are open
}

// openings is nil if each edge may have each position.
func (p *Planner) openings(c *class, times []int64) *openings {
	all := true
	for _, at := range times {
		all = all && at != never
	}
	for _, e := range c.graph.edges {
		all = all && !p.closures.concern(e)
	}
	if all {
		return nil
	}
	o := &openings{of: make([]int32, len(c.graph.edges))}
	row := map[string]int32{}
	for e, pair := range c.graph.edges {
		i := c.edgeTest(e)
		key := ""
		if p.closures.concern(pair) {
			key = fmt.Sprint(i, p.closures.matching(c.tests[i], pair))
		}
		n, known := row[key]
		if !known {
			n = int32(len(o.rows))
			row[key] = n
			open, many := make([]bool, len(times)), 0
			for j, at := range times {
				if open[j] = p.openAt(c, e, at); open[j] {
					many++
				}
			}
			o.rows, o.many = append(o.rows, open), append(o.many, many)
		}
		o.of[e] = n
	}
	return o
}

// at says whether the edge may have the position.
func (o *openings) at(e, position int) bool { return o.rows[o.of[e]][position] }

// ever says whether the edge may have any position.
func (o *openings) ever(e int) bool { return o.many[o.of[e]] > 0 }

// tooFew says whether some vertex has more edges than positions that are open to any of them.
func (o *openings) tooFew(g *graph, original []int32) bool {
	degree, most := make([]int, g.vertices), make([]int, g.vertices)
	for e, p := range g.edges {
		for _, v := range [2]int32{p.Source, p.Target} {
			degree[v]++
			most[v] = max(most[v], o.many[o.of[original[e]]])
		}
	}
	for v := range degree {
		if degree[v] > most[v] {
			return true
		}
	}
	return false
}
