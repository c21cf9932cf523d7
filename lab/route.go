package lab

import (
	"slices"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// route is what a router does with a packet that came in by iface.
//
//	translate its target (NAT), ask the firewall
//	        |
//	for a group? -- yes --> a copy to each link that leads to members (spread)
//	        | no
//	for the router itself? -- yes --> echo request: reply; other request: port unreachable
//	        | no
//	hop limit 1 or less?  -- yes --> time exceeded, from the address of the interface it came in by
//	        | no                     (not where the router is hidden, or forwards packets without any left)
//	forwards nothing? -- yes --> it says why
//	        | no
//	route to it?    -- no  --> host unreachable
//	        | yes
//	fits the next link's MTU? -- no --> fragment, packet too big, or nothing
//	        | yes
//	rewrite what middleboxes rewrite, on to the next link
func (n *Network) route(t int64, node, iface int, p *packet.Packet) {
	box := n.boxes[node]
	if box != nil {
		if v := box.Arrive(t, p, iface); v.Cause != packet.Kept {
			n.refuse(t, node, iface, p, v)
			return
		}
	}
	if p.Members != 0 {
		n.spread(t, node, iface, p)
		return
	}
	dst := packet.Target(p.Data)
	owner, known := n.plan.owner[dst]
	settings := n.plan.Nodes[node].Settings
	switch limit := packet.HopLimit(p.Data); {
	case known && owner == node:
		n.answer(t, node, iface, p)
		return
	case !settings.Hidden && limit <= 1 && (limit == 0 || !settings.ZeroTTL):
		n.complain(t, node, iface, p, packet.HopsUsedUp, 0)
		n.drop(t, -1, p, packet.TTLExpired)
		return
	case settings.Refuse != "":
		n.refuseAll(t, node, iface, p, settings.Refuse)
		return
	case !known || len(n.routes[node][owner]) == 0:
		n.complain(t, node, iface, p, packet.NoRouteTo, 0)
		n.drop(t, -1, p, packet.NoRoute)
		return
	}
	n.onward(t, node, iface, n.choose(node, owner, p), p)
}

// onward is what a router does with a packet whose next link is known.
func (n *Network) onward(t int64, node, iface, out int, p *packet.Packet) {
	if size, excess := n.directions[out].MTU(); size > 0 && p.LargestPacket() > size {
		n.tooBig(t, node, iface, out, p, size, excess)
		return
	}
	if !n.plan.Nodes[node].Settings.Hidden {
		packet.Hop(p.Data)
	}
	n.forward(t, node, iface, out, p)
}

// forward hands a packet over to the next link, by way of the router's middlebox.
func (n *Network) forward(t int64, node, iface, out int, p *packet.Packet) {
	if box := n.boxes[node]; box != nil {
		if v := box.Leave(t, p, iface, n.plan.Directions[out].From); v.Cause != packet.Kept {
			n.refuse(t, node, iface, p, v)
			return
		}
	}
	n.tap(t, n.plan.Directions[out].From, true, p)
	n.send(t, out, p)
}

// choose picks one of the equally short ways to a node. By flow, the choice holds as long as ports and addresses do, and
// another router's choice is another (RFC 2992).
func (n *Network) choose(node, target int, p *packet.Packet) int {
	way := n.nextWay(node, target, p)
	if len(n.routes[node][target]) > 1 {
		n.rounds[node]++
	}
	return way
}

// nextWay is what choose picks next. It changes nothing.
func (n *Network) nextWay(node, target int, p *packet.Packet) int {
	ways := n.routes[node][target]
	if len(ways) == 1 || !n.plan.Nodes[node].Router {
		return ways[0]
	}
	switch n.plan.Nodes[node].Settings.Balance {
	case balanceFlow:
		return ways[packet.KeyOf(p.Data).Hash(n.plan.Seed+uint64(node))%uint64(len(ways))]
	case balancePacket:
		return ways[(n.rounds[node]+1)%uint64(len(ways))]
	}
	return ways[0]
}

// tooBig handles a packet that does not fit the link that it should leave by.
func (n *Network) tooBig(t int64, node, iface, out int, p *packet.Packet, mtu int, excess link.Excess) {
	switch excess {
	case link.Fragment:
		packet.AllowFragments(p.Data)
	case link.Discard:
		n.oversize(t, out, p)
		return
	}
	if !n.plan.Nodes[node].Settings.Hidden {
		packet.Hop(p.Data)
	}
	if packet.Fragment(&n.Pool, p, mtu, func(f *packet.Packet) { n.forward(t, node, iface, out, f) }) {
		return
	}
	n.complain(t, node, iface, p, packet.TooBigFor, mtu)
	n.oversize(t, out, p)
}

// answer handles a packet for one of the router's own addresses.
func (n *Network) answer(t int64, node, iface int, p *packet.Packet) {
	switch {
	case p.Local:
		n.consume(t, node, p)
	case !n.boxes[node].Answers():
		n.drop(t, -1, p, packet.Unanswered)
	case packet.IsEchoRequest(p.Data):
		reply := n.Pool.Clone(p)
		n.Book.Delivered(p, t, t)
		n.Pool.Put(p)
		packet.EchoReply(reply.Data)
		n.originate(t, node, reply)
	default:
		n.complain(t, node, iface, p, packet.PortClosed, 0)
		n.Book.Delivered(p, t, t)
		n.Pool.Put(p)
	}
}

// originate sends a packet of the router's own on its way.
func (n *Network) originate(t int64, node int, p *packet.Packet) {
	n.Book.Begin(p, t)
	owner, known := n.plan.owner[packet.Target(p.Data)]
	if !known || len(n.routes[node][owner]) == 0 {
		n.drop(t, -1, p, packet.NoRoute)
		return
	}
	out := n.choose(node, owner, p)
	if box := n.boxes[node]; box != nil {
		if v := box.Leave(t, p, -1, n.plan.Directions[out].From); v.Cause != packet.Kept {
			n.drop(t, -1, p, v.Cause)
			return
		}
	}
	n.tap(t, n.plan.Directions[out].From, true, p)
	n.send(t, out, p)
}

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
