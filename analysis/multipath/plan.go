package multipath

import (
	"math"
	"slices"
)

// plan is what to ask for next.
func (s *Search) plan() (batch []Probe) {
	a := s.analyse()
	for _, p := range a.asked {
		for range a.wants[p] {
			batch = append(batch, p)
		}
	}
	return batch
}

// want asks for so many probes, and not for those that were asked for already.
func (a *analysis) want(p Probe, n int) {
	had, known := a.wants[p]
	if !known {
		a.asked = append(a.asked, p)
	}
	a.wants[p] = max(had, n)
}

// demand asks for what a node lacks to be done with: the way in which it spreads flows, and enough probes for its stopping point.
//
//	                             one place                               several places
//	one next hop                 stop(1)                                 a share that hides behind
//	more, by flow                stop(k), and one flow repeated          several places and next hops
//	more, by packet              strict stop(k), flows repeated          (see hidden)
func (a *analysis) demand(n *node) {
	if n.kind == PerFlow && !a.repeat(n) {
		return // behind it nothing can be told until its kind is known
	}
	if lack := a.enough(n) - n.probed; lack > 0 {
		n.open = true
		a.more(n, lack)
	}
}

// enough is how many probes a node takes.
func (a *analysis) enough(n *node) int {
	found := max(1, len(n.next))
	switch {
	case n.tossed():
		return a.hidden(n)
	case n.kind == PerPacket, a.unstable > n.ttl+1:
		// One flow has several ways further on. If that came from here, and had not been seen here, links behind would be made up.
		return a.s.rules.strict.after(found)
	}
	return a.s.rules.plain.after(found)
}

// hidden is how many probes through places that balancing by packet tosses flows among do not miss a next hop. At worst it has one share among those of one place; and
// a next hop that is the only one of its place, which may be passed much less often than others, must surely not be missed: that place would be said to lead to another.
func (a *analysis) hidden(n *node) int {
	all, least := 0, math.MaxInt
	for _, p := range n.places {
		if answers := a.places[p].answers; answers > 0 {
			all += answers
			least = min(least, answers)
		}
	}
	places, found := float64(len(n.places)), float64(max(1, len(n.next)))
	rarest := 1 / places
	if all > 0 {
		rarest = min(rarest, float64(least)/float64(all)/2) // half of what was seen, since few answers are a coarse measure
	}
	n.rare = rarest < leastShare
	return max(unseen(1/(places*(found+1)), a.s.rules.plain.fail), unseen(max(rarest, leastShare), surely))
}

// leastShare is the smallest share of packets with which a search makes sure of a place's links: it takes 1375 probes.
const leastShare = 0.01

// repeat asks for probes of one flow again, until it is clear that they all come out at the same next hop. A silent one is taken if there is one: answers get lost.
func (a *analysis) repeat(n *node) (clear bool) {
	flow, tries := -1, 0
	for _, f := range n.flows {
		o := a.at(n.ttl+1, f)
		if o == nil || flow >= 0 && o.answers > 0 {
			continue
		}
		flow, tries = f, o.answers+o.silences
		if o.answers == 0 && tries >= 2*a.s.c.Attempts {
			break
		}
	}
	if lack := a.s.rules.repeats - tries; lack > 0 {
		n.open = true
		a.want(Probe{n.ttl + 1, flow}, lack)
		return false
	}
	return true
}

// more asks for so many probes through a node to the next hop.
func (a *analysis) more(n *node, lack int) {
	for _, f := range n.flows {
		if lack == 0 {
			return
		}
		if a.s.at(n.ttl+1, f) == nil && !a.ended(f, n.ttl) {
			a.want(Probe{n.ttl + 1, f}, 1)
			lack--
		}
	}
	switch {
	case lack == 0:
	case n.ttl == 0:
		for range lack {
			a.want(Probe{1, a.s.flows + a.fresh}, 1)
			a.fresh++
		}
	case n.before != nil:
		a.more(n.before, lack) // its flows will be silent here, too
	default:
		a.seek(n, lack)
	}
}

// seek looks for flows that pass a node (node control): by probes to its own hop, of flows that were not seen there yet. So many are asked for as find
// enough by the share of flows that came to it so far.
func (a *analysis) seek(n *node, lack int) {
	seen := 0
	for _, o := range a.s.seen[n.ttl] {
		if o != nil && o.answers > 0 {
			seen++
		}
	}
	tries := min((lack*seen+len(n.flows)-1)/max(1, len(n.flows)), a.s.c.Batch)
	for _, f := range a.candidates(n) {
		if tries == 0 {
			return
		}
		a.want(Probe{n.ttl, f}, 1)
		tries--
	}
	for f := a.s.flows; tries > 0; f, tries = f+1, tries-1 {
		a.want(Probe{n.ttl, f}, 1)
	}
}

// candidates are flows that were not seen at a node's hop: first those that passed a node before it.
func (a *analysis) candidates(n *node) (all []int) {
	before := map[int]bool{}
	for _, m := range a.nodes {
		if m.ttl == n.ttl-1 && slices.ContainsFunc(m.next, func(p int) bool { return slices.Contains(n.places, p) }) {
			for _, f := range m.flows {
				if !before[f] && a.s.at(n.ttl, f) == nil && !a.ended(f, n.ttl-1) {
					before[f] = true
					all = append(all, f)
				}
			}
		}
	}
	for f := range a.s.flows {
		if !before[f] && a.s.at(n.ttl, f) == nil && !a.ended(f, n.ttl-1) {
			all = append(all, f)
		}
	}
	return all
}
