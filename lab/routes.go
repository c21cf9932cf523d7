package lab

import "slices"

// routes says by which directions a node reaches another: [node][target] -> the first hops of all shortest ways, in the
// file's order; empty where there is no way.
type routes [][][]int

// newRoutes finds the ways over the fewest links, but not over a link that avoid names; hosts do not forward. What the
// file's routes say goes before.
func newRoutes(p *Plan, overrides []Route, avoid func(direction int) bool) routes {
	r := make(routes, len(p.Nodes))
	for n := range p.Nodes {
		r[n] = waysFrom(p, n, avoid)
	}
	for _, o := range overrides {
		r.override(p, o)
	}
	return r
}

// override makes a route of the file's the only way from its node to its target.
func (r routes) override(p *Plan, o Route) {
	at, _ := p.NodeByName(o.At)
	to, _ := p.NodeByName(o.To)
	via, _ := p.NodeByName(o.Via)
	links, reversed := p.LinksBetween(at, via)
	k := max(0, o.Link-1)
	if k >= len(links) {
		return // Validate has seen to it that this does not happen
	}
	direction := 2 * links[k]
	if reversed[k] {
		direction++
	}
	r[at][to] = []int{direction}
}

// waysFrom walks outwards from a node, nearest first, and hands each node's first hops on to those behind it.
func waysFrom(p *Plan, from int, avoid func(direction int) bool) [][]int {
	ways := make([][]int, len(p.Nodes))
	distance := slices.Repeat([]int{-1}, len(p.Nodes))
	distance[from] = 0
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at != from && !p.Nodes[at].Router {
			continue
		}
		for _, i := range p.Nodes[at].Interfaces {
			leaves := p.Interfaces[i].Leaves
			if avoid != nil && avoid(leaves) {
				continue
			}
			next := p.Interfaces[p.Interfaces[i].Peer].Node
			if distance[next] < 0 {
				distance[next] = distance[at] + 1
				queue = append(queue, next)
			}
			if distance[next] != distance[at]+1 {
				continue
			}
			first := ways[at]
			if at == from {
				first = []int{leaves}
			}
			for _, d := range first {
				if !slices.Contains(ways[next], d) {
					ways[next] = append(ways[next], d)
				}
			}
		}
	}
	ways[from] = nil
	return ways
}
