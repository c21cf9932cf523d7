package queue

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

const (
	ms     = notation.Span(time.Millisecond)
	second = int64(time.Second)

	ect0 = 0b10
	ect1 = 0b01
)

// traced is a queue with what it said kept, by packet number.
type traced struct {
	Queue
	dropped []uint64
	causes  map[packet.Cause]int
	marked  []uint64
}

func newTraced(c Config, rate float64, seed uint64) *traced {
	q := &traced{causes: map[packet.Cause]int{}}
	q.Queue = New(&c, Line{Rate: rate}, rand.New(rand.NewPCG(seed, 1)), Out{
		Drop: func(_ int64, p *packet.Packet, c packet.Cause) {
			q.dropped = append(q.dropped, p.Number)
			q.causes[c]++
		},
		Mark: func(_ int64, p *packet.Packet) { q.marked = append(q.marked, p.Number) },
	})
	return q
}

// numbered is an IPv4 packet of the given length, which came at t.
func numbered(number uint64, length int, t int64) *packet.Packet {
	return coded(number, length, t, 0, 0)
}

func coded(number uint64, length int, t int64, dscp, ecn byte) *packet.Packet {
	p := &packet.Packet{Data: make([]byte, length), Number: number, Came: t}
	p.Data[0] = 0x45
	packet.SetDSCP(p.Data, dscp)
	packet.SetECN(p.Data, ecn)
	return p
}

// rest pops all that waits at t.
func (q *traced) rest(t int64) []uint64 {
	var left []uint64
	for p := q.Pop(t); p != nil; p = q.Pop(t) {
		left = append(left, p.Number)
	}
	return left
}

func limited(a Amount, drop Drop) Config { return Config{Discipline: Discipline{Limit: a, Drop: drop}} }

// How many of 200 packets of 1500 bytes a queue holds, by its limit and the rate.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit Amount
		rate  float64
		want  int
	}{
		{"packets", Amount{Packets: 10}, 1e9, 10},
		{"one packet", Amount{Packets: 1}, 0, 1},
		{"bytes", Amount{Bytes: 15000}, 1e9, 10},
		{"a byte short", Amount{Bytes: 14999}, 1e9, 9},
		{"less than a packet", Amount{Bytes: 100}, 1e9, 1},
		{"time", Amount{Time: 12 * ms}, 10e6, 10},
		{"a little less time", Amount{Time: 12*ms - 1000}, 10e6, 9},
		{"time without a rate", Amount{Time: ms}, 0, 200},
		{"default of a slow link", Amount{}, 56e3, 64},
		{"default of a faster link", Amount{}, 12e6, 100},
		{"default without a rate", Amount{}, 0, 200},
	} {
		q := newTraced(limited(c.limit, ""), c.rate, 1)
		for i := range 200 {
			q.Push(0, numbered(uint64(i), 1500, 0))
		}
		if q.Len() != c.want || q.Bytes() != int64(1500*c.want) {
			t.Errorf("%s: %d packets, %d bytes; want %d packets", c.name, q.Len(), q.Bytes(), c.want)
		}
		want := map[packet.Cause]int{packet.QueueFull: 200 - c.want}
		if c.want == 200 {
			want = map[packet.Cause]int{}
		}
		if diff := cmp.Diff(want, q.causes); diff != "" {
			t.Errorf("%s: dropped (-want +got):\n%s", c.name, diff)
		}
	}
}

// Which packets go, and that the others keep their order: five packets into room for three.
func TestDrop(t *testing.T) {
	for _, c := range []struct {
		drop          Drop
		dropped, left []uint64
	}{
		{TailDrop, []uint64{3, 4}, []uint64{0, 1, 2}},
		{"", []uint64{3, 4}, []uint64{0, 1, 2}},
		{HeadDrop, []uint64{0, 1}, []uint64{2, 3, 4}},
		{RandomDrop, []uint64{2, 3}, []uint64{0, 1, 4}}, // by this seed
	} {
		q := newTraced(limited(Amount{Packets: 3}, c.drop), 0, 1)
		for i := range 5 {
			q.Push(0, numbered(uint64(i), 100, 0))
		}
		left := q.rest(0)
		if !cmp.Equal(q.dropped, c.dropped) || !cmp.Equal(left, c.left) {
			t.Errorf("%q: dropped %v, left %v; want %v, %v", c.drop, q.dropped, left, c.dropped, c.left)
		}
	}
}

// A large packet pushes out as many small ones as it needs room for.
func TestHeadDropMakesRoom(t *testing.T) {
	q := newTraced(limited(Amount{Bytes: 1000}, HeadDrop), 0, 1)
	for i := range 10 {
		q.Push(0, numbered(uint64(i), 100, 0))
	}
	q.Push(0, numbered(10, 250, 0))
	if want := []uint64{0, 1, 2}; !cmp.Equal(q.dropped, want) {
		t.Errorf("dropped %v, want %v", q.dropped, want)
	}
	if q.Len() != 8 || q.Bytes() != 950 {
		t.Errorf("%d packets of %d bytes wait; want 8 of 950", q.Len(), q.Bytes())
	}
}

