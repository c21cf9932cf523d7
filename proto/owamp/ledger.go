package owamp

import (
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// ledger is what the receiver of a session makes of what arrives. It reads no clock: whoever holds it says when something was. Several
// goroutines may use it.
type ledger struct {
	mu       sync.Mutex
	session  Session
	request  control.Request
	begun    time.Time // when the sender's schedule began, by this end's clock: moved on if the first to arrive is later than that says
	heard    bool      // something arrived
	seen     marks     // a bit each packet: it came, or was noted as lost
	arrived  int       // different packets
	missed   marks     // noted as lost
	schedule *Schedule
	due      []time.Duration // of the packets from oldest on, as far as the schedule was asked
	oldest   int             // below it every packet came or was noted as lost
	last     time.Duration   // of the last packet
	stopped  bool
}

// mostDuplicates of a session are noted beside its packets; what comes beyond them is counted as foreign.
func mostDuplicates(packets int) int { return packets + 1000 }

func newLedger(id control.SID, t Terms, q control.Request) *ledger {
	return &ledger{session: Session{ID: id, Terms: t}, request: q, schedule: NewSchedule(id, t.Slots), last: t.length(id)}
}

// begin says when the schedule of the session begins by this end's clock.
func (l *ledger) begin(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = at
}

// dueAt is when a packet from oldest on was to be sent, since the start.
func (l *ledger) dueAt(sequence int) time.Duration {
	for len(l.due) <= sequence-l.oldest {
		l.due = append(l.due, l.schedule.Next())
	}
	return l.due[sequence-l.oldest]
}

// marks are one bit for each packet.
type marks []uint64

func (m marks) has(at int) bool { return at/64 < len(m) && m[at/64]>>(at%64)&1 == 1 }

func (m *marks) set(at int) {
	for len(*m) <= at/64 {
		*m = append(*m, 0)
	}
	(*m)[at/64] |= 1 << (at % 64)
}

// arrive notes a packet that came now, by this process's clock, at a moment by this end's clock, and reports whether it is one of the session's, and
// in time.
func (l *ledger) arrive(p control.Packet, now, at time.Time, e control.ErrorEstimate, ttl int) (r Record, noted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sequence := int(p.Sequence)
	packets := l.session.Terms.Packets
	if l.begun.IsZero() || l.stopped || sequence >= packets || len(l.session.Records) >= packets+mostDuplicates(packets) {
		l.session.Foreign++
		return r, false
	}
	if ttl <= 0 || ttl > noTTL {
		ttl = noTTL
	}
	r = Record{Sequence: p.Sequence, SentError: p.Error, ReceivedError: e, Sent: p.Sent, Received: control.TimestampOf(at), TTL: uint8(ttl)}
	if l.seen.has(sequence) {
		if l.missed.has(sequence) {
			return r, false // it is late: a loss
		}
		l.session.Records = append(l.session.Records, r)
		return r, true
	}
	if sequence-l.oldest > mostAhead {
		l.session.Foreign++
		return r, false
	}
	late := now.Sub(l.begun.Add(l.dueAt(sequence)))
	if !l.heard && late > 0 {
		l.begun, late = l.begun.Add(late), 0
	}
	l.heard = true
	if late > l.session.Terms.Timeout || l.impossible(r) {
		return r, false
	}
	l.seen.set(sequence)
	l.arrived++
	l.session.Records = append(l.session.Records, r)
	return r, true
}

// mostAhead bounds how far the sequence number of one packet may be beyond the oldest that is awaited: what a fast session has under way.
const mostAhead = 10_000_000

// impossible reports whether the time stamps of a packet contradict the timeout, where both clocks are synchronised (RFC 4656, section 4.2).
func (l *ledger) impossible(r Record) bool {
	_, known := r.Bound()
	return known && r.Delay().Abs() > l.session.Terms.Timeout
}

// advance notes as lost what has not come by a moment, and reports whether nothing is awaited any more, or when to ask again. As long as
// nothing came at all, the sender may begin later than is known here: nothing is lost before everything is.
func (l *ledger) advance(now time.Time, e control.ErrorEstimate) (done bool, again time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	timeout := l.session.Terms.Timeout
	if until := l.begun.Add(l.last + timeout + mostLead); !l.heard && now.Before(until) {
		return false, until
	}
	for ; l.oldest < l.session.Terms.Packets; l.oldest++ {
		due := l.begun.Add(l.dueAt(l.oldest))
		if !l.seen.has(l.oldest) {
			if until := due.Add(timeout); now.Before(until) {
				return false, until
			}
			l.miss(l.oldest, due, e)
		}
		l.due = l.due[1:]
	}
	return true, now
}

// miss notes a packet as lost.
func (l *ledger) miss(sequence int, due time.Time, e control.ErrorEstimate) {
	l.seen.set(sequence)
	l.missed.set(sequence)
	l.session.Records = append(l.session.Records, Record{Sequence: uint32(sequence), SentError: control.Unknown, ReceivedError: e,
		Sent: control.TimestampOf(due), TTL: noTTL})
}

// stop ends the session by what its sender says of it, at a moment: packets that were not sent are not lost. Where the session ends before its
// time and a packet is missing, those that may still be under way, and their fellows, are taken out, so that slow ones are not fewer than others.
func (l *ledger) stop(s stopped, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	l.stopped = true
	next, whole := l.wholeBy(s)
	l.session.Next, l.session.Finished = uint32(next), true
	cut := now.Sub(l.begun) - l.session.Terms.Timeout
	schedule := NewSchedule(l.session.ID, l.session.Terms.Slots)
	due := make([]time.Duration, 0, next)
	for range next {
		due = append(due, schedule.Next())
	}
	l.session.Records = slices.DeleteFunc(l.session.Records, func(r Record) bool {
		at := int(r.Sequence)
		return at >= next || r.Lost() && skipped(s.skips, r.Sequence) || !whole && due[at] > cut
	})
	if !whole {
		for l.session.Next > 0 && due[l.session.Next-1] > cut {
			l.session.Next--
		}
	}
	l.session.Skipped = below(l.session.Next, s.skips)
	for at := range due[:l.session.Next] {
		if !l.seen.has(at) && !skipped(l.session.Skipped, uint32(at)) {
			l.miss(at, l.begun.Add(due[at]), control.Unknown)
		}
	}
	l.seen, l.due, l.missed = nil, nil, nil
}

// wholeBy is how many packets the session has by what its sender says of it, and whether all that were sent arrived.
func (l *ledger) wholeBy(s stopped) (next int, whole bool) {
	next = min(int(s.next), l.session.Terms.Packets)
	sent := next
	for _, k := range s.skips {
		sent -= max(0, min(int(k.Last)+1, next)-int(k.First))
	}
	return next, l.arrived >= sent
}

// whole reports whether every packet arrived that the sender says that it sent.
func (l *ledger) whole(s stopped) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, whole := l.wholeBy(s)
	return whole
}

