package lab

import (
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/middlebox"
	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/stat"
)

// Network carries packets over a Plan in virtual time: routers, queues and wires, but no socket and no clock. All times
// are nanoseconds from when the lab stood. It is not safe for use by two goroutines at once.
//
// The caller alternates: Advance to now, Inject what has come, Advance again; Due says when to come back.
//
//	Inject --> host --+                                          +--> Deliver
//	                  v                                          |
//	  traffic --> [direction] --> router --> [direction] --> router or host
//	                  ^               |
//	  timeline -------+               +--> ICMP back to the sender
type Network struct {
	Pool packet.Pool
	Book *record.Book

	plan       *Plan
	directions []*link.Direction
	shapes     []link.Shape     // of each direction, whole, with every change since the file
	lateness   []stat.Histogram // of each direction that ends at a host
	handed     uint64           // packets that hosts took
	late       uint64           // of them, more than LateBound after they were due
	media      []*link.Medium   // of each link that was ever not full duplex
	tooBigs    []uint64         // of each direction: dropped by its sending router for its MTU
	boxes      []*middlebox.Box
	routes     routes
	trees      map[treeKey]*tree // of routes, as far as they were asked for
	overrides  []Route
	generators []*source
	timeline   []event // what is still to come, in order
	reroutes   []int64 // when routers will have noticed that links went down or up, in order

	agenda  agenda // directions, then generators, then timeline, then reroutes
	now     int64
	deliver Deliver
	taps    []*tap
	rounds  []uint64 // of balance: packet, by node
}

// Deliver takes a packet that reached a host's interface by way of a direction, due at the given time. The packet
// belongs to the callee until it calls Network.Handed.
type Deliver func(iface, direction int, due int64, p *packet.Packet)

// tap sees the packets that pass an interface of a node, out of it or into it, as captures do. It must not keep or
// change them.
type tap struct {
	see func(t int64, iface int, out bool, p *packet.Packet)
}

// AddTap has a tap called from now on.
func (n *Network) AddTap(t *tap) { n.taps = append(n.taps, t) }

// RemoveTap ends that.
func (n *Network) RemoveTap(t *tap) {
	n.taps = slices.DeleteFunc(n.taps, func(other *tap) bool { return other == t })
}

func (n *Network) tap(t int64, iface int, out bool, p *packet.Packet) {
	for _, tap := range n.taps {
		tap.see(t, iface, out, p)
	}
}

// NewNetwork makes a quiet network. Deliver is called from within Advance, in the order of due times.
func NewNetwork(p *Plan, deliver Deliver) (*Network, error) {
	n := &Network{plan: p, deliver: deliver, Book: record.New(record.Config{}), overrides: p.Routes}
	for i, d := range p.Directions {
		out := link.Out{
			Deliver: func(t int64, k *packet.Packet) { n.arrive(t, i, k) },
			Drop:    func(t int64, k *packet.Packet, cause packet.Cause) { n.drop(t, i, k, cause) },
		}
		n.directions = append(n.directions, link.New(0, p.Seed, i, d.Shape, &n.Pool, out))
		n.shapes = append(n.shapes, d.Shape)
	}
	n.media = make([]*link.Medium, len(p.Directions)/2)
	n.tooBigs, n.rounds = make([]uint64, len(p.Directions)), make([]uint64, len(p.Nodes))
	n.lateness = make([]stat.Histogram, len(p.Directions))
	n.joinMedia()
	n.routes, n.trees = newRoutes(p, n.overrides, n.unusable), map[treeKey]*tree{}
	if err := n.addBoxes(); err != nil {
		return nil, err
	}
	for _, c := range p.Timeline {
		n.timeline = append(n.timeline, event{Change: c})
	}
	slices.SortStableFunc(n.timeline, sooner)
	n.agenda = newAgenda(len(n.directions) + len(p.Traffic) + 2)
	n.addTraffic()
	n.planTimeline()
	return n, nil
}

// Inject takes a packet that a host sent out of an interface at time t; see Pool for where to get one. What is not a
// whole IPv4 or IPv6 packet for one receiver, or for one of the Plan's groups, is ignored: a link's own chatter is not traffic.
func (n *Network) Inject(t int64, iface int, p *packet.Packet) {
	whole, ok := packet.Whole(p.Data)
	if !ok || packet.Source(whole).IsUnspecified() {
		n.Pool.Put(p)
		return
	}
	p.Data = whole
	if packet.Target(whole).IsMulticast() {
		n.injectGroup(t, iface, p)
		return
	}
	n.Book.Begin(p, t)
	n.tap(t, iface, true, p)
	n.leave(t, iface, p)
}

