package lab

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// direction carries packets one way over a link, in virtual time. Times are nanoseconds on whatever clock the caller
// uses throughout; a packet that is accepted leaves in the order in which it came.
//
//	accept(t) -> full? -- yes --> dropped.queue
//	               | no
//	          [ wait for the wire | serialize at rate ] -> lost? -- yes --> dropped.loss
//	                                                         | no
//	                                                    [ delay ] -> due
type direction struct {
	rate         float64 // bit/s, 0: infinite
	delay        int64
	loss         float64
	queueBytes   int64 // 0: no limit in bytes
	queuePackets int   // 0: no limit in packets

	random  *rand.Rand
	wire    int64 // when the wire is free again
	lastDue int64
	waiting fifo[waiting]
	backlog int64 // bytes waiting
	flight  fifo[flight]

	count counters
	took  stat.Histogram // nanoseconds from accept to due
	late  stat.Histogram // nanoseconds from due to written, of packets that left the lab here
}

type waiting struct {
	starts int64 // when its serialization begins
	size   int64
}

type flight struct {
	due    int64
	packet []byte
}

// counters say what became of each packet: packets = delivered + the dropped + those still under way.
type counters struct {
	packets, delivered, lost, overflowed uint64
}

// Ethernet's cost around an IP packet: preamble 8, header 14, FCS 4, gap 12 (IEEE 802.3); short frames are padded to
// 46 bytes of payload.
const (
	ethernetOverhead = 38
	ethernetMinimum  = 46
)

func newDirection(seed uint64, number int, s Shape) *direction {
	d := &direction{random: rand.New(rand.NewPCG(seed, uint64(number)))}
	d.set(s)
	return d
}

// set changes what s sets, for packets that come from now on.
func (d *direction) set(s Shape) {
	if s.Rate != nil {
		d.rate = float64(*s.Rate)
	}
	if s.Delay != nil {
		d.delay = int64(*s.Delay)
	}
	if s.Loss != nil {
		d.loss = float64(*s.Loss)
	}
	switch {
	case s.Queue != nil:
		d.queueBytes, d.queuePackets = s.Queue.Bytes, s.Queue.Packets
	case s.Rate != nil:
		d.queueBytes, d.queuePackets = defaultQueue(d.rate), 0
	}
}

// defaultQueue holds 100 ms of the rate, the usual provision for a path of 100 ms (RFC 6349 section 3.3.1 asks for a
// bandwidth-delay product), and never less than 64 full frames, so that slow links still take a burst.
func defaultQueue(rate float64) int64 {
	const frames = 64 * 1500
	return max(int64(rate*0.1/8), frames)
}

// accept takes a packet at time t, or reports that it was dropped: then the caller keeps the buffer. One random
// number is drawn for each packet, whatever becomes of it, so that the fate of packet n depends on the seed and n.
func (d *direction) accept(t int64, packet []byte) bool {
	d.count.packets++
	draw := d.random.Float64()
	d.drain(t)
	size := int64(len(packet))
	starts := max(t, d.wire)
	if starts > t {
		if d.queuePackets > 0 && d.waiting.len() >= d.queuePackets || d.queueBytes > 0 && d.backlog+size > d.queueBytes {
			d.count.overflowed++
			return false
		}
		d.waiting.push(waiting{starts, size})
		d.backlog += size
	}
	d.wire = starts + d.serialization(size)
	if draw < d.loss {
		d.count.lost++
		return false
	}
	due := max(d.wire+d.delay, d.lastDue)
	d.lastDue = due
	d.took.Record(due - t)
	d.flight.push(flight{due, packet})
	return true
}

// drain forgets what has begun to leave the queue by time t.
func (d *direction) drain(t int64) {
	for d.waiting.len() > 0 && d.waiting.front().starts <= t {
		d.backlog -= d.waiting.pop().size
	}
}

func (d *direction) serialization(size int64) int64 {
	if d.rate <= 0 {
		return 0
	}
	bits := float64(8 * (max(size, ethernetMinimum) + ethernetOverhead))
	return int64(math.Round(bits / d.rate * float64(time.Second)))
}

// fifo is a queue in a ring that grows.
type fifo[T any] struct {
	ring        []T
	first, size int
}

func (f *fifo[T]) len() int  { return f.size }
func (f *fifo[T]) front() *T { return &f.ring[f.first] }

func (f *fifo[T]) push(v T) {
	if f.size == len(f.ring) {
		grown := make([]T, max(16, 2*len(f.ring)))
		n := copy(grown, f.ring[f.first:])
		copy(grown[n:], f.ring[:f.first])
		f.ring, f.first = grown, 0
	}
	f.ring[(f.first+f.size)&(len(f.ring)-1)] = v // the ring's length is a power of two
	f.size++
}

func (f *fifo[T]) pop() T {
	v := f.ring[f.first]
	var zero T
	f.ring[f.first] = zero
	f.first = (f.first + 1) & (len(f.ring) - 1)
	f.size--
	return v
}
