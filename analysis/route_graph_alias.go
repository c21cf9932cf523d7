package analysis

import (
	"net/netip"

	"github.com/pathwise-net/pathwise/analysis/mates"
)

// alias joins addresses of one router.
func (b *graphBuilder) alias(pairs []TracedPair) {
	on := sets[string, *Route]{} // the routes on which an address is
	for i := range pairs {
		for _, r := range routesOf(&pairs[i]) {
			for _, h := range r.Hops {
				for _, a := range h.Addresses {
					on.add(a, r)
				}
			}
		}
		b.turned(&pairs[i])
	}
	apart := func(one, other string) bool {
		for r := range on[one] {
			if on[other][r] {
				return false
			}
		}
		return true
	}
	for i := range pairs {
		b.told(&pairs[i], apart)
	}
	last := lastRouters(pairs)
	for i := range pairs {
		for _, r := range routesOf(&pairs[i]) {
			for k := 1; k < len(r.Hops); k++ {
				if len(r.Hops[k-1].Addresses) != 1 || len(r.Hops[k].Addresses) != 1 || len(last[r.Hops[k].Addresses[0]]) > 1 {
					continue
				}
				from := r.Hops[k-1].Addresses[0]
				end, _ := netip.ParseAddr(r.Hops[k].Addresses[0]) // what is no address has no mates
				for _, other := range mates.Of(end) {
					if mate := other.String(); on[mate] != nil && !b.hosts[mate] && apart(from, mate) {
						b.join(from, mate)
						break
					}
				}
			}
		}
	}
}

// lastRouters are who answers before each end of routes. A host answers from the same address whichever link packets come by, so that
// of several routers before it not all are at the other end of that link.
func lastRouters(pairs []TracedPair) sets[string, string] {
	last := sets[string, string]{}
	for i := range pairs {
		for _, r := range routesOf(&pairs[i]) {
			if k := len(r.Hops) - 1; r.Whole && k > 0 {
				for _, end := range r.Hops[k].Addresses {
					for _, a := range r.Hops[k-1].Addresses {
						last.add(end, a)
					}
				}
			}
		}
	}
	return last
}

// turned joins addresses from which a router answered by turns, or one after the other.
func (b *graphBuilder) turned(p *TracedPair) {
	for _, v := range p.Course.Varying {
		if v.How == Readdressed {
			for _, a := range v.Addresses {
				b.join(v.Addresses[0], a)
			}
		}
	}
	for _, t := range p.Course.Turns {
		if t.How != Addresses {
			continue
		}
		for i := range t.Routes[1:] {
			r := &t.Routes[i+1]
			for _, ttl := range r.Changed { // where both have a router, which other routes may not have
				b.join(t.Routes[0].At(ttl).Addresses[0], r.At(ttl).Addresses[0])
			}
		}
	}
}

// told joins addresses that a router told of. Nothing proves that they are its own: those of hosts are not, nor are those that are on one route with it.
func (b *graphBuilder) told(p *TracedPair, apart func(one, other string) bool) {
	for _, r := range p.Traces {
		for _, h := range r.Samples.Hops {
			if len(h.Addresses) != 1 {
				continue
			}
			for _, told := range h.ToldAddresses() {
				if own := h.Addresses[0]; !b.hosts[told] && apart(own, told) {
					b.join(own, told)
				}
			}
		}
	}
}
