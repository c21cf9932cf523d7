package echo

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/sock"
)

const ms = time.Millisecond

// told is a ledger of two targets, with a round every 10 ms and a timeout of 25 ms, and what it tells.
type told struct {
	ledger
	events []Event
	lates  []uint32
}

func newTold() *told {
	l := &told{ledger: ledger{plan: plan{targets: 2, interval: 10 * ms}, timeout: 25 * ms, began: time.Now(),
		ring: make([]request, ringLength(2, 10*ms, 25*ms))}}
	l.tell = func(place uint32, e Event) { e.Target = int(place); l.events = append(l.events, e) }
	l.late = func(place uint32) { l.lates = append(l.lates, place) }
	return l
}

// sendAll sends so many requests, each when it is due.
func (l *told) sendAll(n int) {
	for range n {
		l.send(l.began.Add(l.plan.due(l.next)))
	}
	l.events = nil
}

// reply is a reply that comes at a time, by both clocks.
func (l *told) reply(place, sequence uint32, after time.Duration) {
	at := l.began.Add(after)
	l.answered(Mark{Place: place, Sequence: sequence}, sock.Stamp{User: at.Add(ms), Kernel: at}, 60, netip.Addr{})
}

func (l *told) want(t *testing.T, what string, want ...Event) {
	t.Helper()
	if diff := cmp.Diff(want, l.events, comparing...); diff != "" {
		t.Errorf("%s: -want +got\n%s", what, diff)
	}
	l.events = nil
}

func TestLedgerFates(t *testing.T) {
	l := newTold()
	l.send(l.began)
	l.want(t, "the first", Event{Fate: Sent})
	l.sendAll(3) // 1: target 1 at 5 ms; 2: target 0 at 10 ms; 3: target 1 at 15 ms
	l.stamped(0, l.began.Add(ms).UnixNano())
	l.reply(0, 0, 4*ms)
	l.want(t, "by the kernel's stamps", Event{Fate: Answered, RTT: 3 * ms, Kernel: true, TTL: 60})
	l.reply(0, 0, 5*ms)
	l.want(t, "again", Event{Fate: Duplicate, RTT: 4 * ms, Kernel: true, TTL: 60})
	l.reply(1, 1, 20*ms)
	l.want(t, "without a stamp", Event{Target: 1, Sequence: 1, Fate: Answered, SentAt: 15 * ms, RTT: 6 * ms, TTL: 60})
	for _, m := range []Mark{{Place: 2}, {Place: 0, Sequence: 2}, {Place: 1 << 31, Sequence: 1 << 31}} {
		l.answered(m, sock.Stamp{User: l.began}, 60, netip.Addr{})
	}
	l.want(t, "replies to what was not sent")
	router := netip.MustParseAddr("192.0.2.99")
	l.refused(2, Event{From: router, Why: "host unreachable"})
	l.refused(2, Event{From: router, Why: "host unreachable"})
	l.refused(0, Event{From: router, Why: "host unreachable"})
	l.want(t, "refused", Event{Sequence: 1, Fate: Refused, SentAt: 10 * ms, From: router, Why: "host unreachable"})
	l.reply(0, 1, 12*ms)
	l.want(t, "a reply to what was refused")
	if next, ok := l.expire(29 * ms); next != 30*ms || !ok {
		t.Errorf("the next is given up at %v, %v; want 30ms", next, ok)
	}
	l.want(t, "before its time")
	l.expire(30 * ms)
	l.want(t, "lost", Event{Target: 1, Fate: Lost, SentAt: 5 * ms})
	l.reply(1, 0, 31*ms)
	l.want(t, "too late")
	if diff := cmp.Diff([]uint32{0, 1}, l.lates); diff != "" || l.open != 0 {
		t.Errorf("late (-want +got), %d open:\n%s", l.open, diff)
	}
	if _, ok := l.expire(time.Second); ok || l.oldest != l.next {
		t.Error("requests are kept beyond their timeout")
	}
}

// A reply that is read in time but came too late is lost (RFC 2680 section 2.4).
func TestLedgerLateBeforeExpiry(t *testing.T) {
	l := newTold()
	l.sendAll(1)
	l.reply(0, 0, 26*ms)
	l.want(t, "too late", Event{Fate: Lost})
	if len(l.lates) != 1 || l.open != 0 {
		t.Errorf("%d late, %d open; want 1, 0", len(l.lates), l.open)
	}
}

// The ring is never longer than the requests within the timeout, however long it runs; the numbers go on.
func TestLedgerRing(t *testing.T) {
	l := newTold()
	for range 10_000 {
		now := l.plan.due(l.next)
		l.expire(now)
		if l.full() {
			t.Fatalf("full before request %d", l.next)
		}
		l.send(l.began.Add(now))
	}
	sequence, place := l.plan.parts(l.next - 1)
	l.events = nil
	l.reply(place, sequence, l.plan.due(l.next-1)+ms)
	l.want(t, "the last", Event{Target: 1, Sequence: 4999, Fate: Answered, SentAt: 49995 * ms, RTT: 2 * ms, TTL: 60})
}

// A stamp belongs to the request that the kernel numbered so since it began to count anew; one of before is no later request's.
func TestLedgerStamps(t *testing.T) {
	l := newTold()
	at := func(after time.Duration) int64 { return l.began.Add(after).UnixNano() }
	l.sendAll(3)
	l.restamp()
	l.sendAll(2) // 3 at 15 ms and 4 at 20 ms
	l.stamped(0, at(11*ms))
	l.stamped(1, at(21*ms))
	l.stamped(2, at(22*ms))
	l.stamped(1<<32-1, at(22*ms))
	kernel := make([]int64, 5)
	for i := range kernel {
		kernel[i] = l.at(uint64(i)).kernel
	}
	if diff := cmp.Diff([]int64{0, 0, 0, 0, at(21 * ms)}, kernel); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The numbers of the kernel begin again after 2^32.
func TestLedgerStampsWrap(t *testing.T) {
	l := newTold()
	l.next, l.oldest = 1<<32+1, 1<<32+1
	l.sendAll(1)
	l.stamped(1, l.began.Add(l.plan.due(1<<32+1)).UnixNano())
	if l.at(1<<32+1).kernel == 0 {
		t.Error("request 2^32 + 1 has no stamp")
	}
}

func TestLedgerNewest(t *testing.T) {
	l := newTold()
	l.next = 2*70_000 + 1 // place 0 has been asked 70,001 times, place 1 70,000
	for _, c := range []struct {
		place uint32
		half  uint16
		want  uint64
		ok    bool
	}{
		{0, 70_000 - 1<<16, 2 * 70_000, true},
		{1, 70_000 - 1<<16, 2*(70_000-1<<16) + 1, true}, // it was not yet asked the 70,000th
		{1, 69_999 - 1<<16, 2*69_999 + 1, true},
		{0, 1<<16 - 1, 2 * (1<<16 - 1), true},
		{2, 0, 0, false},
	} {
		if got, ok := l.newest(c.place, c.half); got != c.want || ok != c.ok {
			t.Errorf("place %d, %d: %d, %v; want %d, %v", c.place, c.half, got, ok, c.want, c.ok)
		}
	}
	l.next = 1
	for place, half := range []uint16{5, 0} {
		if got, ok := l.newest(uint32(place), half); ok {
			t.Errorf("place %d, %d: %d of 1 request", place, half, got)
		}
	}
}
