package queue

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// held is a queue under RED whose length is held.
type held struct {
	*traced
	number uint64
	length int
}

func newHeld(r RED, ecn bool, length int, seed uint64) *held {
	c := Config{Discipline: Discipline{Limit: Amount{Packets: 10_000}, RED: &r, ECN: ecn}}
	h := &held{traced: newTraced(c, 1e9, seed), length: length}
	for range length { // fill it behind RED's back
		h.place(0, numbered(0, 1000, 0))
	}
	return h
}

// come lets one packet come to the queue of always the same length, and says whether it was dropped.
func (h *held) come() bool {
	h.number++
	before := len(h.dropped)
	h.Push(0, numbered(h.number, 1000, 0))
	if len(h.dropped) > before {
		return true
	}
	h.Pop(0)
	return false
}

// settled is how many packets at weight 0.002 bring the average within 1e-13 of a queue of constant length.
const settled = 15_000

// gaps is the mean and variance of the number of packets from one drop to the next at probability p of the curve:
// uniform, each number up to 1/p as likely as p, and the next number the remainder.
func gaps(p float64) (mean, variance float64) {
	squares, whole := 0.0, math.Floor(1/p+1e-9)
	for n := 1.0; n <= whole; n++ {
		mean, squares = mean+n*p, squares+n*n*p
	}
	remainder := 1 - whole*p
	mean, squares = mean+(whole+1)*remainder, squares+(whole+1)*(whole+1)*remainder
	return mean, squares - mean*mean
}

// RED's drops follow its curve: 200,000 packets over 20 averages from min to max. At each, drops are a renewal process
// with the gaps of the paper, so that n packets have n/mean of them with variance n variance/mean^3. Chi-square with
// 20 degrees of freedom, 45.315 at 0.001 (NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.4).
func TestREDFollowsItsCurve(t *testing.T) {
	const low, high, probability, bins, n, critical = 20, 60, 0.1, 20, 10_000, 45.315
	for _, gentle := range []bool{false, true} {
		sum := 0.0
		for bin := range bins {
			length, p := low+2*bin+1, 0.0
			if p = probability * float64(length-low) / (high - low); gentle {
				length = high + 3*bin + 1
				p = probability + (1-probability)*float64(length-high)/high
			}
			h := newHeld(RED{Min: Amount{Packets: low}, Max: Amount{Packets: high}, Probability: probability, Gentle: gentle},
				false, length, uint64(bin))
			for range settled {
				h.come()
			}
			drops := 0.0
			for range n {
				if h.come() {
					drops++
				}
			}
			mean, variance := gaps(p)
			want, spread := n/mean, n*variance/(mean*mean*mean)
			sum += (drops - want) * (drops - want) / spread
		}
		t.Logf("gentle %v: chi-square %.1f", gentle, sum)
		if sum > critical {
			t.Errorf("gentle %v: chi-square %.1f above %.1f", gentle, sum, critical)
		}
	}
}

// The number of packets from one drop to the next is uniform on 1 to 1/p: 200,000 packets at p of 5 %, 20 numbers,
// chi-square with 19 degrees of freedom, 43.820 at 0.001 (same table).
func TestREDSpreadsItsDrops(t *testing.T) {
	const n, critical = 200_000, 43.820
	h := newHeld(RED{Min: Amount{Packets: 20}, Max: Amount{Packets: 60}, Probability: 0.1}, false, 40, 4)
	for range settled {
		h.come()
	}
	var count [21]float64
	gap, drops := 0, 0.0
	for range n {
		gap++
		if !h.come() {
			continue
		}
		if drops > 0 { // the first gap began before we looked
			if gap >= len(count) {
				t.Fatalf("%d packets from one drop to the next; want at most 20", gap)
			}
			count[gap]++
		}
		gap, drops = 0, drops+1
	}
	sum, want := 0.0, (drops-1)/20
	for _, c := range count[1:] {
		sum += (c - want) * (c - want) / want
	}
	if sum > critical {
		t.Errorf("chi-square %.1f above %.1f: %v", sum, critical, count[1:])
	}
}

