package asymmetry

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/analysis/mates"
	"github.com/pathwise-net/pathwise/measure"
)

// sameRouter says what tells that hops of both ways are the same router; "": nothing does.
func (c *comparison) sameRouter(there, back int) string {
	name := c.routerName(c.there[there])
	switch {
	case meet(c.there[there], c.back[back]):
		return byAddress
	case meet(c.told[there], c.back[back]), meet(c.there[there], c.toldBack[back]), meet(c.told[there], c.toldBack[back]):
		return byInterface
	case name != "" && name == c.routerName(c.back[back]):
		return byName
	}
	return ""
}

func meet(a, b []netip.Addr) bool {
	return slices.ContainsFunc(a, func(one netip.Addr) bool { return slices.Contains(b, one) })
}

// routerName is the name of the first address that has one, without its first part, which names the interface: xe-0-0-1.r1.lon.example.net and
// ae3.r1.lon.example.net are r1.lon.example.net. A name that is left with fewer than three parts may be that of a whole network, and tells nothing.
func (c *comparison) routerName(addresses []netip.Addr) string {
	for _, a := range addresses {
		if c.ends.Name == nil {
			break
		}
		_, router, _ := strings.Cut(strings.TrimSuffix(c.ends.Name(a.String()), "."), ".")
		if strings.Count(router, ".") >= 3 {
			return router
		}
	}
	return ""
}

// sameLink says whether an address of the way there and one of the way back are the two ends of a link between routers.
func (c *comparison) sameLink(there, back int) bool {
	for _, a := range c.there[there] {
		if meet(mates.Of(a), c.back[back]) {
			return true
		}
	}
	return false
}

// link4 and link6 are the longest networks that a link with many routers may have: operators give it no more than 256 addresses of IPv4, and one of IPv6
// a /64 (RFC 4291, 2.5.1).
const link4, link6 = 24, 64

// apart says whether no address of one hop may be on a link with one of the other.
func apart(a, b []netip.Addr) bool {
	for _, x := range a {
		for _, y := range b {
			bits := link4
			if x.Is6() {
				bits = link6
			}
			if network, err := x.Prefix(bits); err == nil && network.Contains(y) {
				return false
			}
		}
	}
	return len(a) > 0 && len(b) > 0
}

// links puts the links of both ways beside each other. Between two routers of the chain stand as many of either way as there are hops.
func (c *comparison) links() (all []measure.LinkPair) {
	from := measure.RouterPair{Return: len(c.back) - 1}
	open := true // nothing says that both ways begin at the same node
	for _, to := range append(slices.Clone(c.chain), measure.RouterPair{Forward: len(c.there) - 1}) {
		if to.By == byEnd && to.Forward == 0 {
			from, open = to, false
			continue
		}
		all = append(all, c.between(from, to, open)...)
		from, open = to, false
	}
	return all
}

// between puts those between two nodes beside each other. open: the first is not the same on both ways. The second is not if nothing says so.
func (c *comparison) between(from, to measure.RouterPair, open bool) (all []measure.LinkPair) {
	var there, back []int // the links from one to the other, in the order of the way there
	for ttl := from.Forward + 1; ttl <= to.Forward; ttl++ {
		there = append(there, ttl)
	}
	for ttl := from.Return; ttl > to.Return; ttl-- {
		back = append(back, ttl)
	}
	closed := !open && to.By != ""
	if direct := min(len(there), len(back)); closed && direct == 1 && len(there) != len(back) {
		return beside(there, back, measure.LinkOther) // one link on one way, and several on the other
	}
	var last []measure.LinkPair
	switch {
	case closed && len(there) == len(back):
		for at := range there {
			mark := measure.LinkUnknown
			if at == 0 || at == len(there)-1 {
				mark = c.mark(there[at], back[at], from, to)
			}
			all = append(all, measure.LinkPair{Forward: there[at], Return: back[at], Mark: mark})
		}
		return all
	case !open && len(there) > 0 && len(back) > 0:
		all = append(all, measure.LinkPair{Forward: there[0], Return: back[0], Mark: c.mark(there[0], back[0], from, to)})
		there, back = there[1:], back[1:]
	}
	if to.By != "" && len(there) > 0 && len(back) > 0 {
		i, j := there[len(there)-1], back[len(back)-1]
		last = append(last, measure.LinkPair{Forward: i, Return: j, Mark: c.mark(i, j, from, to)})
		there, back = there[:len(there)-1], back[:len(back)-1]
	}
	return append(append(all, beside(there, back, measure.LinkUnknown)...), last...)
}

// beside are links of each way that have no link of the other at their place.
func beside(there, back []int, mark string) (all []measure.LinkPair) {
	for _, ttl := range there {
		all = append(all, measure.LinkPair{Forward: ttl, Mark: mark})
	}
	for _, ttl := range back {
		all = append(all, measure.LinkPair{Return: ttl, Mark: mark})
	}
	return all
}

// mark compares a link of each way, that lead off from the same node.
func (c *comparison) mark(there, back int, nodes ...measure.RouterPair) string {
	_, toCaller := c.isCaller(there, back)
	toTarget, _ := c.isTarget(there, back)
	switch {
	case c.sameLink(there, back), toCaller && inside(c.ends.Caller, c.there[there]), toTarget && inside(c.ends.Target, c.back[back]):
		return measure.LinkShared
	case toCaller || toTarget: // a host answers by the address that it was asked by, whatever link it was asked over
		return measure.LinkUnknown
	case len(c.back[back-1]) == 0 && back > 1 || len(c.there[there-1]) == 0 && there > 1: // the other end of the link does not answer on the other way
		return measure.LinkUnknown
	}
	for _, n := range nodes { // a router that has one address for all its answers shows none of its links
		if n.By == byAddress && (n.Forward == there || n.Return == back) {
			return measure.LinkUnknown
		}
	}
	if apart(c.there[there], c.back[back]) {
		return measure.LinkOther
	}
	return measure.LinkUnknown
}

func inside(network netip.Prefix, addresses []netip.Addr) bool {
	return network.IsValid() && slices.ContainsFunc(addresses, network.Contains)
}
