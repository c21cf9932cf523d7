package queue

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

const (
	ef  = 46
	cs1 = 8
	le  = 1
)

// threeClasses are premium, best effort and less than best effort.
func threeClasses() Config {
	room := Discipline{Limit: Amount{Packets: 10_000}}
	return Config{Classes: []Class{
		{Name: "scavenger", DSCP: packet.Codepoints{cs1, le}, Weight: 1, Discipline: room},
		{Name: "best-effort", Default: true, Weight: 10, Discipline: room},
		{Name: "premium", DSCP: packet.Codepoints{ef}, Priority: 1, Discipline: room},
	}}
}

// Each DSCP finds its class, named or not.
func TestClassOfDSCP(t *testing.T) {
	q := newTraced(threeClasses(), 0, 1)
	for dscp := range byte(64) {
		q.Push(0, coded(1, 100, 0, dscp, 0))
	}
	want := []ClassCount{
		{Name: "scavenger", Packets: 2, Bytes: 200},
		{Name: "best-effort", Packets: 61, Bytes: 6100},
		{Name: "premium", Packets: 1, Bytes: 100},
	}
	if diff := cmp.Diff(want, q.Classes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// IPv6 packets have their DSCP elsewhere.
func TestClassOfIPv6(t *testing.T) {
	q := newTraced(threeClasses(), 0, 1)
	p := &packet.Packet{Data: make([]byte, 100)}
	p.Data[0] = 6 << 4
	packet.SetDSCP(p.Data, ef)
	q.Push(0, p)
	if q.Classes()[2].Packets != 1 {
		t.Errorf("got %+v", q.Classes())
	}
}

// A more urgent class goes first, whatever came before; the lower number is the more urgent.
func TestStrictPriority(t *testing.T) {
	q := newTraced(Config{Classes: []Class{
		{Name: "later", DSCP: packet.Codepoints{ef}, Priority: 2},
		{Name: "rest", Default: true},
		{Name: "first", DSCP: packet.Codepoints{48}, Priority: 1},
	}}, 0, 1)
	for i, dscp := range []byte{0, ef, 48, 0, ef, 48} {
		q.Push(0, coded(uint64(i), 100, 0, dscp, 0))
	}
	if left, want := q.rest(0), []uint64{2, 5, 1, 4, 0, 3}; !cmp.Equal(left, want) {
		t.Errorf("left in order %v, want %v", left, want)
	}
}

// sharesOf runs classes that never run out, with packets of the given sizes, and returns the bytes that each sent.
func sharesOf(weights []float64, sizes []int, packets int) []float64 {
	c := Config{}
	for i, w := range weights {
		c.Classes = append(c.Classes, Class{Name: string(rune('a' + i)), Weight: w, DSCP: packet.Codepoints{packet.Codepoint(i)},
			Default: i == 0, Discipline: Discipline{Limit: Amount{Packets: 10}}})
	}
	q := newTraced(c, 0, 1)
	refill := func(class int) { q.Push(0, coded(0, sizes[class], 0, byte(class), 0)) }
	for i := range weights {
		for range 10 {
			refill(i)
		}
	}
	for range packets {
		refill(int(packet.DSCP(q.Pop(0).Data)))
	}
	var sent []float64
	for _, k := range q.Classes() {
		sent = append(sent, float64(k.SentBytes))
	}
	return sent
}

// Weights share bytes, not packets: whatever the sizes, each class that never runs out is within a round of its share.
func TestWeightsShareBytes(t *testing.T) {
	for _, c := range []struct {
		name    string
		weights []float64
		sizes   []int
	}{
		{"alike", []float64{1, 1}, []int{1500, 1500}},
		{"ten to one", []float64{10, 1}, []int{1500, 1500}},
		{"sizes differ", []float64{1, 1, 1}, []int{1500, 40, 577}},
		{"both differ", []float64{5, 2.5, 1}, []int{64, 1500, 1000}},
		{"larger than the quantum", []float64{1, 3}, []int{9000, 1500}},
	} {
		sent := sharesOf(c.weights, c.sizes, 50_000)
		least, weights, total := math.Inf(1), 0.0, 0.0
		for i, w := range c.weights {
			least, weights, total = min(least, w), weights+w, total+sent[i]
		}
		for i, w := range c.weights {
			want := total * w / weights
			round := smallestQuantum*weights/least + 3*9000 // of all classes: where in a round we stopped
			if math.Abs(sent[i]-want) > round {
				t.Errorf("%s: class %d sent %.0f bytes of %.0f; want %.0f within %.0f", c.name, i, sent[i], total, want, round)
			}
		}
	}
}

// The order of a round, by hand: weights 2 and 1, packets of 1000 bytes, quanta 3000 and 1500.
//
//	round   a (deficit)         b (deficit)
//	1       3 packets (0)       1 packet (500)
//	2       3 packets (0)       2 packets (0)
func TestDeficitRoundRobinOrder(t *testing.T) {
	q := newTraced(Config{Classes: []Class{
		{Name: "a", Default: true, Weight: 2},
		{Name: "b", DSCP: packet.Codepoints{cs1}},
	}}, 0, 1)
	for i := range uint64(10) {
		q.Push(0, coded(i, 1000, 0, 0, 0))
		q.Push(0, coded(100+i, 1000, 0, cs1, 0))
	}
	want := []uint64{0, 1, 2, 100, 3, 4, 5, 101, 102, 6, 7, 8, 103, 9, 104, 105, 106, 107, 108, 109}
	if left := q.rest(0); !cmp.Equal(left, want) {
		t.Errorf("left in order\n%v, want\n%v", left, want)
	}
}

// A class that was idle has saved nothing: it gets its share from now on, no more.
func TestIdleClassSavesNothing(t *testing.T) {
	q := newTraced(threeClasses(), 0, 1)
	for range 1000 {
		q.Push(0, coded(0, 1500, 0, 0, 0))
		q.Pop(0)
	}
	for range 200 {
		q.Push(0, coded(0, 1500, 0, 0, 0))
		q.Push(0, coded(0, 1500, 0, le, 0))
	}
	scavenged := 0
	for range 110 {
		if packet.DSCP(q.Pop(0).Data) == le {
			scavenged++
		}
	}
	if scavenged < 9 || scavenged > 11 {
		t.Errorf("%d of 110 packets are the scavenger's; want 10", scavenged)
	}
}

// A class overflows alone.
func TestClassesHaveLimitsOfTheirOwn(t *testing.T) {
	c := threeClasses()
	c.Classes[0].Limit = Amount{Packets: 3}
	q := newTraced(c, 0, 1)
	for range 10 {
		q.Push(0, coded(0, 100, 0, le, 0))
		q.Push(0, coded(0, 100, 0, 0, 0))
	}
	want := []ClassCount{
		{Name: "scavenger", Packets: 10, Bytes: 1000, Dropped: 7},
		{Name: "best-effort", Packets: 10, Bytes: 1000},
		{Name: "premium"},
	}
	if diff := cmp.Diff(want, q.Classes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A queue with other classes takes over in the order of coming, and counts of the same name go on.
func TestInheritClasses(t *testing.T) {
	filled := func() Queue {
		q := newTraced(threeClasses(), 0, 1)
		for i, dscp := range []byte{ef, 0, le, ef, 0, le} {
			q.Push(int64(i), coded(uint64(i), 100, int64(i), dscp, 0))
		}
		return q
	}
	plain := newTraced(Config{}, 0, 1)
	plain.Inherit(9, filled())
	if left, want := plain.rest(9), []uint64{0, 1, 2, 3, 4, 5}; !cmp.Equal(left, want) {
		t.Errorf("a plain queue: left in order %v, want %v", left, want)
	}
	q := newTraced(Config{Classes: []Class{
		{Name: "other", Default: true, Weight: 2},
		{Name: "best-effort", DSCP: packet.Codepoints{0}, Priority: 1},
	}}, 0, 1)
	q.Inherit(9, filled())
	want := []ClassCount{{Name: "other", Packets: 4, Bytes: 400}, {Name: "best-effort", Packets: 2, Bytes: 200}}
	if diff := cmp.Diff(want, q.Classes()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if left, want := q.rest(9), []uint64{1, 4, 0, 2, 3, 5}; !cmp.Equal(left, want) {
		t.Errorf("other classes: left in order %v, want %v", left, want)
	}
	old := filled()
	old.Pop(8) // premium
	moved := newTraced(Config{Classes: []Class{
		{Name: "premium", DSCP: packet.Codepoints{0, le}}, {Name: "scavenger", Default: true, Discipline: Discipline{Limit: Amount{Packets: 1}}},
	}}, 0, 1)
	moved.Inherit(9, old)
	moved.Push(10, coded(6, 100, 10, ef, 0))
	want = []ClassCount{{Name: "premium", Packets: 1 + 4, Bytes: 500, Sent: 1, SentBytes: 100},
		{Name: "scavenger", Packets: 1 + 1, Bytes: 200, Dropped: 1}}
	if diff := cmp.Diff(want, moved.Classes()); diff != "" {
		t.Errorf("the same names for others, counts (-want +got):\n%s", diff)
	}
}
