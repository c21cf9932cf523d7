package owamp

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// numbers are the sequence numbers of records, those of lost packets as minus one less.
func numbers(all []Record) []int {
	out := []int{}
	for _, r := range all {
		if r.Lost() {
			out = append(out, -1-int(r.Sequence))
		} else {
			out = append(out, int(r.Sequence))
		}
	}
	return out
}

// Of ten packets, one each second with a timeout of 2 s, what came when is noted as it should be, and what the sender says at the end counts.
func TestLedger(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all := stopped{next: 10}
	type arrival struct {
		number int
		after  float64 // seconds since the beginning; packet 0 is due after 1
	}
	for name, c := range map[string]struct {
		arrivals []arrival
		asked    float64 // when what is lost was asked for
		stop     stopped
		stopAt   float64
		want     []int // as numbers has them
		next     uint32
	}{
		"all came": {[]arrival{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 10}}, 10, all, 10.1,
			[]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10},
		"order, a duplicate and losses": {[]arrival{{0, 1}, {2, 3}, {1, 3.1}, {1, 3.2}, {4, 5}}, 30, all, 30,
			[]int{0, 2, 1, 1, 4, -4, -6, -7, -8, -9, -10}, 10},
		"nothing came":               {nil, 17.5, all, 30, []int{-1, -2, -3, -4, -5, -6, -7, -8, -9, -10}, 10},
		"too late":                   {[]arrival{{0, 1}, {1, 4.5}, {2, 5}}, 12.5, all, 30, []int{0, 2, -2, -4, -5, -6, -7, -8, -9, -10}, 10},
		"late, after it was missed":  {[]arrival{{0, 1}}, 5, stopped{next: 2}, 30, []int{0, -2}, 2},
		"not sent":                   {[]arrival{{0, 1}, {9, 10}}, 30, stopped{next: 10, skips: []Skip{{1, 8}}}, 30, []int{0, 9}, 10},
		"ended early, nothing lost":  {[]arrival{{0, 1}, {1, 2}, {2, 3}}, 3, stopped{next: 3}, 3.1, []int{0, 1, 2}, 3},
		"ended early, one under way": {[]arrival{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 4, stopped{next: 5}, 5.1, []int{0, 1, 2}, 3},
		"ended early, one lost":      {[]arrival{{0, 1}, {2, 3}, {3, 4}, {4, 5}}, 5, stopped{next: 5}, 5.1, []int{0, 2, -2}, 3},
		"ended early, skips":         {[]arrival{{0, 1}, {3, 4}}, 4, stopped{next: 8, skips: []Skip{{2, 2}, {4, 5}, {7, 7}}}, 7.9, []int{0, 3, -2}, 5},
		"skips beyond the end":       {[]arrival{{0, 1}, {1, 2}}, 2, stopped{next: 2, skips: []Skip{{5, 6}}}, 2.1, []int{0, 1}, 2},
		"one of no session":          {[]arrival{{10, 1}, {1 << 31, 1}, {0, 1}}, 1, stopped{next: 1}, 3.5, []int{0}, 1},
	} {
		terms := Terms{Packets: 10, Slots: []Slot{Fixed(time.Second)}, Timeout: 2 * time.Second}
		l := newLedger(control.SID{1}, terms, control.Request{})
		at := func(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }
		l.begin(begin)
		for _, a := range c.arrivals {
			l.arrive(control.Packet{Sequence: uint32(a.number), Error: 1}, at(a.after), at(a.after), 1, 64)
		}
		l.advance(at(c.asked), 1)
		if name == "late, after it was missed" {
			l.arrive(control.Packet{Sequence: 1, Error: 1}, at(5.1), at(5.1), 1, 64)
		}
		l.stop(c.stop, at(c.stopAt))
		got := l.snapshot(0, lastSequence)
		if diff := cmp.Diff(c.want, numbers(got.Records)); diff != "" || got.Next != c.next || !got.Finished {
			t.Errorf("%s: next %d, finished %v, want next %d\n%s", name, got.Next, got.Finished, c.next, diff)
		}
		for _, s := range got.Skipped {
			if s.Last < s.First || s.Last >= got.Next {
				t.Errorf("%s: packets %d to %d skipped, which were before %d", name, s.First, s.Last, got.Next)
			}
		}
	}
}

