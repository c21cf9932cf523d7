package link

import (
	"math"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// Medium is the one wire of an Ethernet link that is not full duplex, with an adapter at each end: CSMA/CD (IEEE 802.3
// clause 4). Both directions of the link Join it; their Shapes say what it is, and while that is Full it does nothing.
//
// An adapter set to half:
//
//	         frame               hears nothing
//	idle ----------> waiting ------------------> sending --- to the end --> idle
//	                   ^  |                         |
//	   wire in use,    |  | until it is free        | the other begins, or had begun unheard
//	   or backoff      '--'                         v
//	                   ^                           jam --- 16th collision, or a late one --> frame dropped, idle
//	                   '------ back off ------------'
//
// What one end sends the other hears 240 bit times later, the longest that the standard allows; before, it may begin
// too, and both frames collide. After its n-th collision in a row a frame waits k slots of 512 bit times, k drawn
// evenly from 0 to 2^min(n,10)-1. Ends that wait for the same frame to end begin together and collide, and the winner's
// next frame meets the loser's at a lower n: the known capture effect.
//
// In a mismatch the first end is set to full: it sends whenever it has a frame, hears nothing, and never backs off. If
// that meets a frame of the second end, the second end sees a collision: in the first 512 bit times of its own frame
// one like any other, of which the first end receives a runt; later a late one, and the frame, of which the first end
// receives a part with a bad checksum, is lost for good. The first end's frame is lost either way: the second end,
// while it sends, receives no frame whole.
//
// The slot of 512 bit times is that of 10 and 100 Mbit/s; the model has it at every rate, where the standard has 4096 bit
// times and carrier extension at 1 Gbit/s, and no half duplex above.
type Medium struct {
	mode Duplex
	ends [2]station
	now  int64 // the last time at which something happened
}

// station is the adapter at one end.
type station struct {
	p       *pipe // what it sends; nil until it has joined
	frame   *packet.Packet
	sending bool
	spoilt  bool // its frame has met another and goes on; of an end set to full
	started int64
	ends    int64 // of sending
	ready   int64 // when it may try

	collisions int  // of the frame in a row
	waited     bool // the frame has been counted as deferred
}

// In bit times, IEEE 802.3 clause 4.4.2.
const (
	slotBits = 512
	jamBits  = 32
	gapBits  = 96

	// oneWayBits is how long a signal may take from end to end: the slot is what there, back and the jam take.
	oneWayBits = (slotBits - jamBits) / 2

	maxAttempts   = 16
	maxBackoffExp = 10
)

// NewMedium makes a medium that nobody has joined.
func NewMedium() *Medium { return &Medium{mode: Full} }

// Join connects a direction to a medium at time t: end 0 for the one from the link's first node, 1 for the other. A
// direction joins once.
func (d *Direction) Join(t int64, m *Medium, end int) {
	d.medium, d.end = m, end
	m.ends[end].p = &d.own
	m.mode = d.own.shape.duplex()
	m.rewire(t)
}

// sharing reports whether a pipe sends on a medium that is not full duplex.
func (d *Direction) sharing(p *pipe) bool {
	return d.medium != nil && d.medium.mode != Full && p == &d.own
}

// set changes the mode, for both ends.
func (m *Medium) set(t int64, mode Duplex) {
	if m.mode != mode {
		m.mode = mode
		m.rewire(t)
	}
}

func (m *Medium) rewire(t int64) {
	for i := range m.ends {
		if p := m.ends[i].p; p != nil {
			p.set(t, p.shape)
		}
	}
}

// adopt takes over the sending of a pipe's packets.
func (m *Medium) adopt(t int64, p *pipe) {
	s := &m.ends[p.d.end]
	s.frame, p.head = p.head, nil
	s.collisions, s.waited = 0, false
	s.ready = max(t, p.free, m.now)
	m.load(t, p)
}

// release gives it back. A frame on the wire gets through.
func (m *Medium) release(t int64, p *pipe) {
	s := &m.ends[p.d.end]
	k := s.frame
	s.frame = nil
	switch {
	case s.sending:
		s.sending, s.spoilt = false, false
		p.free = s.ends
		p.leave(s.ends, k)
	case k != nil:
		p.head = k
	}
	p.free = max(p.free, t)
}

// load gives an end its next frame, if it has none and one waits.
func (m *Medium) load(t int64, p *pipe) {
	s := &m.ends[p.d.end]
	if s.frame != nil {
		return
	}
	if s.frame = p.pop(t); s.frame != nil {
		s.ready = max(s.ready, t, m.now)
		s.collisions, s.waited = 0, false
	}
}

// due returns when an end has something to do on the wire, or never.
func (s *station) due() int64 {
	switch {
	case s.frame == nil:
		return never
	case s.sending:
		return s.ends
	}
	return s.ready
}

// next returns when something is to be done in either direction, or never.
func (m *Medium) next() int64 {
	at := never
	for i := range m.ends {
		if s := &m.ends[i]; s.p != nil {
			at = min(at, s.due(), s.p.d.next())
		}
	}
	return at
}

// step does all that is due by now, in the order of time; at equal times the wire before arrivals, end 0 before end 1.
func (m *Medium) step(now int64) {
	for at := m.next(); at <= now && at != never; at = m.next() {
		m.now = max(m.now, at)
		m.do(at)
	}
}

func (m *Medium) do(at int64) {
	for i := range m.ends {
		if s := &m.ends[i]; s.due() == at {
			if s.sending {
				m.finish(i, at)
			} else {
				m.try(i, at)
			}
			return
		}
	}
	for i := range m.ends {
		if p := m.ends[i].p; p != nil && p.d.next() == at {
			p.d.do()
			return
		}
	}
}

// bits returns how long so many bit times take.
func (s *station) bits(n int64) int64 { return int64(math.Ceil(float64(n) / 8 * s.p.perByte)) }

// deaf reports whether an end is set to full.
func (m *Medium) deaf(i int) bool { return m.mode == Mismatch && i == 0 }

// try begins to send, unless the end hears that the wire is in use.
func (m *Medium) try(i int, t int64) {
	s, other := &m.ends[i], &m.ends[1-i]
	busy := other.sending && t < other.ends
	if busy && !m.deaf(i) && t >= other.started+s.bits(oneWayBits) {
		s.wait(other.ends)
		return
	}
	s.sending, s.started = true, t
	s.ends = t + s.bits(8*s.p.overhead.Frame(int64(len(s.frame.Data))))
	switch {
	case !busy:
	case m.mode == Half:
		m.collide(t)
	default:
		m.clash(t)
	}
}

func (s *station) wait(free int64) {
	s.ready = free
	if !s.waited {
		s.waited = true
		s.p.d.count.Adapter.Deferred++
	}
}

// collide stops both ends, each in the first slot of its frame.
func (m *Medium) collide(t int64) {
	for i := range m.ends {
		m.backOff(i, t+m.ends[i].bits(jamBits))
	}
}

// clash is what becomes of two frames in a mismatch, at time t, when the later of them began.
func (m *Medium) clash(t int64) {
	full, half := &m.ends[0], &m.ends[1]
	full.spoilt = true
	over := t + half.bits(jamBits)
	if t-half.started < half.bits(slotBits) {
		full.p.d.count.Adapter.Runts++
		m.backOff(1, over)
	} else {
		full.p.d.count.Adapter.FCSErrors++
		half.p.d.count.Adapter.LateCollisions++
		m.giveUp(1, over)
	}
	half.ready = max(half.ready, full.ends) // it has heard the other by now
}

// backOff stops a frame after a collision whose jam is over at a time, and puts off the next attempt.
func (m *Medium) backOff(i int, over int64) {
	s := &m.ends[i]
	s.sending = false
	s.collisions++
	s.p.d.count.Adapter.Collisions++
	if s.collisions == maxAttempts {
		s.p.d.count.Adapter.ExcessiveCollisions++
		m.giveUp(i, over)
		return
	}
	slots := s.p.stream(forBackoff).Int64N(1 << min(s.collisions, maxBackoffExp))
	s.ready = over + s.bits(gapBits) + slots*s.bits(slotBits)
}

// giveUp drops the frame.
func (m *Medium) giveUp(i int, t int64) {
	s := &m.ends[i]
	k := s.frame
	s.frame, s.sending = nil, false
	s.p.d.waits(k, -1)
	s.p.d.drop(t, k, packet.Collision)
	s.ready = t + s.bits(gapBits)
	m.load(t, s.p)
}

// finish is the end of a frame.
func (m *Medium) finish(i int, t int64) {
	s, other := &m.ends[i], &m.ends[1-i]
	k := s.frame
	s.frame, s.sending = nil, false
	s.p.free = t
	if s.spoilt {
		s.spoilt = false
		other.p.d.count.Adapter.FCSErrors++
		s.p.d.waits(k, -1)
		s.p.d.drop(t, k, packet.FrameError)
	} else {
		s.p.leave(t, k)
	}
	m.load(t, s.p)
}
