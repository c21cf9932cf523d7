package multipath

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
)

// Balancing is how a vertex spreads what it forwards.
type Balancing string

const (
	Single    Balancing = ""       // one next hop was found, or none
	PerFlow   Balancing = "flow"   // packets of a flow go the same way
	PerPacket Balancing = "packet" // they do not
)

// Vertex is an interface that answers at a hop. A hop that does not answer is a vertex of each vertex before it, since nothing tells whether they share it.
type Vertex struct {
	TTL       int        `json:"ttl"`
	Address   netip.Addr `json:"address"` // the zero Addr: it does not answer
	Final     bool       `json:"final,omitempty"`
	Balancing Balancing  `json:"balancing,omitempty"`
	Flows     int        `json:"flows"` // that were seen here
}

// Silent says that nothing answered there.
func (v Vertex) Silent() bool { return !v.Address.IsValid() }

// Link is a way from one vertex to one of the next hop.
type Link struct {
	From int `json:"from"` // indices of Graph.Vertices
	To   int `json:"to"`
	// Certain is false where balancing by packet hides which of several vertices leads to which: the link may or may not exist.
	Certain bool `json:"certain"`
	// Translated says that addresses or ports of packets changed on the way from one to the other: see Answer.Shift.
	Translated bool `json:"translated,omitempty"`
}

// Graph is what was found. Vertices are in the order of their hops.
type Graph struct {
	Vertices []Vertex `json:"vertices"`
	Links    []Link   `json:"links"`
	// Confidence is the probability that no path is missing, if every router spreads evenly over its next hops.
	Confidence float64 `json:"confidence_ratio"`
	Complete   bool    `json:"complete"` // nothing was left to ask
	Probes     int     `json:"probes"`   // that were sent
	Flows      int     `json:"flows"`    // that they belonged to
}

// Graph is what is known so far.
func (s *Search) Graph() *Graph {
	a := s.analyse()
	g := &Graph{Complete: s.done && a.complete(), Probes: s.sent, Flows: s.flows}
	index := make([]int, len(a.places)) // of places that something leads to, in g.Vertices, from 1
	branching, certainty := 0, 1.0
	for i, p := range a.places {
		if p.ttl == 0 || !p.reached {
			continue
		}
		g.Vertices = append(g.Vertices, Vertex{TTL: p.ttl, Address: p.address, Final: p.final, Balancing: p.balancing, Flows: p.flows})
		index[i] = len(g.Vertices)
	}
	for _, l := range a.links {
		if from, to := index[l.From], index[l.To]; from > 0 && to > 0 {
			l.From, l.To = from-1, to-1
			g.Links = append(g.Links, l)
		}
	}
	slices.SortFunc(g.Links, func(a, b Link) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	for _, n := range a.nodes {
		if n.kind != Single {
			branching++
		}
		if n.open {
			certainty *= 1 - missed(max(1, len(n.next)), n.probed)
		}
	}
	g.Confidence = certainty * math.Pow(1-s.rules.plain.fail, float64(max(branching, s.c.Balancers)))
	return g
}

// Reached says that a way was followed to its end.
func (g *Graph) Reached() bool {
	return slices.ContainsFunc(g.Vertices, func(v Vertex) bool { return v.Final })
}

// Paths are the ways over certain links from the first hop on, as indices of vertices; at most so many. A way over a possible link is none of them.
func (g *Graph) Paths(most int) (all [][]int) {
	next := make([][]int, len(g.Vertices))
	for _, l := range g.Links {
		if l.Certain {
			next[l.From] = append(next[l.From], l.To)
		}
	}
	var walk func(path []int)
	walk = func(path []int) {
		if len(all) == most {
			return
		}
		at := path[len(path)-1]
		if len(next[at]) == 0 {
			all = append(all, append([]int(nil), path...))
			return
		}
		for _, v := range next[at] {
			walk(append(path, v))
		}
	}
	for i, v := range g.Vertices {
		if v.TTL == 1 {
			walk([]int{i})
		}
	}
	return all
}
