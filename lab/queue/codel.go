package queue

import (
	"cmp"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// codel is controlled delay's state (RFC 8289 section 5.2).
//
//	          delay above target for an interval: drop one
//	+---------+ ------------------------------------------> +----------+
//	| sending |                                             | dropping | drop one at next; next += interval/sqrt(count)
//	+---------+ <------------------------------------------ +----------+
//	          delay below target, or no more than one packet's bytes wait
type codel struct {
	target, interval int64
	largest          int64 // packet seen: with no more bytes than it waiting, nothing is dropped

	dropping bool
	above    int64 // when the delay will have been above target for an interval; 0: it is below
	next     int64 // when to drop next
	count    int   // drops since dropping began
	entered  int   // count when dropping last began
}

// Constants of RFC 8289 section 5.3 (the first two are defaults), 5.2 and 5.5.
const (
	defaultTarget   = notation.Span(5 * time.Millisecond)
	defaultInterval = notation.Span(100 * time.Millisecond)
	smallestLargest = 512
	rememberedFor   = 16 // intervals after which the last drop rate is forgotten
)

// times returns target and interval, or their defaults.
func (c *CoDel) times() (target, interval notation.Span) {
	target, interval = c.Target, c.Interval
	target = cmp.Or(target, defaultTarget)
	interval = cmp.Or(interval, defaultInterval)
	return target, interval
}

func newCoDel(c *CoDel) *codel {
	target, interval := c.times()
	return &codel{target: int64(target), interval: int64(interval), largest: smallestLargest}
}

// law is the control law: drops come closer as the square root of their count.
func (c *codel) law(t int64) int64 {
	return t + int64(math.Round(float64(c.interval)/math.Sqrt(float64(c.count))))
}

// tooLong says whether a packet that leaves at t, with so many bytes behind it, has shown a delay above target for an
// interval (the second half of RFC 8289's dodequeue).
func (c *codel) tooLong(t int64, p *packet.Packet, behind int64) bool {
	if t-p.Came < c.target || behind <= c.largest {
		c.above = 0
		return false
	}
	if c.above == 0 {
		c.above = t + c.interval
		return false
	}
	return t >= c.above
}

// takeJudged takes the oldest packet, and says whether it may be dropped.
func (b *band) takeJudged(t int64) (p *packet.Packet, droppable bool) {
	p = b.take()
	if p == nil {
		b.codel.above = 0
		return nil, false
	}
	return p, b.codel.tooLong(t, p, b.bytes)
}

// controlled is RFC 8289's dequeue (section 5.5), with marks in place of drops: a packet that can be marked is, and
// leaves, where another would have been dropped.
func (b *band) controlled(t int64) *packet.Packet {
	c := b.codel
	p, droppable := b.takeJudged(t)
	if !c.dropping {
		if droppable {
			p = b.begin(t, p)
		}
		return p
	}
	if !droppable {
		c.dropping = false
	}
	for c.dropping && t >= c.next {
		c.count++
		if b.ecn && markable(p) {
			b.mark(t, p)
			c.next = c.law(c.next)
			return p
		}
		b.lose(t, p, packet.AQM)
		p, droppable = b.takeJudged(t)
		if !droppable {
			c.dropping = false
			break
		}
		c.next = c.law(c.next)
	}
	return p
}

// begin drops or marks a first packet and returns the one that leaves. If the last drops were not long ago, their rate
// is a good one to begin with.
func (b *band) begin(t int64, p *packet.Packet) *packet.Packet {
	c := b.codel
	if b.ecn && markable(p) {
		b.mark(t, p)
	} else {
		b.lose(t, p, packet.AQM)
		p, _ = b.takeJudged(t)
	}
	c.dropping = true
	recent := c.count - c.entered
	c.count = 1
	if recent > 1 && t-c.next < rememberedFor*c.interval {
		c.count = recent
	}
	c.next = c.law(t)
	c.entered = c.count
	return p
}
