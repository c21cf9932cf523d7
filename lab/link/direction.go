package link

import (
	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/queue"
)

// Direction carries packets one way over a link, in virtual time. Times are nanoseconds on whatever clock the caller
// uses throughout.
//
// The caller alternates: Step to now, Accept what has come, Step again; Next says when to come back. Packets may come a
// little earlier than Step's last time, or than the packet before: each counts from when it came as far as what
// happened since allows.
//
// Of two directions that share a Medium either one's Next and Step cover both: a caller that asks the one that it last
// used misses nothing.
type Direction struct {
	own    pipe
	rules  []*rule
	ruled  *Rules // what rules was made from
	agenda agenda // pipes of rules that have something to do
	down   bool
	medium *Medium // nil: a wire of its own
	end    int     // of the medium
	paused bool    // has had a Pause at some time

	count Counts
	pool  *packet.Pool
	sink  Out

	into  *pipe                // where segments go
	came  int64                // when their packet came
	split func(*packet.Packet) // passes a segment to into
	lost  []bool               // by segment, see drawLosses
}

// New makes a quiet direction at time t, from which what depends on time counts. The shape is complete
// (Shape.Complete). Number tells the directions of a lab apart: with the seed it decides all that is random. Packets
// that are split or copied come from the pool.
func New(t int64, seed uint64, number int, s Shape, pool *packet.Pool, out Out) *Direction {
	d := &Direction{pool: pool, sink: out}
	d.split = func(k *packet.Packet) {
		k.Came = d.came
		d.into.accept(d.came, k)
	}
	d.own.start(t, d, identity{seed: seed, number: uint64(number)}, Shape{})
	d.Set(t, s)
	return d
}

// Set gives a running direction another shape, complete and in full: what it does not set takes its default. Packets in
// flight keep their fate, packets that wait see the new rate and queue, and a process whose settings are the same runs
// on. Rules that change begin with new pipes; what is in the old ones leaves as it would have.
//
// A shape with another Duplex changes the Medium, for both directions.
func (d *Direction) Set(t int64, s Shape) {
	d.down = s.Down != nil && bool(*s.Down)
	d.setRules(t, s.Rules)
	s.Rules = nil // not the pipe's business
	if d.medium != nil {
		d.medium.set(t, s.duplex())
	}
	d.own.set(t, s)
}

// MTU returns the size of the largest IP packet that the link takes, 0 if it has no limit, and what the node that sends
// does with a larger one.
func (d *Direction) MTU() (size int, excess Excess) {
	m := d.own.shape.MTU
	switch {
	case m == nil:
		return 0, ICMP
	case m.Excess == "":
		return int(m.Size), ICMP
	}
	return int(m.Size), m.Excess
}

// Down reports whether the direction is out of service by its shape. Outages come and go by themselves and do not show
// here.
func (d *Direction) Down() bool { return d.down }

// Counts returns the direction's counters. They go on counting; the caller only reads them.
func (d *Direction) Counts() *Counts { return &d.count }

// Classes returns what became of the packets of each class of the link's own queue; nil if it has no classes.
func (d *Direction) Classes() []queue.ClassCount {
	if q := d.own.shape.Queue; q == nil || len(q.Classes) == 0 || d.own.queue == nil {
		return nil
	}
	return d.own.queue.Classes()
}

// Accept takes over a packet that came to the direction at time t.
func (d *Direction) Accept(t int64, k *packet.Packet) {
	k.Came = t
	d.count.Packets += uint64(k.Segments())
	if d.down {
		d.drop(t, k, packet.LinkDown)
		return
	}
	if cause, out := d.own.out(t, k); out {
		d.drop(t, k, cause)
		return
	}
	p := &d.own
	if d.rules != nil {
		if p = d.pick(t, k); p != &d.own {
			d.enter(t, p, k)
			return
		}
	}
	d.pass(t, p, k)
}

// enter is pass for a rule's pipe, which may be down, or have an outage, of its own.
func (d *Direction) enter(t int64, p *pipe, k *packet.Packet) {
	if s := p.shape.Down; s != nil && bool(*s) {
		d.drop(t, k, packet.LinkDown)
		return
	}
	if cause, out := p.out(t, k); out {
		d.drop(t, k, cause)
		return
	}
	d.pass(t, p, k)
	d.agenda.update(p)
}

// pass gives a packet to a pipe, in pieces if the pipe must have it so.
func (d *Direction) pass(t int64, p *pipe, k *packet.Packet) {
	if k.VNet.Kind == packet.GSONone || p.whole {
		p.accept(t, k)
		return
	}
	d.into, d.came = p, t
	d.pool.Split(k, d.split)
}

// Next returns the time of the next thing to do, if there is any.
func (d *Direction) Next() (int64, bool) {
	at := d.next()
	if d.medium != nil {
		at = d.medium.next()
	}
	return at, at != never
}

// next is Next without the medium.
func (d *Direction) next() int64 {
	at := d.own.next()
	if len(d.agenda) > 0 {
		at = min(at, d.agenda[0].at)
	}
	return at
}

// Step does everything that is due by now, in the order of time.
func (d *Direction) Step(now int64) {
	if d.medium != nil {
		d.medium.step(now)
		return
	}
	for at := d.next(); at <= now && at != never; at = d.next() {
		d.do()
	}
}

// do does the first thing that next gave the time of.
func (d *Direction) do() {
	p := &d.own
	if len(d.agenda) > 0 && d.agenda[0].at < p.next() {
		p = d.agenda[0]
	}
	if at := p.wireNext(); at <= p.flights.due() {
		p.work(at)
		d.agenda.update(p)
		return
	}
	f := p.land()
	d.agenda.update(p)
	d.sink.Deliver(f.due, f.packet) // last, for it may come back to this direction
}

// drop gives up a packet.
func (d *Direction) drop(t int64, k *packet.Packet, c packet.Cause) {
	d.count.Dropped[c] += uint64(k.Segments())
	d.sink.Drop(t, k, c)
}

// waits counts a packet that begins to wait (1) or stops (-1).
func (d *Direction) waits(k *packet.Packet, sign int64) {
	d.count.Waiting += sign * int64(k.Segments())
	d.count.WaitingBytes += sign * int64(len(k.Data))
}

// notice keeps the largest backlog.
func (d *Direction) notice() {
	c := &d.count
	c.WaitingMax = max(c.WaitingMax, c.Waiting)
	c.WaitingBytesMax = max(c.WaitingBytesMax, c.WaitingBytes)
}
