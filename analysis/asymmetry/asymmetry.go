// Package asymmetry holds the route from a caller to a target beside the route back, and says which links and routers both share, which are on one way
// alone, and of which nothing tells. It is pure: it traces nothing, and looks up no name.
package asymmetry

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// Ends are what is known of the hosts between which two routes lead, beside the hops.
type Ends struct {
	Reached    bool // the last hop of the way there is the target
	Returned   bool // the last hop of the way back is the caller
	Translated bool // the far end knows the caller by another address (NAT), so that the way back ends at the translator

	// Caller and Target are the networks of the hosts' own interfaces. A router with an address in one of them has the host's own link. The zero
	// value: not known.
	Caller, Target netip.Prefix

	Name func(address string) string // of a router's address, "" if it has none; nil: no names are known
}

// Compare holds the way from a caller to a target beside the way back. Both are hops from TTL 1 on.
//
// Routers answer, as a rule, with the address of the interface that a packet came in by. So each way shows the other end of each link:
//
//	           link 1        link 2         link 3
//	caller ------------ a ------------ b ------------ target
//	there:            a1 >           b1 >         target >        addresses of hops 1, 2, 3
//	back:    < caller         < a2           < b2                 addresses of hops 3, 2, 1
//
// The addresses of a link's two ends are mates (see mates.Of): a1 and caller, and b1 and a2. So they tell which links of both ways are the same, and with
// them the routers at both ends of each. Beside that a router is known by an address that it has in
// both routes, by one that it tells of (RFC 5837), and by its name without the part that names the interface.
//
// A link that leads off from a router which both ways pass is another one if its addresses share no network that a link may have (see apart). What
// nobody answers for, and what addresses do not tell, is unknown: two routes of which nothing is known may be the same, or not.
func Compare(there, back []measure.Hop, ends Ends) measure.RouteComparison {
	c := comparison{there: addresses(there), back: addresses(back), told: told(there), toldBack: told(back), ends: ends}
	c.findRouters()
	result := measure.RouteComparison{Links: []measure.LinkPair{}, Routers: []measure.RouterPair{}}
	result.Links = append(result.Links, c.links()...)
	for _, p := range c.chain {
		if p.By != byEnd {
			result.Routers = append(result.Routers, p)
		}
	}
	for _, l := range result.Links {
		switch l.Mark {
		case measure.LinkShared:
			result.SharedLinks++
		case measure.LinkOther:
			result.OtherLinks++
		default:
			result.UnknownLinks++
		}
	}
	if ends.Reached && len(there) > 0 {
		result.ReturnHopsByTTL = there[len(there)-1].ReturnHops
	}
	result.Verdict, result.Says = verdict(result, len(there), len(back), ends)
	return result
}

// What tells that a router is on both ways.
const (
	byLink      = "link"
	byAddress   = "address"
	byInterface = "interface"
	byName      = "name"
	byEnd       = "end" // it is the caller or the target
)

// comparison is one under way. Hops are counted from 1, as TTLs are; 0 is the host that a route begins at.
type comparison struct {
	there, back    [][]netip.Addr
	told, toldBack [][]netip.Addr // addresses of further interfaces
	ends           Ends
	chain          []measure.RouterPair // on both ways, in the order of the way there
}

// addresses are those of hops from 0 on, of which the first has none.
func addresses(hops []measure.Hop) [][]netip.Addr {
	all := [][]netip.Addr{nil}
	for _, h := range hops {
		var own []netip.Addr
		for _, text := range h.Addresses {
			if a, err := netip.ParseAddr(text); err == nil {
				own = append(own, a.Unmap().WithZone(""))
			}
		}
		all = append(all, own)
	}
	return all
}

func told(hops []measure.Hop) [][]netip.Addr {
	all := [][]netip.Addr{nil}
	for _, h := range hops {
		var own []netip.Addr
		for _, text := range h.ToldAddresses() {
			if a, err := netip.ParseAddr(text); err == nil {
				own = append(own, a.Unmap())
			}
		}
		all = append(all, own)
	}
	return all
}

// findRouters finds the longest chain of routers that both ways pass, which the way back passes in the other order.
func (c *comparison) findRouters() {
	found := map[[2]int]string{}
	add := func(there, back int, by string) {
		if c.isRouter(there, back) && found[[2]int{there, back}] == "" {
			found[[2]int{there, back}] = by
		}
	}
	for i := 1; i < len(c.there); i++ {
		for j := 1; j < len(c.back); j++ {
			if by := c.sameRouter(i, j); by != "" {
				add(i, j, by)
			}
			if c.sameLink(i, j) && c.fits(i, j-1) && c.fits(i-1, j) {
				add(i, j-1, byLink)
				add(i-1, j, byLink)
			}
		}
	}
	var pairs []measure.RouterPair
	for at, by := range found {
		pairs = append(pairs, measure.RouterPair{Forward: at[0], Return: at[1], By: by})
	}
	c.chain = longest(pairs)
	if c.ends.Returned && !c.ends.Translated {
		c.chain = slices.Insert(c.chain, 0, measure.RouterPair{Return: len(c.back) - 1, By: byEnd})
	}
	if c.ends.Reached {
		c.chain = append(c.chain, measure.RouterPair{Forward: len(c.there) - 1, By: byEnd})
	}
}

// isCaller and isTarget say whether hops are hosts at the ends, as far as that is known.
func (c *comparison) isCaller(there, back int) (one, other bool) {
	return there == 0, c.ends.Returned && !c.ends.Translated && back == len(c.back)-1
}

func (c *comparison) isTarget(there, back int) (one, other bool) {
	return c.ends.Reached && there == len(c.there)-1, back == 0
}

// fits says whether hops of both ways can be the same node: a host at an end is no router.
func (c *comparison) fits(there, back int) bool {
	a, b := c.isCaller(there, back)
	p, q := c.isTarget(there, back)
	return (a == b || c.ends.Translated || !c.ends.Returned) && (p == q || !c.ends.Reached)
}

// isRouter says whether they can be the same router.
func (c *comparison) isRouter(there, back int) bool {
	a, b := c.isCaller(there, back)
	p, q := c.isTarget(there, back)
	return !a && !b && !p && !q
}

// longest is the longest chain of pairs whose hops grow there and shrink back.
func longest(pairs []measure.RouterPair) []measure.RouterPair {
	slices.SortFunc(pairs, func(a, b measure.RouterPair) int {
		return cmp.Or(cmp.Compare(a.Forward, b.Forward), cmp.Compare(b.Return, a.Return))
	})
	length, before := make([]int, len(pairs)), make([]int, len(pairs))
	last := -1
	for at := range pairs {
		before[at] = -1
		for earlier := range at {
			if pairs[earlier].Forward < pairs[at].Forward && pairs[earlier].Return > pairs[at].Return && length[earlier] > length[at] {
				length[at], before[at] = length[earlier], earlier
			}
		}
		if length[at]++; last < 0 || length[at] > length[last] {
			last = at
		}
	}
	var chain []measure.RouterPair
	for ; last >= 0; last = before[last] {
		chain = append(chain, pairs[last])
	}
	slices.Reverse(chain)
	return chain
}
