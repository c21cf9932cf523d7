package multipath

import (
	"net/netip"
	"slices"
)

// hop is the places of one TTL, and which of them are one node.
type hop struct {
	a       *analysis
	ttl     int
	at      map[netip.Addr]int // place of an address
	order   []int              // places, in the order in which flows came to them
	joined  map[int]int        // place -> another one of its node; none: itself
	flows   map[int][]int      // place -> flows, for silent places
	silents map[int]*node      // silent place -> the node before it
}

// find makes a place of each address that answered at this hop, and joins those between which one flow was tossed about.
func (h *hop) find() {
	h.joined, h.flows, h.silents = map[int]int{}, map[int][]int{}, map[int]*node{}
	for flow := range h.a.s.flows {
		o := h.a.at(h.ttl, flow)
		if o == nil {
			continue
		}
		for k, address := range o.addresses {
			i, known := h.at[address]
			if !known {
				i = h.add(place{ttl: h.ttl, address: address})
				h.at[address] = i
			}
			p := &h.a.places[i]
			p.flows++
			p.answers += o.counts[k]
			p.final = p.final || o.finals > 0 && h.a.s.ends[flow] == h.ttl && len(o.addresses) == 1
			h.join(h.at[o.addresses[0]], i)
		}
	}
}

func (h *hop) add(p place) int {
	h.a.places = append(h.a.places, p)
	h.order = append(h.order, len(h.a.places)-1)
	return len(h.a.places) - 1
}

// root is the place that stands for all of its node.
func (h *hop) root(p int) int {
	for {
		q, joined := h.joined[p]
		if !joined {
			return p
		}
		p = q
	}
}

func (h *hop) join(p, q int) {
	if p, q = h.root(p), h.root(q); p != q {
		h.joined[max(p, q)] = min(p, q)
	}
}

// targetTries is for a flow that gets no answer where all others that do have come to the end: the target limits how often it answers, and waiting for its
// answer to each flow would take longer than all else. What is silent there is taken for the target.
const targetTries = 2

// follow finds where the flows of a node go at this hop, and how the node spreads them.
func (h *hop) follow(n *node) {
	mixed := slices.ContainsFunc(n.flows, func(f int) bool { o := h.a.at(h.ttl, f); return o != nil && o.answers > 0 })
	tries := h.a.s.c.Attempts
	if mixed {
		tries *= 2 // where others answer, an answer may have been lost, or refused for its rate
	}
	ended := mixed && !slices.ContainsFunc(n.flows, func(f int) bool { o := h.a.at(h.ttl, f); return o != nil && o.answers > o.finals })
	if ended {
		tries = targetTries
	}
	silent := -1
	for _, f := range n.flows {
		o := h.a.at(h.ttl, f)
		switch {
		case o == nil:
		case o.answers == 0 && o.silences < tries:
			h.a.want(Probe{h.ttl, f}, 1)
			n.open = true
		case o.answers == 0 && ended:
			n.probed++
		case o.answers == 0:
			if silent < 0 {
				silent = h.add(place{ttl: h.ttl})
				h.silents[silent] = n
				n.next = append(n.next, silent)
			}
			h.flows[silent] = append(h.flows[silent], f)
			h.a.places[silent].flows++
			n.probed++
		default:
			n.probed++
			if n.tossed() || len(o.addresses) > 1 {
				n.kind = PerPacket
				n.probed += o.answers - 1
			}
			for _, address := range o.addresses {
				if p := h.at[address]; !slices.Contains(n.next, p) {
					n.next = append(n.next, p)
				}
			}
		}
	}
	switch {
	case len(n.next) < 2:
		n.kind = Single
	case n.kind == PerPacket:
		for _, p := range n.next {
			h.join(n.next[0], p)
		}
	default:
		n.kind = PerFlow
	}
}

// nodes are those of this hop, with the links to them.
func (h *hop) nodes(level []*node) (all []*node) {
	byRoot := map[int]*node{}
	for _, p := range h.order {
		root := h.root(p)
		n := byRoot[root]
		if n == nil {
			n = &node{ttl: h.ttl}
			byRoot[root] = n
			all = append(all, n)
		}
		n.places = append(n.places, p)
		n.flows = append(n.flows, h.flows[p]...)
		if before := h.silents[p]; before != nil {
			n.before, n.silents = before, before.silents+1
		}
	}
	for f := range h.a.s.flows {
		if o := h.a.at(h.ttl, f); o != nil && len(o.addresses) > 0 {
			n := byRoot[h.root(h.at[o.addresses[0]])]
			n.flows = append(n.flows, f)
		}
	}
	for _, n := range all {
		slices.Sort(n.flows)
		n.flows = slices.Compact(n.flows)
		if n.tossed() {
			n.before, n.silents = nil, 0
		}
	}
	for _, n := range level {
		h.connect(n)
	}
	// Only what a link leads to is looked at further: an address at which no flow was followed from the hop before comes later, when one is.
	return slices.DeleteFunc(all, func(n *node) bool {
		return !slices.ContainsFunc(n.places, func(p int) bool { return h.a.places[p].reached })
	})
}

// connect adds the links from a node to this hop.
func (h *hop) connect(n *node) {
	for _, from := range n.places {
		if h.a.places[from].final {
			continue
		}
		// Each of several places leads to the only next hop; which of several next hops it leads to is not known.
		certain := !n.tossed() || len(n.next) == 1 && !n.open && !n.rare
		for _, to := range n.next {
			h.a.link(from, to, certain, false)
		}
		if !n.tossed() {
			h.a.places[from].balancing = n.kind
			for _, f := range n.flows {
				if o := h.a.at(h.ttl, f); o != nil && len(o.addresses) == 1 && h.a.translated(h.ttl, f) {
					h.a.link(from, h.at[o.addresses[0]], true, true)
				}
			}
		}
	}
}
