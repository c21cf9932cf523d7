package link

import (
	"reflect"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/queue"
)

// pace says what makes packets wait.
type pace uint8

const (
	unpaced pace = iota // nothing: no rate, no queue
	paced               // a rate, a shaper, or both
	traced              // the opportunities of a trace
	shared              // a Medium, which asks for packets and says when they have left
)

// wire is the part of a pipe that sends one packet after another.
//
//	[ queue ] --> head --> on the wire until free
//	                 waits for tokens, opportunities or the Medium
type wire struct {
	kind          pace
	direct        bool        // a packet that finds nothing waiting and the wire free need not pass through the queue
	queue         queue.Queue // nil until something paces
	overhead      Overhead
	perByte       float64 // nanoseconds; 0: no rate
	shaper        *tokens
	opportunities *opportunities
	pauses        *pauses

	clock    int64   // the last time that the queue was told; it must not go back
	free     int64   // when the wire is free again
	fraction float64 // of a nanosecond that free leaves out, so that back to back packets keep the exact rate
	queued   int     // packets in queue
	head     *packet.Packet
	ready    int64 // when there are tokens for head
	unsent   int64 // what no opportunity has carried yet of head
}

// setWire changes what makes packets wait, and keeps those that do.
func (p *pipe) setWire(t int64, old, s Shape) {
	t = max(t, p.clock)
	p.clock = t // what waits was not sent before, whatever could have sent it
	p.countPauses(t)
	p.overhead = Overhead{Link: Ethernet}
	p.shaper = renew(p.shaper, old.Shaper, s.Shaper, func(b *Bucket) *tokens { return b.start(t) })
	p.opportunities = renew(p.opportunities, old.Trace, s.Trace, func(c *Trace) *opportunities { return c.start(t) })
	p.perByte, p.fraction = 0, 0
	if s.Rate != nil {
		p.perByte = 8 * 1e9 / float64(*s.Rate)
	}
	p.pauses = renew(p.pauses, old.Pause, s.Pause, func(c *Pause) *pauses { return c.start(t) })
	p.d.paused = p.d.paused || p.pauses != nil
	before := p.kind
	switch {
	case p.opportunities != nil:
		p.kind = traced
		p.overhead = Overhead{Link: None}
	case s.Rate != nil && p.d.sharing(p):
		p.kind = shared
	case s.Rate != nil || p.shaper != nil:
		p.kind = paced
	default:
		p.kind = unpaced
	}
	if s.Overhead != nil {
		p.overhead = *s.Overhead
	}
	p.direct = p.kind == paced && p.shaper == nil && s.Queue == nil
	if before == shared && p.kind != shared {
		p.d.medium.release(t, p)
	}
	if p.kind == unpaced {
		p.flush(t)
		return
	}
	p.setQueue(t, old.Queue, s.Queue)
	p.setHead(t, before)
	if p.kind == shared && before != shared {
		p.d.medium.adopt(t, p)
	}
}

// setHead fits what waits at the head to what it waits for now.
func (p *pipe) setHead(t int64, before pace) {
	if p.kind == traced {
		p.opportunities.skip(t)
	}
	if p.head == nil {
		return
	}
	size := int64(len(p.head.Data))
	p.ready = t
	if p.shaper != nil {
		p.ready = p.shaper.ready(t, size)
	}
	if before != traced {
		p.unsent = p.overhead.Frame(size)
	}
}

// setQueue makes or changes the queue. What waits moves over, as far as the new limit takes it.
func (p *pipe) setQueue(t int64, old, c *queue.Config) {
	if p.queue != nil && reflect.DeepEqual(old, c) {
		p.queue.SetLine(p.drains())
		return
	}
	before := p.queue
	p.queue = queue.New(c, p.drains(), p.stream(forQueue), queue.Out{Drop: p.overflow, Mark: p.mark})
	if before != nil {
		p.queue.Inherit(t, before)
	}
}

// drains returns what empties the queue: of a rate and a shaper, which counts IP bytes, the slower.
func (p *pipe) drains() queue.Line {
	switch s := &p.shape; {
	case p.kind == traced:
		return queue.Line{Rate: s.Trace.rate(), Frame: p.overhead.Frame}
	case p.shaper == nil || s.Rate != nil && *s.Rate <= s.Shaper.Rate:
		return queue.Line{Rate: float64(*s.Rate), Frame: p.overhead.Frame}
	}
	return queue.Line{Rate: float64(p.shape.Shaper.Rate)}
}