// Each side of a threshold: nothing below min, all from max on, and those go although they can be marked.
func TestREDThresholds(t *testing.T) {
	for _, c := range []struct {
		name                  string
		length                int
		gentle                bool
		dropped, marked, kept int
	}{
		{"below min", 19, false, 0, 0, 1000},
		{"above max", 61, false, 1000, 0, 0},
		{"above max, gentle", 61, true, 205, 0, 795}, // 206 by the curve
		{"above twice max, gentle", 121, true, 1000, 0, 0},
		{"between", 40, false, 0, 95, 905},
	} {
		h := newHeld(RED{Min: Amount{Packets: 20}, Max: Amount{Packets: 60}, Weight: 1, Gentle: c.gentle}, true, c.length, 1)
		for i := range 1000 {
			before := len(h.dropped)
			h.Push(0, coded(uint64(i), 1000, 0, 0, ect1))
			if len(h.dropped) == before {
				h.Pop(0)
			}
		}
		got := [3]int{h.causes[packet.AQM], len(h.marked), int(h.Classes()[0].Sent) - len(h.marked)}
		if want := [3]int{c.dropped, c.marked, c.kept}; got != want {
			t.Errorf("%s: dropped, marked, kept = %v; want %v", c.name, got, want)
		}
	}
}

// With ECN the packets that RED would have dropped early are marked, packet for packet, and those above max dropped as
// before. A marked packet stays where a dropped one does not, and lengthens the queue; so that both queues see the
// same, the test takes each marked packet out of its queue again at once, from the end, behind the discipline's back.
// Arrivals come in bursts at random times, and the wire takes a packet each 100 us, so that the average wanders from 0
// to above max.
func TestREDMarksWhereItWouldDrop(t *testing.T) {
	run := func(ecn bool) (struck []uint64, q *traced) {
		c := RED{Min: Amount{Packets: 3}, Max: Amount{Packets: 60}, Probability: 0.1, Weight: 0.02}
		q = newTraced(Config{Discipline: Discipline{Limit: Amount{Packets: 1000}, RED: &c, ECN: ecn}}, 80e6, 5)
		r := rand.New(rand.NewPCG(6, 6))
		var now, wire int64
		for i := range uint64(200_000) {
			if r.IntN(10) == 0 {
				now += r.Int64N(2_600_000)
			}
			for ; wire <= now; wire += 100_000 {
				q.Pop(wire)
			}
			before := len(q.dropped) + len(q.marked)
			q.Push(now, coded(i, 1000, now, 0, []byte{ect0, ect1}[i%2]))
			if len(q.dropped)+len(q.marked) > before {
				struck = append(struck, i)
			}
			if len(q.marked) > 0 && q.marked[len(q.marked)-1] == i {
				q.unpush(i)
			}
		}
		return struck, q
	}
	drops, without := run(false)
	strikes, with := run(true)
	if len(without.marked) != 0 || len(with.marked) < 5000 || len(with.dropped) < 100 {
		t.Fatalf("%d marked without ECN, %d with, %d dropped above max; want none, many, some",
			len(without.marked), len(with.marked), len(with.dropped))
	}
	if diff := cmp.Diff(drops, strikes); diff != "" {
		t.Errorf("dropped without ECN (-), marked or dropped with it (+):\n%s", diff)
	}
}

// unpush takes back the packet that came last.
func (q *traced) unpush(number uint64) {
	b := q.Queue.(*band)
	at := (b.waiting.first + b.waiting.span - 1) & (len(b.waiting.slots) - 1)
	p := b.waiting.slots[at]
	if p.Number != number || packet.ECN(p.Data) != ce {
		panic("not the marked packet")
	}
	b.waiting.slots[at] = nil
	b.waiting.span--
	b.waiting.live--
	b.bytes -= int64(len(p.Data))
}

