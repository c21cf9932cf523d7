package echo

import (
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// ledger keeps the requests of a family until their timeout, in a ring by number. They leave in the order of their numbers and all have the
// same timeout, so that they are given up in that order, too, without a timer for each:
//
//	… given up | oldest … kept … | next …
type ledger struct {
	plan    plan
	timeout time.Duration
	began   time.Time
	tell    func(place uint32, e Event)
	late    func(place uint32)

	ring         []request
	oldest, next uint64 // numbers
	open         int    // requests kept whose fate is not known
	first        uint64 // the number of the request that the kernel's next series of stamps begins with
}

// request is what is kept of one.
type request struct {
	sent   time.Duration // just before, after the run began
	wall   int64         // the same by the wall clock, in ns (Unix)
	kernel int64         // the kernel's stamp, in ns (Unix); 0: none yet
	fate   Fate
}

// ringLength is how many requests are kept at most: those that leave within the timeout, and a round for those that leave early.
func ringLength(targets int, interval, timeout time.Duration) int {
	return targets * (int((timeout+interval-1)/interval) + 1)
}

func (l *ledger) at(number uint64) *request { return &l.ring[number%uint64(len(l.ring))] }

// full reports whether the next request has to wait until the oldest is given up.
func (l *ledger) full() bool { return l.next-l.oldest == uint64(len(l.ring)) }

// send takes the next request into the ring, just before it is sent.
func (l *ledger) send(before time.Time) {
	r := request{sent: before.Sub(l.began), wall: before.UnixNano()}
	*l.at(l.next) = r
	l.next++
	l.open++
	l.say(l.next-1, Event{Fate: Sent})
}

// say tells an event of a request.
func (l *ledger) say(number uint64, e Event) {
	sequence, place := l.plan.parts(number)
	e.Sequence, e.SentAt = sequence, l.at(number).sent
	l.tell(place, e)
}

// decide tells the fate of a request that was open.
func (l *ledger) decide(number uint64, e Event) {
	l.at(number).fate = e.Fate
	l.open--
	l.say(number, e)
}

// restamp says that the kernel counts stamps from 0 again, beginning with the next request.
func (l *ledger) restamp() { l.first = l.next }

// stamped takes the kernel's stamp of a request, in ns (Unix), by the number of 32 bits that the kernel gave it. A stamp that precedes its
// request belongs to one that was sent before the count began again.
func (l *ledger) stamped(id uint32, kernel int64) {
	back := uint64(uint32(l.next-1-l.first) - id) // how many requests were sent after it
	if kernel == 0 || back >= l.next-max(l.oldest, l.first) {
		return
	}
	if r := l.at(l.next - 1 - back); r.kernel == 0 && kernel >= r.wall {
		r.kernel = kernel
	}
}

// lacksStamp reports whether a reply came to a request which is open and has no stamp of the kernel yet.
func (l *ledger) lacksStamp(m Mark) bool {
	number := l.plan.number(m.Sequence, m.Place)
	return l.oldest <= number && number < l.next && l.at(number).fate == Sent && l.at(number).kernel == 0
}

// answered takes a reply. From is who sent it, where that is not the target.
func (l *ledger) answered(m Mark, at sock.Stamp, ttl int, from netip.Addr) {
	number := l.plan.number(m.Sequence, m.Place)
	switch {
	case int(m.Place) >= l.plan.targets || number >= l.next:
		return // nobody asked for it
	case number < l.oldest:
		l.late(m.Place)
		return
	}
	r := l.at(number)
	sent := sock.Stamp{User: l.began.Add(r.sent)}
	if r.kernel != 0 {
		sent.Kernel = time.Unix(0, r.kernel)
	}
	e := Event{Fate: Answered, TTL: ttl, From: from}
	e.RTT, e.Kernel = sock.Elapsed(sent, at)
	switch {
	case r.fate == Answered:
		e.Fate = Duplicate
		l.say(number, e)
	case r.fate != Sent:
		l.late(m.Place)
	case e.RTT > l.timeout:
		l.decide(number, Event{Fate: Lost})
		l.late(m.Place)
	default:
		l.decide(number, e)
	}
}

// refused takes an ICMP error about the request of a number.
func (l *ledger) refused(number uint64, e Event) {
	if l.oldest <= number && number < l.next && l.at(number).fate == Sent {
		e.Fate = Refused
		l.decide(number, e)
	}
}

// newest is the number of the newest request to a place whose sequence number has the lower half that an ICMP error quotes.
func (l *ledger) newest(place uint32, half uint16) (number uint64, ok bool) {
	if int(place) >= l.plan.targets || l.next <= uint64(place) {
		return 0, false
	}
	last := uint32((l.next - 1 - uint64(place)) / uint64(l.plan.targets))
	back := uint32(uint16(last) - half)
	if back > last {
		return 0, false
	}
	return l.plan.number(last-back, place), true
}

// expire gives up on requests that have waited for the timeout, and returns when the next will have, after the run began; ok is false where
// none is open.
func (l *ledger) expire(now time.Duration) (next time.Duration, ok bool) {
	for ; l.oldest < l.next; l.oldest++ {
		r := l.at(l.oldest)
		if end := r.sent + l.timeout; now < end {
			return end, l.open > 0
		}
		if r.fate == Sent {
			l.decide(l.oldest, Event{Fate: Lost})
		}
	}
	return 0, false
}
