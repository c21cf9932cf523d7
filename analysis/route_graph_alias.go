package analysis

import "net/netip"

// alias joins addresses of one router.
func (b *graphBuilder) alias(pairs []TracedPair) {
	on := map[string]map[*Route]bool{} // the routes on which an address is
	for i := range pairs {
		for _, r := range routesOf(&pairs[i]) {
			for _, h := range r.Hops {
				for _, a := range h.Addresses {
					if on[a] == nil {
						on[a] = map[*Route]bool{}
					}
					on[a][r] = true
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
				for _, mate := range matesOf(r.Hops[k].Addresses[0]) {
					if on[mate] != nil && !b.hosts[mate] && apart(from, mate) {
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
func lastRouters(pairs []TracedPair) map[string]map[string]bool {
	last := map[string]map[string]bool{}
	for i := range pairs {
		for _, r := range routesOf(&pairs[i]) {
			if k := len(r.Hops) - 1; r.Whole && k > 0 {
				for _, end := range r.Hops[k].Addresses {
					if last[end] == nil {
						last[end] = map[string]bool{}
					}
					for _, a := range r.Hops[k-1].Addresses {
						last[end][a] = true
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
			for _, i := range h.Interfaces {
				if len(h.Addresses) != 1 || i.Address == "" || i.Role == "next hop" {
					continue
				}
				if own := h.Addresses[0]; !b.hosts[i.Address] && apart(own, i.Address) {
					b.join(own, i.Address)
				}
			}
		}
	}
}

// matesOf are the other ends of a link, by an address of one: of a /30 and of a /31, or of a /126 and of a /127.
func matesOf(address string) (mates []string) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return nil
	}
	bytes := a.AsSlice()
	last := bytes[len(bytes)-1]
	if low := last & 3; low == 1 || low == 2 {
		bytes[len(bytes)-1] = last ^ 3
		mate, _ := netip.AddrFromSlice(bytes)
		mates = append(mates, mate.String())
	}
	bytes[len(bytes)-1] = last ^ 1
	mate, _ := netip.AddrFromSlice(bytes)
	return append(mates, mate.String())
}