// What cannot be marked is dropped, also with ECN on; what was marked before stays marked.
func TestREDMarksOnlyWhatCanBeMarked(t *testing.T) {
	c := Config{Discipline: Discipline{ECN: true, Limit: Amount{Packets: 1000},
		RED: &RED{Min: Amount{Packets: 1}, Max: Amount{Packets: 1000}, Probability: 1, Weight: 1}}}
	fate := map[byte]string{}
	for ecn := range byte(4) {
		q := newTraced(c, 1e9, 1)
		for i := range 900 {
			q.Push(0, coded(uint64(i), 100, 0, 0, ecn))
		}
		switch {
		case len(q.dropped) > 0 && len(q.marked) == 0:
			fate[ecn] = "dropped"
		case len(q.marked) > 0 && len(q.dropped) == 0:
			fate[ecn] = "marked"
		}
	}
	want := map[byte]string{notECT: "dropped", ect0: "marked", ect1: "marked", ce: "marked"}
	if diff := cmp.Diff(want, fate); diff != "" {
		t.Errorf("by ECN field (-want +got):\n%s", diff)
	}
}

// The average, step by step against the paper: a queue of packets, of bytes, and idle times.
func TestREDAverage(t *testing.T) {
	for _, c := range []struct {
		name string
		min  Amount
		unit float64
	}{
		{"packets", Amount{Packets: 10_000}, 1},
		{"bytes", Amount{Bytes: 10_000_000}, 500},
		{"time", Amount{Time: 1000 * ms}, 600},
	} {
		q := newTraced(Config{Discipline: Discipline{Limit: Amount{Packets: 100_000}, RED: &RED{Min: c.min, Weight: 0.01}}}, 0, 1)
		q.SetLine(Line{Rate: 4.8e6, Frame: func(size int64) int64 { return size + 100 }})
		r := q.Queue.(*band).red
		want := 0.0
		for i := range 300 { // no departures: the n-th packet finds n
			q.Push(0, numbered(0, 500, 0))
			want = 0.99*want + 0.01*float64(i)*c.unit
		}
		q.rest(5e6)
		if math.Abs(r.average-want) > 1e-9*want {
			t.Errorf("%s: average %v, want %v", c.name, r.average, want)
		}
		// Idle from 5 to 25 ms at 4.8 Mbit/s: 20 packets of 600 bytes on the line, which take 1 ms each.
		q.Push(25e6, numbered(0, 500, 25e6))
		want *= math.Pow(0.99, 20)
		if math.Abs(r.average-want) > 1e-9*want {
			t.Errorf("%s: after idle time: average %v, want %v", c.name, r.average, want)
		}
		q.SetLine(Line{})
		q.Pop(26e6)
		q.Push(27e6, numbered(0, 500, 27e6))
		if r.average != 0 {
			t.Errorf("%s: average %v after idle time without a rate, want 0", c.name, r.average)
		}
	}
}

// Packets that are dropped from an empty queue leave it empty; the time before each counts once.
func TestREDAverageFadesOnce(t *testing.T) {
	c := RED{Min: Amount{Packets: 1}, Max: Amount{Packets: 2}, Weight: 0.01}
	q := newTraced(Config{Discipline: Discipline{RED: &c}}, 4e6, 1)
	r := q.Queue.(*band).red
	r.average = 100
	for ms := range int64(4) { // a packet of 500 bytes takes 1 ms
		q.Push(ms*1e6, numbered(uint64(ms), 500, ms*1e6))
	}
	if want := 100 * math.Pow(0.99, 3); len(q.dropped) != 4 || math.Abs(r.average-want) > 1e-9*want {
		t.Errorf("%d dropped, average %v; want 4, %v", len(q.dropped), r.average, want)
	}
}

// Thresholds given as times move with the rate.
func TestREDThresholdsFollowTheRate(t *testing.T) {
	q := newTraced(Config{Discipline: Discipline{RED: &RED{Min: Amount{Time: 10 * ms}}}}, 8e6, 1)
	r := q.Queue.(*band).red
	for _, c := range []struct{ rate, from, to float64 }{
		{8e6, 10e3, 30e3},
		{80e6, 100e3, 300e3},
		{0, math.Inf(1), math.Inf(1)},
	} {
		q.SetLine(Line{Rate: c.rate})
		if r.from != c.from || r.to != c.to {
			t.Errorf("at %v bit/s from %v to %v; want %v to %v", c.rate, r.from, r.to, c.from, c.to)
		}
	}
}
