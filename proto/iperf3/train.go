package iperf3

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Arrival is one datagram of a train.
type Arrival struct {
	Sequence int64 // from 1
	At       int64 // when the receiver's kernel had it, in ns since the first arrival
	Sent     int64 // when it was sent, in ns by the sender's own clock; 0 in all of a test whose receiver does not report it
}

// wireArrival is an Arrival in JSON: its numbers in their order, without names, as there are thousands. The first builds of
// Pathwise send two of them, and the third is read as 0.
type wireArrival [3]int64

func toWire(arrivals []Arrival) (all []wireArrival) {
	for _, a := range arrivals {
		all = append(all, wireArrival{a.Sequence, a.At, a.Sent})
	}
	return all
}

func fromWire(arrivals []wireArrival) (all []Arrival) {
	for _, a := range arrivals {
		all = append(all, Arrival{Sequence: a[0], At: a[1], Sent: a[2]})
	}
	return all
}

// Datagrams of a train go to the kernel in bursts, as one large datagram that it cuts into packets of equal size (UDP_SEGMENT,
// udp(7)). A program that hands over one by one is off its processor between them on a busy host, and the narrowest link idle.
const (
	mostBurstBytes   = 64_000 // an IP packet holds 65,535 with its headers
	mostBurstPackets = 64     // UDP_MAX_SEGMENTS before Linux 6.9
)

// sendTrains sends each train as fast as the socket takes it, or at its own pace.
func (t *transfer) sendTrains(s *stream, size int, train Train) error {
	if len(train.Steps) > 0 {
		return t.sendSteps(s, size, train.Steps)
	}
	b, due := t.newBursts(s, size, train.Small == 0), t.elapsed()
	for range train.Trains {
		if !t.sleepUntil(due) {
			return nil
		}
		if err := b.send(train.Packets, train.Small); err != nil {
			return err
		}
		due += time.Duration(train.Gap * float64(time.Second))
	}
	return nil
}

// sendSteps sends trains that differ, each when the one before has had its rest.
func (t *transfer) sendSteps(s *stream, size int, steps []Step) error {
	together, alone, due := t.newBursts(s, size, true), t.newBursts(s, size, false), t.elapsed()
	for _, step := range steps {
		b, turns, each := together, 1, step.Packets
		if step.Spacing > 0 {
			b, turns, each = alone, step.Packets, 1
		}
		spacing := time.Duration(step.Spacing * float64(time.Second))
		for turn := range turns {
			if turn > 0 { // what a sender that woke late is behind by more than one datagram it does not make up for
				due = max(due+spacing, t.elapsed()-spacing)
			}
			if !t.sleepUntil(due) {
				return nil
			}
			if err := b.send(each, 0); err != nil {
				return err
			}
		}
		due = max(due, t.elapsed()) + time.Duration(step.Rest*float64(time.Second))
	}
	if !t.awaited { // else nothing comes behind the last train that it could disturb
		t.sleepUntil(due)
	}
	return nil
}

// sleepUntil sleeps until a time of the test, and reports whether the test still goes on.
func (t *transfer) sleepUntil(due time.Duration) bool {
	for now := t.elapsed(); now < due && !t.halted.Load(); now = t.elapsed() {
		sleepFor(min(due-now, udpPoll))
	}
	return !t.halted.Load()
}

// bursts sends datagrams of a size, several at once where the kernel cuts them.
type bursts struct {
	t    *transfer
	s    *stream
	size int
	most int // in a burst
	buf  []byte
}

func (t *transfer) newBursts(s *stream, size int, cut bool) *bursts {
	b := &bursts{t: t, s: s, size: size, most: max(1, min(mostBurstBytes/size, mostBurstPackets))}
	if !cut || cutBursts(s.raw, size) != nil { // of one size alone, and not by every kernel
		b.most = 1
	}
	b.buf = payload(size * b.most)
	return b
}

// send sends datagrams back to back, of which every second one is small, if that is not 0.
func (b *bursts) send(packets, small int) error {
	for left := packets; left > 0; {
		n, each := min(left, b.most), b.size
		if small > 0 && (packets-left)%2 == 1 {
			each = small
		}
		err := b.t.sendBurst(b.s, b.buf[:n*each], each)
		if b.most > 1 && uncut(err) {
			b.most, err, n = 1, cutBursts(b.s.raw, 0), 0
		}
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// uncut reports whether the kernel refused to cut a burst: the adapter leaves it no checksums (before Linux 6.11), or the datagrams
// are larger than the path's MTU, of which each alone goes out in fragments.
func uncut(err error) bool {
	return errors.Is(err, unix.EIO) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EMSGSIZE)
}

// sendBurst sends datagrams of a size back to back, which are numbered and timed in place.
func (t *transfer) sendBurst(s *stream, datagrams []byte, size int) error {
	seq, now := s.packets.Load(), t.elapsed()
	for rest := datagrams; len(rest) > 0; rest = rest[size:] {
		seq++
		PutDatagram(rest, now, uint64(seq), bool(t.params.Counters64))
	}
	n, err := s.conn.Write(datagrams)
	if err != nil && !lostAtOnce(err) {
		return err
	}
	s.count.Add(int64(n))
	s.packets.Store(seq)
	return nil
}

// arrivalsOf returns the arrivals of trains in the order in which they came, with times since the first.
func (s *stream) arrivalsOf() []Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.arrivals)
	if len(out) == 0 {
		return nil
	}
	first := out[0].At
	for i := range out {
		out[i].At -= first
	}
	return out
}

// trainQuiet is how long no datagram of a train comes before the trains are over: a link of 64 kbit/s takes half as long for each.
const trainQuiet = 400 * time.Millisecond

// watchTrains returns a channel that is closed when the trains that this end receives are over: when their last datagram came, and what it may
// have overtaken had the gap between two trains to come as well, or, where that one was lost, when no datagram came for trainQuiet and that gap.
// Nil where this end receives no trains. It ends with over.
func (t *transfer) watchTrains(over <-chan struct{}) <-chan struct{} {
	train := t.params.train()
	if train == nil || !bool(t.params.Reverse) {
		return nil
	}
	quiet := make(chan struct{})
	go func() {
		const most = 2 * maxTime * time.Second
		gap, number := time.Duration(train.Gap*float64(time.Second)), uint64(train.Packets*train.Trains)
		any, last := func() bool { return t.receivedBytes() > 0 }, func() bool { return t.highest() >= number }
		t.await(any, t.receivedBytes, most, most, over)
		if t.await(last, t.receivedBytes, trainQuiet+gap, most, over) {
			t.await(func() bool { return false }, t.receivedBytes, gap, most, over)
		}
		close(quiet)
	}()
	return quiet
}

// allTrains reports whether all datagrams of trains came to this end; false, where there are no trains.
func (t *transfer) allTrains() bool {
	train := t.params.train()
	if train == nil {
		return false
	}
	number := uint64(train.Packets * train.Trains)
	for _, s := range t.streams {
		s.mu.Lock()
		whole := s.sender || s.track.Highest >= number && s.track.Lost == 0
		s.mu.Unlock()
		if !whole {
			return false
		}
	}
	return true
}

// highest is the highest sequence number of the datagrams that came.
func (t *transfer) highest() (seq uint64) {
	for _, s := range t.streams {
		s.mu.Lock()
		seq = max(seq, s.track.Highest)
		s.mu.Unlock()
	}
	return seq
}
