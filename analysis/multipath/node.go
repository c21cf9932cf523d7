package multipath

import (
	"net/netip"
	"slices"
)

// place is a vertex in the making. Place 0 is the source.
type place struct {
	ttl       int
	address   netip.Addr // not valid: silent
	final     bool
	reached   bool // a link leads to it
	balancing Balancing
	flows     int
	answers   int
}

// node is what is probed as one: a place that flows pass for certain, or several between which balancing by packet tosses them about.
//
//	by flow:    a ── x        nodes a, x, y        by packet:    a ── x        nodes a and {x, y}
//	              └─ y                                             └─ y
type node struct {
	ttl     int
	places  []int
	flows   []int // that were seen here, ascending
	before  *node // of a silent node: the one whose next hop it is
	silents int   // silent hops in a row up to here

	kind   Balancing
	next   []int // places one hop on
	probed int   // probes that count for the stopping point
	open   bool  // something is left to ask
	rare   bool  // a place of it is passed too seldom to be sure where it leads
}

// tossed says that packets of one flow pass different places of it.
func (n *node) tossed() bool { return len(n.places) > 1 }

// analysis is all that follows from what was observed. It is made anew from the observations in each round.
type analysis struct {
	s        *Search
	places   []place
	nodes    []*node
	links    []Link // From and To are places
	linked   map[[2]int]int
	unstable int // the last TTL at which one flow was seen at two addresses; 0: nowhere
	wants    map[Probe]int
	asked    []Probe // the keys of wants, in the order in which they came
	fresh    int     // flows that are asked for and were never sent before
}

func (s *Search) analyse() *analysis {
	a := &analysis{s: s, linked: map[[2]int]int{}, wants: map[Probe]int{}, places: []place{{reached: true}}}
	for ttl := s.c.MaxTTL; ttl > 0 && a.unstable == 0; ttl-- {
		for _, o := range s.seen[ttl] {
			if o != nil && len(o.addresses) > 1 {
				a.unstable = ttl
			}
		}
	}
	source := &node{places: []int{0}}
	for f := range s.flows {
		source.flows = append(source.flows, f)
	}
	for level := []*node{source}; len(level) > 0 && level[0].ttl <= s.c.MaxTTL; {
		a.nodes = append(a.nodes, level...)
		level = a.descend(level)
	}
	return a
}

func (a *analysis) complete() bool {
	return !slices.ContainsFunc(a.nodes, func(n *node) bool { return n.open })
}

// at is what is known of a flow at a hop, unless its way had ended before.
func (a *analysis) at(ttl, flow int) *outcome {
	o := a.s.at(ttl, flow)
	if o != nil && a.ended(flow, ttl-1) && o.finals == o.answers {
		return nil
	}
	return o
}

// ended says that a flow's way had its end at a hop or before.
func (a *analysis) ended(flow, ttl int) bool {
	end, known := a.s.ends[flow]
	return known && end <= ttl
}

// descend finds the nodes one hop on, and asks for what the nodes of this hop lack.
func (a *analysis) descend(level []*node) []*node {
	ttl := level[0].ttl + 1
	if ttl > a.s.c.MaxTTL {
		return nil
	}
	l := &hop{a: a, ttl: ttl, at: map[netip.Addr]int{}}
	l.find()
	for _, n := range level {
		if a.over(n) {
			continue
		}
		l.follow(n)
		a.demand(n)
	}
	return l.nodes(level)
}

// over says that nothing is to be found behind a node.
func (a *analysis) over(n *node) bool {
	return n.silents >= a.s.c.Silent || !slices.ContainsFunc(n.places, func(p int) bool { return !a.places[p].final })
}

// link adds a link, once. It is certain if any that said so was.
func (a *analysis) link(from, to int, certain, translated bool) {
	a.places[to].reached = true
	key := [2]int{from, to}
	i, known := a.linked[key]
	if !known {
		i = len(a.links)
		a.linked[key] = i
		a.links = append(a.links, Link{From: from, To: to})
	}
	a.links[i].Certain = a.links[i].Certain || certain
	a.links[i].Translated = a.links[i].Translated || translated
}

// translated says that a flow's packets were changed between the last hop that answered it and this one.
func (a *analysis) translated(ttl, flow int) bool {
	o := a.at(ttl, flow)
	if o == nil || o.answers == 0 {
		return false
	}
	for t := ttl - 1; t > 0; t-- {
		if before := a.at(t, flow); before != nil && before.answers > 0 {
			return before.shift != o.shift
		}
	}
	return o.shift != 0
}