// A rate that falls drops nothing that waits; the limit holds for what comes.
func TestSetLine(t *testing.T) {
	q := newTraced(limited(Amount{Time: 12 * ms}, TailDrop), 10e6, 1)
	for i := range 10 {
		q.Push(0, numbered(uint64(i), 1500, 0))
	}
	q.SetLine(Line{Rate: 5e6})
	if q.Len() != 10 || len(q.dropped) != 0 {
		t.Fatalf("%d wait, %v dropped; want 10 and none", q.Len(), q.dropped)
	}
	for range 5 {
		q.Pop(1)
	}
	q.Push(1, numbered(10, 1500, 1))
	q.Pop(2)
	q.Push(2, numbered(11, 1500, 2))
	if want := []uint64{10}; !cmp.Equal(q.dropped, want) {
		t.Errorf("dropped %v, want %v", q.dropped, want)
	}
}

// A queue that replaces another takes its packets and counts over.
func TestInherit(t *testing.T) {
	old := newTraced(limited(Amount{Packets: 20}, ""), 0, 1)
	for i := range 22 {
		old.Push(0, numbered(uint64(i), 100, int64(i)))
	}
	old.Pop(1)
	q := newTraced(limited(Amount{Packets: 5}, HeadDrop), 0, 1)
	q.Inherit(2, old)
	if old.Len() != 0 || old.Bytes() != 0 {
		t.Errorf("%d packets of %d bytes stayed behind", old.Len(), old.Bytes())
	}
	want := []ClassCount{{Packets: 22, Bytes: 2200, Dropped: 2 + 14, Sent: 1, SentBytes: 100}}
	if diff := cmp.Diff(want, q.Classes()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if left, want := q.rest(3), []uint64{15, 16, 17, 18, 19}; !cmp.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

// everything is each discipline once, in classes.
func everything() Config {
	return Config{Classes: []Class{
		{Name: "premium", DSCP: packet.Codepoints{46}, Priority: 1, Discipline: Discipline{Limit: Amount{Packets: 20}}},
		{Name: "random", DSCP: packet.Codepoints{10, 12}, Weight: 3,
			Discipline: Discipline{Limit: Amount{Bytes: 20_000}, Drop: RandomDrop}},
		{Name: "red", DSCP: packet.Codepoints{18}, Weight: 2,
			Discipline: Discipline{Limit: Amount{Time: 20 * ms}, Drop: HeadDrop, ECN: true,
				RED: &RED{Min: Amount{Packets: 2}, Weight: 0.1, Gentle: true}}},
		{Name: "rest", Default: true, Discipline: Discipline{ECN: true, CoDel: &CoDel{Target: ms, Interval: 10 * ms}}},
	}}
}

// churn drives a queue with random arrivals and departures, and checks that it loses and invents nothing.
func churn(t testing.TB, c Config, seed uint64, steps int) (fates []uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	codes := []byte{46, 10, 12, 18, 0, 8}
	q := newTraced(c, 20e6, seed)
	var now int64
	pushed, popped := 0, 0
	last := map[byte]uint64{} // by DSCP, the last number that left
	for range steps {
		now += r.Int64N(500_000)
		if r.IntN(100) < 52 {
			dscp := codes[r.IntN(len(codes))]
			q.Push(now, coded(uint64(pushed+1), 40+r.IntN(1461), now, dscp, byte(r.IntN(4))))
			pushed++
		} else if p := q.Pop(now); p != nil {
			if d := packet.DSCP(p.Data); p.Number <= last[d] {
				t.Fatalf("packet %d left after %d of the same DSCP", p.Number, last[d])
			} else {
				last[d] = p.Number
			}
			fates = append(fates, p.Number)
			popped++
		}
		if q.Len() != pushed-popped-len(q.dropped) {
			t.Fatalf("%d wait; %d pushed, %d popped, %d dropped", q.Len(), pushed, popped, len(q.dropped))
		}
	}
	var sum ClassCount
	for _, k := range q.Classes() {
		sum.Packets += k.Packets
		sum.Sent += k.Sent
		sum.Dropped += k.Dropped
		sum.Marked += k.Marked
	}
	if sum.Packets != uint64(pushed) || sum.Sent != uint64(popped) || sum.Dropped != uint64(len(q.dropped)) ||
		sum.Marked != uint64(len(q.marked)) {
		t.Fatalf("counts %+v; pushed %d, popped %d, dropped %d, marked %d",
			sum, pushed, popped, len(q.dropped), len(q.marked))
	}
	left := len(q.rest(now))
	if pushed != popped+len(q.dropped)+left || q.Len() != 0 || q.Bytes() != 0 {
		t.Fatalf("%d packets of %d bytes wait after all left, the last %d at the end", q.Len(), q.Bytes(), left)
	}
	return append(append(fates, q.dropped...), q.marked...)
}

func TestNothingIsLostUnsaid(t *testing.T) {
	for seed := range uint64(5) {
		churn(t, everything(), seed, 20_000)
		for _, d := range []Drop{TailDrop, HeadDrop, RandomDrop} {
			churn(t, limited(Amount{Bytes: 10_000}, d), seed, 20_000)
		}
	}
}

func TestSameSeedSameFates(t *testing.T) {
	a, b, c := churn(t, everything(), 7, 20_000), churn(t, everything(), 7, 20_000), churn(t, everything(), 8, 20_000)
	if !cmp.Equal(a, b) {
		t.Error("the same seed gave other fates")
	}
	if cmp.Equal(a, c) {
		t.Error("another seed gave the same fates")
	}
}
