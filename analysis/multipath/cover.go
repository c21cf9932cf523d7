package multipath

import (
	"net/netip"
	"slices"
)

// passed is what a flow was seen to pass: a vertex, or the link from one to the next hop's. The zero from is a vertex alone.
type passed struct {
	ttl      int // of to
	from, to netip.Addr
}

// Cover are flows, ascending and at most so many, that together passed every address that answered and every link between two of them over which a flow was
// followed; all is false where they do not. It is greedy: each next flow passes as much as any that no flow before it did. Of a flow that balancing by packet
// tossed about only the addresses count. Where nothing answered it is flow 0.
func (s *Search) Cover(most int) (flows []int, all bool) {
	left, passes := map[passed]bool{}, make([][]passed, s.flows)
	for f := range s.flows {
		passes[f] = s.passes(f)
		for _, p := range passes[f] {
			left[p] = true
		}
	}
	flows = []int{}
	for len(left) > 0 && len(flows) < most {
		best, gain := 0, 0
		for f := range s.flows {
			n := 0
			for _, p := range passes[f] {
				if left[p] {
					n++
				}
			}
			if n > gain {
				best, gain = f, n
			}
		}
		flows = append(flows, best)
		for _, p := range passes[best] {
			delete(left, p)
		}
	}
	if len(flows) == 0 {
		flows = append(flows, 0)
	}
	slices.Sort(flows)
	return flows, len(left) == 0
}

// passes is what a flow was seen to pass, up to its end.
func (s *Search) passes(flow int) (all []passed) {
	var before netip.Addr
	for ttl := 1; ttl <= s.c.MaxTTL; ttl++ {
		o := s.at(ttl, flow)
		here := netip.Addr{}
		if o != nil {
			for _, address := range o.addresses {
				all = append(all, passed{ttl: ttl, to: address})
			}
			if len(o.addresses) == 1 {
				here = o.addresses[0]
			}
		}
		if before.IsValid() && here.IsValid() {
			all = append(all, passed{ttl, before, here})
		}
		if end, known := s.ends[flow]; known && end <= ttl {
			break
		}
		before = here
	}
	return all
}
