package lab

import (
	"container/heap"
	"net/netip"
)

// Network carries packets over a Plan in virtual time: routers, queues and wires, but no socket and no clock. All
// times are nanoseconds on the caller's clock. It is not safe for use by two goroutines at once.
//
// The caller alternates: Advance to now, Inject what has come, Advance again; Due says when to come back.
type Network struct {
	plan       *Plan
	directions []*direction
	pending    dueHeap // directions with packets in flight, the earliest due first
	deliver    Deliver
	spare      [][]byte
}

// Deliver takes a packet that reached a host's interface by way of a direction, due at the given time. The packet
// belongs to the callee until it hands it to Network.Release.
type Deliver func(iface, direction int, due int64, packet []byte)

// NewNetwork makes a quiet network. Deliver is called from within Advance, in the order of due times.
func NewNetwork(p *Plan, deliver Deliver) *Network {
	n := &Network{plan: p, deliver: deliver}
	for i, d := range p.Directions {
		n.directions = append(n.directions, newDirection(p.Seed, i, d.Shape))
	}
	return n
}

// bufferSize holds the largest packet that an interface at the MTU sends, with room to spare.
const bufferSize = 2048

// Buffer returns a buffer for a packet to inject.
func (n *Network) Buffer() []byte {
	if k := len(n.spare); k > 0 {
		b := n.spare[k-1]
		n.spare = n.spare[:k-1]
		return b
	}
	return make([]byte, bufferSize)
}

// Release takes back a buffer that Buffer returned, at any length.
func (n *Network) Release(packet []byte) { n.spare = append(n.spare, packet[:bufferSize]) }

// Inject takes a packet, in a buffer of Buffer's, that a host sent out of an interface at time t. What is not a whole
// IPv4 packet is ignored.
func (n *Network) Inject(t int64, iface int, packet []byte) {
	whole, ok := validIPv4(packet)
	if !ok {
		n.Release(packet)
		return
	}
	n.send(t, n.plan.Interfaces[iface].Leaves, whole)
}

// Due returns when the next packet is due somewhere, if any is under way.
func (n *Network) Due() (int64, bool) {
	if len(n.pending) == 0 {
		return 0, false
	}
	return n.pending[0].due, true
}

// Advance moves everything that is due by now.
func (n *Network) Advance(now int64) {
	for len(n.pending) > 0 && n.pending[0].due <= now {
		due, id := n.pending[0].due, n.pending[0].direction
		d := n.directions[id]
		packet := d.flight.pop().packet
		d.count.delivered++
		if d.flight.len() > 0 {
			n.pending[0].due = d.flight.front().due
			heap.Fix(&n.pending, 0)
		} else {
			heap.Pop(&n.pending)
		}
		n.arrive(due, id, packet)
	}
}

// send puts a packet on a direction at time t.
func (n *Network) send(t int64, id int, packet []byte) {
	d := n.directions[id]
	if !d.accept(t, packet) {
		n.Release(packet)
		return
	}
	if d.flight.len() == 1 {
		heap.Push(&n.pending, dueEntry{d.flight.front().due, id})
	}
}

// arrive handles a packet at the far end of a direction.
func (n *Network) arrive(t int64, id int, packet []byte) {
	iface := n.plan.Directions[id].To
	node := n.plan.Interfaces[iface].Node
	if n.plan.Nodes[node].Router {
		n.route(t, node, iface, packet)
		return
	}
	n.deliver(iface, id, t, packet)
}

// route is what a router does with a packet that came in by iface.
//
//	for the router itself? -- yes --> echo request: reply; other request: port unreachable
//	        | no
//	TTL 1 or less?  -- yes --> time exceeded, from the address of the interface it came in by
//	        | no
//	route to it?    -- no  --> host unreachable
//	        | yes
//	TTL - 1, on to the next link
func (n *Network) route(t int64, node, iface int, packet []byte) {
	dst := target(packet)
	owner, known := n.plan.owner[dst]
	from := n.plan.Interfaces[iface].Address
	switch {
	case known && owner == node:
		n.answer(t, node, dst, packet)
	case packet[offTTL] <= 1:
		n.complain(t, node, from, icmpTimeExceeded, 0, packet)
	case !known || n.plan.nextHop[node][owner] < 0:
		n.complain(t, node, from, icmpUnreachable, codeHostUnreachable, packet)
	default:
		decrementTTL(packet)
		n.send(t, n.plan.nextHop[node][owner], packet)
	}
}

// answer handles a packet for one of the router's own addresses.
func (n *Network) answer(t int64, node int, self netip.Addr, packet []byte) {
	if !isICMP(packet, icmpEchoRequest) {
		if packet[offProtocol] == protocolICMP {
			n.Release(packet) // a router asks nothing, so it waits for no answer
			return
		}
		n.complain(t, node, self, icmpUnreachable, codePortUnreachable, packet)
		return
	}
	echoReply(packet)
	n.sendBack(t, node, packet)
}

// complain sends an ICMP error about a packet, and drops the packet.
func (n *Network) complain(t int64, node int, from netip.Addr, typ, code byte, about []byte) {
	if mayAnswerWithError(about) {
		n.sendBack(t, node, icmpError(n.Buffer(), from, typ, code, about))
	}
	n.Release(about)
}

// sendBack sends a packet of the router's own on its way.
func (n *Network) sendBack(t int64, node int, packet []byte) {
	owner, known := n.plan.owner[target(packet)]
	if !known || n.plan.nextHop[node][owner] < 0 {
		n.Release(packet)
		return
	}
	n.send(t, n.plan.nextHop[node][owner], packet)
}

// dueHeap orders directions by when their first packet is due; equal times by number, so that runs repeat exactly.
type dueHeap []dueEntry

type dueEntry struct {
	due       int64
	direction int
}

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].direction < h[j].direction
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)   { *h = append(*h, x.(dueEntry)) }
func (h *dueHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
