package lab

import (
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// route is what a router does with a packet that came in by iface.
//
//	translate its target (NAT), ask the firewall
//	        |
//	for the router itself? -- yes --> echo request: reply; other request: port unreachable
//	        | no
//	hop limit 1 or less?  -- yes --> time exceeded, from the address of the interface it came in by
//	        | no                     (not where the router is hidden)
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
	dst := packet.Target(p.Data)
	owner, known := n.plan.owner[dst]
	hidden := n.plan.Nodes[node].Settings.Hidden
	switch {
	case known && owner == node:
		n.answer(t, node, iface, p)
		return
	case !hidden && packet.HopLimit(p.Data) <= 1:
		n.complain(t, node, iface, p, packet.HopsUsedUp, 0)
		n.drop(t, -1, p, packet.TTLExpired)
		return
	case !known || len(n.routes[node][owner]) == 0:
		n.complain(t, node, iface, p, packet.NoRouteTo, 0)
		n.drop(t, -1, p, packet.NoRoute)
		return
	}
	out := n.choose(node, owner, p)
	if size, excess := n.directions[out].MTU(); size > 0 && p.LargestPacket() > size {
		n.tooBig(t, node, iface, out, p, size, excess)
		return
	}
	if !hidden {
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
	ways := n.routes[node][target]
	if len(ways) == 1 || !n.plan.Nodes[node].Router {
		return ways[0]
	}
	switch n.plan.Nodes[node].Settings.Balance {
	case balanceFlow:
		return ways[packet.KeyOf(p.Data).Hash(n.plan.Seed+uint64(node))%uint64(len(ways))]
	case balancePacket:
		n.round++
		return ways[n.round%uint64(len(ways))]
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

// complain sends an ICMP error about a packet, unless none may be sent about it or the router keeps silent. The packet
// stays the caller's.
func (n *Network) complain(t int64, node, iface int, about *packet.Packet, what packet.Trouble, mtu int) {
	from := n.plan.Interfaces[iface].Address
	if packet.Version(about.Data) == 6 {
		from = n.plan.Interfaces[iface].Address6
	}
	c := packet.Complaint(&n.Pool, from, about, what, mtu)
	switch {
	case c == nil:
	case n.boxes[node].MayComplain(t):
		n.originate(t, node, c)
	default:
		n.Pool.Put(c)
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