// over is when the last packet is lost if it did not come.
func (l *ledger) over() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun.Add(l.last + l.session.Terms.Timeout)
}

// below are the parts of ranges that are below a number.
func below(next uint32, skips []Skip) (all []Skip) {
	for _, s := range skips {
		if s.First < next {
			all = append(all, Skip{s.First, min(s.Last, next-1)})
		}
	}
	return all
}

func skipped(skips []Skip, sequence uint32) bool {
	_, in := slices.BinarySearchFunc(skips, sequence, func(s Skip, n uint32) int {
		switch {
		case s.Last < n:
			return -1
		case s.First > n:
			return 1
		}
		return 0
	})
	return in
}

// snapshot is the session so far, of packets in a range.
func (l *ledger) snapshot(first, last uint32) Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.session
	s.Records = nil
	for _, r := range l.session.Records {
		if first <= r.Sequence && r.Sequence <= last {
			s.Records = append(s.Records, r)
		}
	}
	return s
}

// complete reports whether every packet of the session arrived.
func (l *ledger) complete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.arrived >= l.session.Terms.Packets
}

// foreign counts a packet that is none of the session's.
func (l *ledger) foreign() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session.Foreign++
}

// bytes is how much arrived, in packets of a length.
func (l *ledger) bytes(each int) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.arrived) * int64(each)
}