// A schedule that begins later than is known here moves on with the first packet, and the losses with it.
func TestLedgerLateStart(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := newLedger(control.SID{1}, Terms{Packets: 3, Slots: []Slot{Fixed(time.Second)}, Timeout: time.Second}, control.Request{})
	l.begin(begin)
	if done, again := l.advance(begin.Add(2500*time.Millisecond), 1); done || !again.Equal(begin.Add(4*time.Second+mostLead)) {
		t.Errorf("before anything came: done %v, again after %v", done, again.Sub(begin))
	}
	for i := range 3 {
		at := begin.Add(time.Duration(i)*time.Second + 3500*time.Millisecond)
		l.advance(at, 1)
		if _, noted := l.arrive(control.Packet{Sequence: uint32(i), Error: 1}, at, at, 1, 64); !noted {
			t.Errorf("packet %d is not noted", i)
		}
	}
	if !l.complete() {
		t.Error("three packets came, and it is not complete")
	}
}

// Time stamps that contradict the timeout count only where both clocks are synchronised.
func TestLedgerClocks(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	synchronised := control.EstimateOf(time.Millisecond, true)
	for _, c := range []struct {
		sent, received control.ErrorEstimate
		want           bool
	}{{synchronised, synchronised, false}, {control.Unknown, synchronised, true}, {synchronised, control.Unknown, true}} {
		l := newLedger(control.SID{1}, Terms{Packets: 1, Slots: []Slot{Fixed(0)}, Timeout: time.Second}, control.Request{})
		l.begin(now)
		p := control.Packet{Sequence: 0, Sent: control.TimestampOf(now.Add(-time.Hour)), Error: c.sent}
		if _, noted := l.arrive(p, now, now, c.received, 64); noted != c.want {
			t.Errorf("estimates %#x and %#x, an hour between the stamps: noted %v, want %v", uint16(c.sent), uint16(c.received), noted, c.want)
		}
	}
}

// However many duplicates are sent, what is kept has a bound.
func TestLedgerBounds(t *testing.T) {
	now := time.Now()
	l := newLedger(control.SID{1}, Terms{Packets: 10, Slots: []Slot{Fixed(0)}, Timeout: time.Second}, control.Request{})
	l.begin(now)
	for range 100_000 {
		l.arrive(control.Packet{Sequence: 3, Error: 1}, now, now, 1, 64)
	}
	got := l.snapshot(0, lastSequence)
	if most := 10 + mostDuplicates(10); len(got.Records) != most || got.Foreign != 100_000-most {
		t.Errorf("%d records, %d foreign; want %d and the rest", len(got.Records), got.Foreign, most)
	}
}

func TestLimits(t *testing.T) {
	second := Terms{Packets: 100, Slots: []Slot{Fixed(10 * time.Millisecond)}, Timeout: time.Second}
	limits := endpoint.Policy{}.LimitsOf(exampleAddress, "")
	for name, c := range map[string]struct {
		change func(*Terms, *endpoint.Limits)
		want   control.Accept
	}{
		"within":           {func(*Terms, *endpoint.Limits) {}, control.OK},
		"packets":          {func(t *Terms, l *endpoint.Limits) { l.Packets = 99 }, control.Never},
		"too long":         {func(t *Terms, l *endpoint.Limits) { l.Longest = 1999 * time.Millisecond }, control.Never},
		"just long enough": {func(t *Terms, l *endpoint.Limits) { l.Longest = 2 * time.Second }, control.OK},
		"rate":             {func(t *Terms, l *endpoint.Limits) { l.Rate = 40 }, control.Never},
		"bits":             {func(t *Terms, l *endpoint.Limits) { t.Padding, l.BitRate = 1000, 50*8*1062 }, control.Never},
		"bits enough":      {func(t *Terms, l *endpoint.Limits) { t.Padding, l.BitRate = 1000, 100*8*1062 }, control.OK},
		"one burst":        {func(t *Terms, l *endpoint.Limits) { t.Slots, t.Packets = []Slot{Fixed(0)}, 10_001 }, control.Never},
		"bursts with pauses": {func(t *Terms, l *endpoint.Limits) {
			t.Slots, l.Rate = []Slot{Fixed(0), Fixed(0), Fixed(0), Fixed(time.Second)}, 3
		}, control.Never},
		"beyond all durations": {func(t *Terms, l *endpoint.Limits) { t.Slots = []Slot{{fixedSlot, 1 << 63}} }, control.Never},
	} {
		terms, l := second, limits
		c.change(&terms, &l)
		if got := admit(l, terms, control.SID{}, control.Open); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
