// Package queue holds what waits for a link's wire, in virtual time: limits in packets, bytes or milliseconds of the
// link's rate; tail, head and random drop; RED and CoDel, with ECN marks in place of their drops; classes by DSCP,
// strict and weighted.
//
//	                +- table of DSCP -+
//	Push --> class? |  premium        |--> [||||] --- strict priority -------------+
//	                |  best effort    |--> [||||] --+                              +--> Pop, when the wire is free
//	                |  scavenger      |--> [||||] --+- deficit round robin --------+
//	                +-----------------+     ^ a band: limit, drop, RED at Push, CoDel at Pop
//
// It knows no wire: when the next packet leaves, and how long that takes, is the link's business. It holds single
// packets as the wire carries them; super-packets are cut before. Sizes are bytes of IP, without the link layer's
// overhead; times count it, for they are the line's.
package queue

import (
	"math/rand/v2"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Queue is what waits for a wire. The link Pushes each packet that comes, and Pops one whenever the wire is free, at
// once if it is idle: what is on the wire is not in the queue. Times are nanoseconds; one that is a little earlier
// than the last does no harm.
//
// A queue owns what was pushed until Pop returns it or Out.Drop gets it. An empty queue, or band, takes any packet, so
// that no limit closes a link. A Queue is not safe for use by two goroutines at once.
type Queue interface {
	// Push takes a packet. It may drop it, or others to make room for it.
	Push(t int64, p *packet.Packet)
	// Pop returns the packet that leaves next, or nil when none waits. CoDel may drop others before it.
	Pop(t int64) *packet.Packet
	// Len is how many packets wait, Bytes how many bytes they have.
	Len() int
	Bytes() int64
	// SetLine says what the link carries, for limits given as a time and for RED's idle times. A limit that shrinks below
	// what waits drops nothing until the next packet comes.
	SetLine(Line)
	// Classes returns the counts of each class, in the order of the configuration; of one class without a name where
	// the queue has none.
	Classes() []ClassCount
	// Inherit takes over what waits in a queue that this one replaces, in the order of coming, and the counts of
	// classes of the same name; a packet counts as come to the class that it is in now. Limits hold for what is taken
	// over; RED does not see it arrive. The other queue is empty then.
	Inherit(t int64, from Queue)

	take() *packet.Packet            // the oldest, no discipline asked
	place(t int64, p *packet.Packet) // take it in, if the limit allows
	all() []*band
}

// Line is what a queue knows of the wire behind it.
type Line struct {
	Rate  float64                // bit/s; 0: no limit
	Frame func(size int64) int64 // the bytes that an IP packet takes of it; nil: those of IP
}

func (l Line) frame(size int64) int64 {
	if l.Frame == nil {
		return size
	}
	return l.Frame(size)
}

// carries is how many bytes leave in a time.
func (l Line) carries(t notation.Span) float64 { return l.Rate / 8 * time.Duration(t).Seconds() }

// Out is where a queue tells what it does to packets. The calls come from within Push, Pop and Inherit, and must not
// call the queue.
type Out struct {
	// Drop takes over a packet that goes no further, for packet.QueueFull or packet.AQM.
	Drop func(t int64, p *packet.Packet, c packet.Cause)
	// Mark hears of a packet on which the queue has just set CE (RFC 3168), or would have if it had not been set: it
	// stays the queue's. May be nil.
	Mark func(t int64, p *packet.Packet)
}

// ClassCount is what became of a class's packets: Packets = Sent + Dropped + those that wait.
type ClassCount struct {
	Name      string `json:"name"`
	Packets   uint64 `json:"packets"` // that came
	Bytes     uint64 `json:"bytes"`
	Dropped   uint64 `json:"dropped"`
	Marked    uint64 `json:"marked"` // with CE; among those that were not dropped
	Sent      uint64 `json:"sent"`   // to the wire
	SentBytes uint64 `json:"sent_bytes"`
}

// New returns an empty queue of a valid configuration; nil stands for the zero one. Random is drawn from by RED, once for
// each packet that comes, and by random drop.
func New(c *Config, line Line, random *rand.Rand, out Out) Queue {
	if c == nil {
		c = &Config{}
	}
	if out.Mark == nil {
		out.Mark = func(int64, *packet.Packet) {}
	}
	if len(c.Classes) == 0 {
		b := newBand("", c.Discipline, random, out)
		b.SetLine(line)
		return b
	}
	s := newScheduler(c.Classes, random, out)
	s.SetLine(line)
	return s
}

// continueFrom takes on the counts of the class of the same name, if there is one, without what waits: that will be placed.
func (c *ClassCount) continueFrom(q Queue) {
	for _, b := range q.all() {
		if b.count.Name == c.Name {
			*c = b.count
			c.Packets -= uint64(b.Len())
			c.Bytes -= uint64(b.bytes)
		}
	}
}

// inherit is Inherit for any queue, but for the counts.
func inherit(t int64, to, from Queue) {
	for p := from.take(); p != nil; p = from.take() {
		to.place(t, p)
	}
}
