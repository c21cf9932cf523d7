package queue

import (
	"math"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// standing is a queue under CoDel with a thousand packets that came at 0, and its defaults: 5 ms, 100 ms.
func standing(ecn bool, field byte) *traced {
	q := newTraced(Config{Discipline: Discipline{Limit: Amount{Packets: 10_000}, CoDel: &CoDel{}, ECN: ecn}}, 0, 1)
	for i := range 1000 {
		q.Push(0, coded(uint64(i), 1000, 0, 0, field))
	}
	return q
}

const (
	target   = int64(5 * time.Millisecond)
	interval = int64(100 * time.Millisecond)
)

// The control law: the first drop comes an interval after the first packet that waited for the target, each later one
// interval/sqrt(n) after the n-th. A Pop a nanosecond before such a time drops nothing, a Pop at it one. Times are
// rounded to nanoseconds one after the other, so that the n-th is at most n/2 ns from the exact sum. With ECN they are
// those of marks.
func TestCoDelControlLaw(t *testing.T) {
	for _, ecn := range []bool{false, true} {
		q := standing(ecn, ect0)
		struck := func() int { return len(q.dropped) + len(q.marked) }
		q.Pop(target - 1) // not above the target yet
		q.Pop(target)     // the interval begins
		at := float64(target + interval)
		for n := 1; n <= 100; n++ {
			q.Pop(int64(at) - int64(n)) // the error of n roundings is less
			if struck() != n-1 {
				t.Fatalf("ECN %v: drop %d came before %.0f ns", ecn, n, at)
			}
			due := int64(at)
			if n > 1 {
				due = q.Queue.(*band).codel.next
			}
			if math.Abs(float64(due)-at) > 0.5*float64(n) {
				t.Fatalf("ECN %v: drop %d due at %d, want %.1f", ecn, n, due, at)
			}
			q.Pop(due - 1)
			if struck() != n-1 {
				t.Fatalf("ECN %v: drop %d came a nanosecond early", ecn, n)
			}
			q.Pop(due)
			if struck() != n {
				t.Fatalf("ECN %v: %d drops at %d, want %d", ecn, struck(), due, n)
			}
			at += float64(interval) / math.Sqrt(float64(n))
		}
		if ecn && len(q.dropped) > 0 || !ecn && q.causes[packet.AQM] != 100 {
			t.Errorf("ECN %v: %v dropped", ecn, q.causes)
		}
	}
}

// A packet that can be marked leaves with its mark; one that cannot is dropped, and the next leaves.
func TestCoDelMarks(t *testing.T) {
	for _, c := range []struct {
		name   string
		ecn    bool
		field  byte
		marked int
	}{
		{"ECT(0)", true, ect0, 1},
		{"ECT(1)", true, ect1, 1},
		{"CE already", true, ce, 1},
		{"not ECT", true, notECT, 0},
		{"no ECN", false, ect0, 0},
	} {
		q := standing(c.ecn, c.field)
		q.Pop(target)
		p := q.Pop(target + interval)
		if len(q.marked) != c.marked || len(q.dropped) != 1-c.marked {
			t.Errorf("%s: %v marked, %v dropped", c.name, q.marked, q.dropped)
		}
		want, number := c.field, uint64(2)
		if c.marked == 1 {
			want, number = ce, 1
		}
		if packet.ECN(p.Data) != want || p.Number != number {
			t.Errorf("%s: packet %d leaves with ECN %02b; want %d, %02b", c.name, p.Number, packet.ECN(p.Data), number, want)
		}
	}
}

// Several drops that are overdue come at once, before one packet leaves; marks come one with each packet.
func TestCoDelCatchesUp(t *testing.T) {
	// The drops after the first, at 105 ms, are due at 205, 275.7, 333.4 and 383.4 ms.
	q := standing(false, 0)
	q.Pop(target)
	q.Pop(target + interval)
	if p := q.Pop(350e6); len(q.dropped) != 4 || p.Number != 6 {
		t.Errorf("dropped %v, packet %d leaves; want 1, 3, 4, 5 and 6", q.dropped, p.Number)
	}
	q = standing(true, ect0)
	q.Pop(target)
	q.Pop(target + interval)
	q.Pop(350e6)
	q.Pop(350e6)
	if len(q.marked) != 3 {
		t.Errorf("marked %v; want 3", q.marked)
	}
}

// A delay below the target once within the interval starts it anew.
func TestCoDelForgivesAGoodPacket(t *testing.T) {
	q := newTraced(Config{Discipline: Discipline{CoDel: &CoDel{}}}, 0, 1)
	for i := range 100 {
		came := int64(0)
		if i == 1 {
			came = 60e6
		}
		q.Push(came, numbered(uint64(i), 1000, came))
	}
	q.Pop(10e6)  // above
	q.Pop(64e6)  // the good one
	q.Pop(70e6)  // above again
	q.Pop(169e6) // 99 ms later
	if len(q.dropped) != 0 {
		t.Errorf("dropped %v, want none before 170 ms", q.dropped)
	}
	q.Pop(170e6)
	if len(q.dropped) != 1 {
		t.Errorf("dropped %v, want one at 170 ms", q.dropped)
	}
}

// With no more than the largest packet's bytes behind it nothing is dropped, however late it is.
func TestCoDelSparesTheLastPackets(t *testing.T) {
	for _, c := range []struct{ last, dropped int }{{1500, 0}, {1501, 1}} {
		q := newTraced(Config{Discipline: Discipline{CoDel: &CoDel{}}}, 0, 1)
		q.Push(0, numbered(0, 1500, 0))
		q.Push(0, numbered(1, 1500, 0))
		q.Push(0, numbered(2, 1500, 0))
		q.Push(0, numbered(3, c.last-1400, 0))
		q.Push(0, numbered(4, 1400, 0))
		q.Pop(1e9) // 4500 or 4501 behind
		q.Pop(1e9) // 3000: the interval is running
		q.Pop(2e9) // 1500 or 1501 behind
		if len(q.dropped) != c.dropped {
			t.Errorf("%d bytes behind: dropped %v, want %d", c.last, q.dropped, c.dropped)
		}
	}
}

// Dropping that resumes within 16 intervals goes on at about the rate where it left; later it starts afresh.
func TestCoDelRemembersItsRate(t *testing.T) {
	for _, c := range []struct {
		name  string
		pause int64 // from the last drop's successor to the new first drop
		count int
	}{{"soon", 2 * interval, 10}, {"just in time", 16*interval - 1, 10}, {"too late", 16 * interval, 1}} {
		q := standing(false, 0)
		state := q.Queue.(*band).codel
		q.Pop(target)
		q.Pop(target + interval)
		for range 10 { // ten more than the one it began with
			q.Pop(state.next)
		}
		if state.count != 11 {
			t.Fatalf("%s: count %d after 11 drops", c.name, state.count)
		}
		q.rest(state.next - 1) // all leave; nothing more is due
		if state.dropping || state.above != 0 {
			t.Fatalf("%s: an empty queue is still dropping", c.name)
		}
		again := state.next + c.pause
		came := again - interval - target
		for i := range 100 {
			q.Push(came, numbered(uint64(2000+i), 1000, came))
		}
		q.Pop(again - interval)
		before := len(q.dropped)
		q.Pop(again)
		if len(q.dropped) != before+1 || state.count != c.count {
			t.Errorf("%s: %d dropped, count %d; want 1, %d", c.name, len(q.dropped)-before, state.count, c.count)
		}
		if want := again + int64(math.Round(float64(interval)/math.Sqrt(float64(c.count)))); state.next != want {
			t.Errorf("%s: next drop at %d, want %d", c.name, state.next, want)
		}
	}
}
