package queue

import (
	"math/rand/v2"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// band is one queue of packets in the order in which they came, with its discipline: the whole of a Queue without
// classes, or one class.
type band struct {
	waiting ring
	bytes   int64 // of IP
	wire    int64 // what they are on the line

	line  Line
	limit Amount
	most  backlog // what limit is on the line
	drop  Drop
	red   *red   // nil: none
	codel *codel // nil: none
	ecn   bool

	random *rand.Rand
	out    Out
	count  ClassCount
}

func newBand(name string, d Discipline, random *rand.Rand, out Out) *band {
	b := &band{limit: d.Limit, drop: d.Drop, ecn: d.ECN, random: random, out: out, count: ClassCount{Name: name}}
	if d.RED != nil {
		b.red = newRED(d.RED, random)
	}
	if d.CoDel != nil {
		b.codel = newCoDel(d.CoDel)
	}
	return b
}

func (b *band) Len() int              { return b.waiting.live }
func (b *band) Bytes() int64          { return b.bytes }
func (b *band) Classes() []ClassCount { return []ClassCount{b.count} }
func (b *band) all() []*band          { return []*band{b} }

func (b *band) SetLine(line Line) {
	b.line, b.most, b.wire = line, b.limit.limits(line), 0
	b.waiting.each(func(p *packet.Packet) { b.wire += line.frame(int64(len(p.Data))) })
	if b.red != nil {
		b.red.setLine(line)
	}
}

func (b *band) Push(t int64, p *packet.Packet) {
	b.count.Packets++
	b.count.Bytes += uint64(len(p.Data))
	mark := false
	if b.red != nil {
		switch b.red.arrive(t, int64(len(p.Data)), backlog{b.waiting.live, b.bytes, b.wire}) {
		case early:
			mark = b.ecn && markable(p)
			if !mark {
				b.lose(t, p, packet.AQM)
				return
			}
		case forced:
			b.lose(t, p, packet.AQM)
			return
		}
	}
	if !b.makeRoom(t, int64(len(p.Data))) {
		b.lose(t, p, packet.QueueFull)
		return
	}
	if mark {
		b.mark(t, p)
	}
	b.add(p)
}

func (b *band) Pop(t int64) *packet.Packet {
	var p *packet.Packet
	if b.codel != nil {
		p = b.controlled(t)
	} else {
		p = b.take()
	}
	if p == nil {
		return nil
	}
	b.count.Sent++
	b.count.SentBytes += uint64(len(p.Data))
	if b.red != nil && b.waiting.live == 0 {
		b.red.idle = t
	}
	return p
}

func (b *band) Inherit(t int64, from Queue) {
	b.count.continueFrom(from)
	inherit(t, b, from)
}

func (b *band) place(t int64, p *packet.Packet) {
	b.count.Packets++
	b.count.Bytes += uint64(len(p.Data))
	if !b.makeRoom(t, int64(len(p.Data))) {
		b.lose(t, p, packet.QueueFull)
		return
	}
	b.add(p)
}

func (b *band) add(p *packet.Packet) {
	b.waiting.push(p)
	b.weigh(p, 1)
	if b.codel != nil {
		b.codel.largest = max(b.codel.largest, int64(len(p.Data)))
	}
}

func (b *band) take() *packet.Packet {
	p := b.waiting.pop()
	if p != nil {
		b.weigh(p, -1)
	}
	return p
}

// weigh counts a packet that begins to wait (1) or stops (-1).
func (b *band) weigh(p *packet.Packet, sign int64) {
	size := int64(len(p.Data))
	b.bytes += sign * size
	b.wire += sign * b.line.frame(size)
}

// fits reports whether size more bytes may wait.
func (b *band) fits(size int64) bool {
	return b.waiting.live < b.most.packets && b.bytes+size <= b.most.bytes && b.wire+b.line.frame(size) <= b.most.wire
}

// makeRoom drops what the discipline drops until size more bytes fit, or says that the new packet is to go.
func (b *band) makeRoom(t, size int64) bool {
	for b.waiting.live > 0 && !b.fits(size) {
		switch b.drop {
		case HeadDrop:
			b.lose(t, b.take(), packet.QueueFull)
		case RandomDrop:
			p := b.waiting.takeRandom(b.random)
			b.weigh(p, -1)
			b.lose(t, p, packet.QueueFull)
		default:
			return false
		}
	}
	return true
}

func (b *band) lose(t int64, p *packet.Packet, c packet.Cause) {
	b.count.Dropped++
	b.out.Drop(t, p, c)
}

// The values of the ECN field (RFC 3168 section 5) that matter here; between them are ECT(1) and ECT(0).
const (
	notECT = 0b00
	ce     = 0b11
)

// markable says whether the packet's ends know ECN: ECT(0), ECT(1), or CE from a queue before this one.
func markable(p *packet.Packet) bool { return packet.ECN(p.Data) != notECT }

func (b *band) mark(t int64, p *packet.Packet) {
	packet.SetECN(p.Data, ce)
	b.count.Marked++
	b.out.Mark(t, p)
}
