package gateway

import (
	"math"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// path is the link between the two interfaces in virtual time: no socket and no clock. All times are nanoseconds since
// the gateway opened. The caller alternates: advance to now, arrive with what has come, advance again; due says when to
// come back.
type path struct {
	pool   packet.Pool
	seed   uint64
	ways   [2]way // by the interface that packets come in by: forward, reverse
	medium *link.Medium
	leave  leaveFunc
}

// leaveFunc takes over a packet that leaves by an interface, due at a time. Counted packets crossed the link.
type leaveFunc func(iface int, due int64, p *packet.Packet, counted bool)

// way is one direction.
type way struct {
	shape  link.Shape
	link   *link.Direction
	nearby *link.Direction // for neighbour discovery: the delay alone
	own    address         // of the interface that frames come in by
	tooBig uint64          // packets above the MTU, which its sending end dropped
	passed uint64          // frames
}

// The directions' numbers among all that a seed decides about.
const nearbyNumber = 2 // and 3; the link's are 0 and 1

func newPath(c Config, own [2]address, leave leaveFunc) *path {
	p := &path{seed: c.Seed, leave: leave}
	for i, shape := range []link.Shape{c.Forward, c.Reverse} {
		out := link.Out{
			Deliver: func(t int64, k *packet.Packet) { p.leave(1-i, t, k, true) },
			Drop:    func(_ int64, k *packet.Packet, _ packet.Cause) { p.pool.Put(k) },
		}
		nearby := out
		nearby.Deliver = func(t int64, k *packet.Packet) { p.leave(1-i, t, k, false) }
		p.ways[i] = way{shape: shape, own: own[i],
			link:   link.New(0, c.Seed, i, shape, &p.pool, out),
			nearby: link.New(0, c.Seed, nearbyNumber+i, delayOf(shape), &p.pool, nearby)}
	}
	p.joinMedium(0)
	return p
}

func delayOf(s link.Shape) link.Shape { return link.Shape{Delay: s.Delay} }

// joinMedium puts both directions on one wire once one of them is not full duplex.
func (p *path) joinMedium(t int64) {
	d := p.ways[0].shape.Duplex
	if p.medium != nil || d == nil || *d == link.Full {
		return
	}
	p.medium = link.NewMedium()
	for i := range p.ways {
		p.ways[i].link.Join(t, p.medium, i)
	}
}

// set changes the link. What the shapes do not set stays as it is; if both directions together would be wrong nothing
// changes.
func (p *path) set(t int64, forward, reverse link.Shape) error {
	a, b := p.ways[0].shape.Over(&forward), p.ways[1].shape.Over(&reverse)
	if err := link.CheckPair(a, b); err != nil {
		return err
	}
	p.ways[0].shape, p.ways[1].shape = a, b
	p.joinMedium(t)
	for i := range p.ways {
		w := &p.ways[i]
		w.link.Set(t, w.shape)
		w.nearby.Set(t, delayOf(w.shape))
	}
	return nil
}

// arrive takes over a frame that came in by an interface at time t, its header in Frame.
func (p *path) arrive(t int64, iface int, k *packet.Packet) {
	w := &p.ways[iface]
	switch fateOf(k, w.own) {
	case stays:
		p.pool.Put(k)
	case passes:
		w.passed++
		p.leave(1-iface, t, k, false)
	case neighbour:
		w.passed++
		w.nearby.Accept(t, k)
	case crosses:
		if size, excess := w.link.MTU(); size > 0 && k.LargestPacket() > size {
			p.tooBig(t, iface, k, size, excess)
			return
		}
		w.link.Accept(t, k)
	}
}

// tooBig handles a packet that does not fit the link, as the router in front of it would.
func (p *path) tooBig(t int64, iface int, k *packet.Packet, mtu int, excess link.Excess) {
	w := &p.ways[iface]
	if excess == link.Fragment {
		packet.AllowFragments(k.Data)
	}
	if excess != link.Discard {
		if packet.Fragment(&p.pool, k, mtu, func(f *packet.Packet) { w.link.Accept(t, f) }) {
			return
		}
		if c := packet.Complaint(&p.pool, packet.Target(k.Data), k, packet.TooBigFor, mtu); c != nil {
			answerTo(c, k)
			p.leave(iface, t, c, false)
		}
	}
	w.tooBig += uint64(k.Segments())
	p.pool.Put(k)
}

// due returns when something happens next, or false if nothing will.
func (p *path) due() (int64, bool) {
	first := int64(math.MaxInt64)
	for i := range p.ways {
		for _, d := range []*link.Direction{p.ways[i].link, p.ways[i].nearby} {
			if at, ok := d.Next(); ok {
				first = min(first, at)
			}
		}
	}
	return first, first != math.MaxInt64
}

// advance does everything that is due by now. The two ways share nothing but the medium, which steps both.
func (p *path) advance(now int64) {
	for i := range p.ways {
		p.ways[i].link.Step(now)
		p.ways[i].nearby.Step(now)
	}
}