// leave puts a host's packet on the link of one of its interfaces.
func (n *Network) leave(t int64, iface int, p *packet.Packet) {
	out := n.plan.Interfaces[iface].Leaves
	if size, _ := n.directions[out].MTU(); size > 0 && p.LargestPacket() > size {
		n.oversize(t, out, p)
		return
	}
	n.send(t, out, p)
}

// Due returns when something happens next, or false if nothing will.
func (n *Network) Due() (int64, bool) {
	_, at := n.agenda.next()
	return at, at != never
}

// Advance does everything that is due by now.
func (n *Network) Advance(now int64) {
	for !n.AdvanceSome(now, math.MaxInt) {
	}
}

// AdvanceSome does what is due by now, so many steps at most, and reports whether that was all.
func (n *Network) AdvanceSome(now int64, steps int) bool {
	for ; ; steps-- {
		source, at := n.agenda.next()
		if at > now {
			break
		}
		if steps == 0 {
			return false
		}
		n.now = max(n.now, at)
		switch k := source - len(n.directions); {
		case k < 0:
			n.directions[source].Step(at)
			n.reschedule(source)
		case k < len(n.generators):
			n.emit(k, at)
		case k == len(n.generators):
			n.passTimeline(at)
		default:
			n.reroute(at)
		}
	}
	n.now = max(n.now, now)
	return true
}

// send puts a packet on a direction at time t.
func (n *Network) send(t int64, id int, p *packet.Packet) {
	n.directions[id].Accept(t, p)
	n.reschedule(id)
}

func (n *Network) reschedule(id int) {
	at, ok := n.directions[id].Next()
	n.agenda.set(id, at, ok)
}

// oversize ends a packet that is larger than the MTU of a direction.
func (n *Network) oversize(t int64, direction int, p *packet.Packet) {
	n.tooBigs[direction] += uint64(p.Segments())
	p.Came = t
	n.drop(t, direction, p, packet.TooBig)
}

// drop ends a packet on a direction, or at a node where the direction is -1.
func (n *Network) drop(t int64, direction int, p *packet.Packet, cause packet.Cause) {
	if direction >= 0 {
		n.Book.Passed(int32(direction), p, t, 0, record.Dropped, cause)
	}
	n.Book.Dropped(p, t, cause, direction)
	n.Pool.Put(p)
}

// arrive handles a packet at the far end of a direction.
func (n *Network) arrive(t int64, id int, p *packet.Packet) {
	iface := n.plan.Directions[id].To
	node := n.plan.Interfaces[iface].Node
	n.Book.Passed(int32(id), p, t, 0, record.Delivered, packet.Kept)
	n.tap(t, iface, false, p)
	if n.plan.Nodes[node].Router {
		n.route(t, node, iface, p)
		return
	}
	if p.Local {
		n.consume(t, node, p)
		return
	}
	if p.LargestPacket() > n.plan.deviceMTU(iface) { // as an adapter that was not told of jumbo frames
		n.drop(t, -1, p, packet.TooBig)
		return
	}
	n.deliver(iface, id, t, p)
}

// consume ends the lab's own traffic, at its target or where it strayed to.
func (n *Network) consume(t int64, node int, p *packet.Packet) {
	if owner, known := n.plan.owner[packet.Target(p.Data)]; known && owner == node {
		n.Book.Delivered(p, t, t)
		n.Pool.Put(p)
		return
	}
	n.drop(t, -1, p, packet.NoRoute)
}

// Handed takes back a packet that the callee of Deliver has handed to its host, when it really left, or, with refused,
// tried to.
func (n *Network) Handed(p *packet.Packet, direction int, due, left int64, refused bool) {
	if refused {
		n.drop(left, -1, p, packet.HostRefused)
		return
	}
	n.handed++
	n.lateness[direction].Record(left - due)
	if left-due > int64(LateBound) {
		n.late++
	}
	n.Book.Delivered(p, due, left)
	n.Pool.Put(p)
}