// flush lets all go that waits.
func (p *pipe) flush(t int64) {
	for {
		k := p.head
		p.head = nil
		if k == nil && p.queue != nil {
			k = p.pop(t)
		}
		if k == nil {
			break
		}
		p.leave(t, k)
	}
	p.queue, p.free = nil, t
}

func (p *pipe) overflow(t int64, k *packet.Packet, c packet.Cause) {
	p.queued--
	p.d.waits(k, -1)
	p.d.drop(t, k, c)
}

func (p *pipe) mark(_ int64, k *packet.Packet) { p.d.count.Marked += uint64(k.Segments()) }

// enqueue takes a packet that came at time t, and sends what can be sent by then. A packet may come a little earlier
// than the one before: kernel stamps of two devices interleave.
func (p *pipe) enqueue(t int64, k *packet.Packet) {
	t = max(t, p.clock)
	p.run(t)
	p.clock = t
	if p.head == nil && p.queued == 0 {
		if p.direct && t >= p.free && p.pauses.until(t) == t {
			p.d.count.Flying += int64(k.Segments())
			p.send(t, k)
			return
		}
		if p.kind == traced {
			p.opportunities.skip(t)
		}
	}
	p.queued++
	p.d.waits(k, 1)
	p.queue.Push(t, k)
	if p.kind == shared {
		p.d.medium.load(t, p)
	} else {
		p.run(t)
	}
	p.d.notice()
}

// pop takes the next packet out of the queue, or returns nil. It still counts as waiting.
func (p *pipe) pop(t int64) *packet.Packet {
	p.clock = max(p.clock, t)
	k := p.queue.Pop(p.clock)
	if k != nil {
		p.queued--
	}
	return k
}

// wireNext returns when the wire has something to do, or never. A Medium keeps its own time.
func (p *pipe) wireNext() int64 {
	if p.head == nil && p.queued == 0 {
		return never
	}
	switch p.kind {
	case paced:
		if p.head != nil {
			return p.pauses.until(max(p.free, p.ready))
		}
		return p.pauses.until(max(p.free, p.clock))
	case traced:
		return p.opportunities.next()
	}
	return never
}

// run does all that the wire has to do by time t.
func (p *pipe) run(t int64) {
	for at := p.wireNext(); at <= t; at = p.wireNext() {
		p.work(at)
	}
}

// work does what wireNext gave the time of.
func (p *pipe) work(at int64) {
	if p.kind == traced {
		p.seize(at)
		return
	}
	k := p.head
	if k == nil {
		if k = p.pop(at); k == nil {
			return
		}
		if p.shaper != nil {
			p.ready = p.shaper.ready(at, int64(len(k.Data)))
			if p.ready > at {
				p.head = k
				return
			}
		}
	}
	p.head = nil
	if p.shaper != nil {
		p.shaper.take(at, int64(len(k.Data)))
	}
	p.d.waits(k, -1)
	p.d.count.Flying += int64(k.Segments())
	p.send(at, k)
}

// send puts a packet on a wire with a rate, or with none, at a time at which it is free.
func (p *pipe) send(at int64, k *packet.Packet) {
	if at > p.free {
		p.fraction = 0
	}
	took := float64(p.frames(k))*p.perByte + p.fraction
	whole := int64(took + 0.5)
	p.fraction = took - float64(whole)
	p.free = at + whole
	p.launch(p.free, k)
}

// frames returns the bytes that a packet, or all the packets of a super-packet, take on the wire.
func (p *pipe) frames(k *packet.Packet) int64 {
	n := int64(k.Segments())
	if n == 1 {
		return p.overhead.Frame(int64(len(k.Data)))
	}
	first, last := segmentBytes(k, int(n))
	return (n-1)*p.overhead.Frame(int64(first)) + p.overhead.Frame(int64(last))
}

// seize uses one opportunity of the trace.
func (p *pipe) seize(at int64) {
	p.opportunities.use()
	for room := int64(opportunityBytes); room > 0; {
		if p.head == nil {
			if p.head = p.pop(at); p.head == nil {
				return
			}
			p.unsent = p.overhead.Frame(int64(len(p.head.Data)))
		}
		sent := min(room, p.unsent)
		room -= sent
		p.unsent -= sent
		if p.unsent == 0 {
			k := p.head
			p.head = nil
			p.leave(at, k)
		}
	}
}

// leave takes a packet from waiting to flying: it is on the wire, and leaves it at the given time.
func (p *pipe) leave(at int64, k *packet.Packet) {
	p.d.waits(k, -1)
	p.d.count.Flying += int64(k.Segments())
	p.launch(at, k)
}
