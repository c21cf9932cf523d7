package link

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// One packet takes its frame at the rate, and the delay, to the nanosecond.
func TestSerialization(t *testing.T) {
	for _, c := range []struct {
		shape string
		size  int
		want  int64
	}{
		{"rate: 100mbit", 1500, 123_040}, // 1538 bytes at 80 ns
		{"rate: 100mbit", 28, 6_720},     // padded to 46, 84 bytes
		{"{rate: 100mbit, delay: 3ms}", 1500, 3_123_040},
		{"{rate: 100mbit, overhead: none}", 1500, 120_000},
		{"{rate: 100mbit, overhead: none}", 28, 2_240},
		{"{rate: 100mbit, overhead: 18B}", 1500, 121_440},
		{"{rate: 100mbit, overhead: atm}", 1500, 135_680}, // 32 cells
		{"{rate: 100mbit, overhead: atm}", 40, 8_480},     // 56 bytes, 2 cells
		{"{rate: 100mbit, overhead: atm}", 32, 4_240},     // 48 bytes, 1 cell
		{"rate: 56kbit", 1500, 219_714_286},               // 219,714,285.71
		{"rate: 622mbit", 1500, 19_781},                   // 19,781.35
		{"delay: 20ms", 1500, 20_000_000},
		{"{}", 1500, 0},
	} {
		r := newRig(t, 1, c.shape)
		r.send(5, c.size)
		if got := r.finish()[0]; got.t-5 != c.want || got.cause != packet.Kept {
			t.Errorf("%s, %d bytes: %v after %d ns, want %d", c.shape, c.size, got.cause, got.t-5, c.want)
		}
	}
}

// Packets back to back carry exactly what rate and overhead allow: rounding does not add up.
func TestGoodput(t *testing.T) {
	const packets, size = 2_000, 1500
	for _, overhead := range []Overhead{{Link: Ethernet}, {Link: None}, {Link: ATM}, {Bytes: 18}} {
		for _, rate := range []float64{56e3, 1.544e6, 10e6, 45e6, 100e6, 155e6, 622e6, 1e9} {
			r := newRig(t, 1, fmt.Sprintf("{rate: %fbit, overhead: %v, queue: 100MB}", rate, overhead))
			for range packets {
				r.send(0, size)
			}
			r.finish()
			times := r.times()
			if len(times) != packets {
				t.Fatalf("%v at %g: %d delivered", overhead, rate, len(times))
			}
			want := float64(packets) * float64(8*overhead.Frame(size)) / rate * 1e9
			if off := math.Abs(float64(times[packets-1]) - want); off > 1 {
				t.Errorf("%v at %g bit/s: %d packets took %d ns, want %.1f", overhead, rate, packets, times[packets-1], want)
			}
		}
	}
}

// Super-packets that stay whole are paced like their segments.
func TestWholeSerialization(t *testing.T) {
	r := newRig(t, 1, "rate: 10gbit")
	r.d.Accept(0, r.superPacket(3))
	want := []fate{{1, 0, 3691, packet.Kept}} // 3·1538 bytes at 0.8 ns: 3691.2
	if diff := cmp.Diff(want, r.finish(), cmp.AllowUnexported(fate{})); diff != "" {
		t.Error(diff)
	}
	if c := r.d.Counts(); c.Packets != 3 || c.Delivered != 3 || c.Bytes != 4500 || c.Took.Count() != 3 {
		t.Errorf("%d came, %d delivered, %d bytes, %d delays", c.Packets, c.Delivered, c.Bytes, c.Took.Count())
	}
}

// A policer lets its burst pass and then its rate, and counts IP bytes.
func TestPolicer(t *testing.T) {
	r := newRig(t, 1, "police: {rate: 8mbit, burst: 10kB}") // 1 byte a microsecond
	for range 12 {
		r.send(0, 1000)
	}
	r.send(999*microsecond, 1000)
	r.send(1000*microsecond, 1000)
	r.send(1500*microsecond, 400)
	r.send(1500*microsecond, 101)
	r.send(1500*microsecond, 100)
	for range 12 { // however long nothing came, the bucket holds its burst
		r.send(100*second, 1000)
	}
	r.finish()
	want := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}
	if diff := cmp.Diff(want, r.numbers()); diff != "" {
		t.Error(diff)
	}
	if n := r.d.Counts().Dropped[packet.Policed]; n != 6 {
		t.Errorf("%d policed, want 6", n)
	}
}

// A policer that remarks lets everything through, and what is above its rate with another mark.
func TestPolicerThatRemarks(t *testing.T) {
	var marks []byte
	r := newRig(t, 1, "police: {rate: 8mbit, burst: 2kB, remark: AF13}") // 1 byte a microsecond
	deliver := r.d.sink.Deliver
	r.d.sink.Deliver = func(at int64, k *packet.Packet) {
		marks = append(marks, packet.DSCP(k.Data))
		deliver(at, k)
	}
	for range 4 {
		r.sendClass(0, 1000, 46)
	}
	r.sendClass(1000*microsecond, 1000, 46)
	r.finish()
	if diff := cmp.Diff([]byte{46, 46, 14, 14, 46}, marks); diff != "" {
		t.Error(diff)
	}
	if c := r.d.Counts(); c.Remarked != 2 || dropped(c) != 0 {
		t.Errorf("%d remarked, %d dropped, want 2 and none", c.Remarked, dropped(c))
	}
}

// In the long run a policer passes its rate, whatever comes.
func TestPolicerConformance(t *testing.T) {
	r := newRig(t, 1, "police: {rate: 10mbit, burst: 50kB}")
	for at := int64(0); at < 10*second; at += 300 * microsecond { // 40 Mbit/s
		r.send(at, 1500)
	}
	r.finish()
	got, want := float64(r.d.Counts().Bytes), 10e6/8*10+50e3
	if got > want || got < want-1500 {
		t.Errorf("%.0f bytes passed in 10 s, want %.0f or up to a packet less", got, want)
	}
}

// A shaper sends its burst at the line's rate, then its own rate; nothing is lost, and a policer of the same bucket behind
// it drops nothing.
func TestShaper(t *testing.T) {
	r := newRig(t, 1, "{rate: 100mbit, shaper: {rate: 8mbit, burst: 10kB}, overhead: none, queue: 1000p}")
	for range 14 {
		r.send(0, 1000)
	}
	r.finish()
	want := []int64{}
	for i := int64(1); i <= 10; i++ {
		want = append(want, i*80*microsecond)
	}
	// At 800 µs the tokens of 800 bytes are back; the 11th packet starts when there are 1000.
	want = append(want, 1080*microsecond, 2080*microsecond, 3080*microsecond, 4080*microsecond)
	if diff := cmp.Diff(want, r.times()); diff != "" {
		t.Error(diff)
	}
}

func TestShaperConforms(t *testing.T) {
	shaped := newRig(t, 1, "{shaper: {rate: 10mbit, burst: 20kB}, queue: 10000p}")
	policed := newRig(t, 1, "police: {rate: 10mbit, burst: 20kB}")
	size := func(i int64) int { return 64 + int(i*i*31%1400) }
	for i := range int64(2000) { // about 12 Mbit/s, in batches
		shaped.send(i/7*3500*microsecond, size(i))
	}
	for i, f := range shaped.finish() {
		policed.send(f.t, size(int64(i)))
	}
	if n := dropped(shaped.d.Counts()) + dropped(policed.d.Counts()); n != 0 {
		t.Errorf("%d dropped", n)
	}
	if last := shaped.fates[len(shaped.fates)-1]; last.t-last.came < second/10 {
		t.Errorf("the last packet waited only %d ns: nothing was shaped", last.t-last.came)
	}
}

// Packets above the burst go when the bucket is full, and pay their debt after.
func TestShaperAboveBurst(t *testing.T) {
	r := newRig(t, 1, "shaper: {rate: 8mbit, burst: 1000B}")
	r.send(0, 1500)
	r.send(0, 1500)
	r.send(0, 100)
	r.finish()
	if diff := cmp.Diff([]int64{0, 1500 * microsecond, 2100 * microsecond}, r.times()); diff != "" {
		t.Error(diff)
	}
}

// Each opportunity carries 1500 bytes; the trace begins anew after its last.
func TestTrace(t *testing.T) {
	r := newRig(t, 1, "trace: {opportunities: [1, 5, 5, 10]}")
	for range 7 {
		r.send(0, 1500)
	}
	r.finish()
	want := []int64{1, 5, 5, 10, 11, 15, 15}
	for i := range want {
		want[i] *= millisecond
	}
	if diff := cmp.Diff(want, r.times()); diff != "" {
		t.Error(diff)
	}
}

func TestTraceSharesAndIdles(t *testing.T) {
	r := newRig(t, 1, "trace: {opportunities: [1, 5, 5, 10]}")
	for _, size := range []int{700, 700, 700, 2500} { // the third leaves in two parts
		r.send(0, size)
	}
	r.send(100*millisecond, 1500) // at the opportunity that is the last of a round
	r.send(100*millisecond+1, 1500)
	r.send(1000*second+2*millisecond, 1500)
	r.finish()
	want := []int64{1 * millisecond, 1 * millisecond, 5 * millisecond, 10 * millisecond, 100 * millisecond,
		101 * millisecond, 1000*second + 5*millisecond}
	if diff := cmp.Diff(want, r.times()); diff != "" {
		t.Error(diff)
	}
}

// A change of something else leaves a packet that has begun to leave where it is.
func TestTraceSet(t *testing.T) {
	r := newRig(t, 1, "trace: {opportunities: [1, 5, 5, 10]}")
	r.send(0, 4000)
	r.d.Step(2 * millisecond)
	r.d.Set(2*millisecond, shapeOf(t, "{trace: {opportunities: [1, 5, 5, 10]}, delay: 1us}"))
	r.finish()
	if diff := cmp.Diff([]int64{5*millisecond + 1000}, r.times()); diff != "" {
		t.Error(diff)
	}
}

// However packets come, a trace carries no more than its opportunities.
func TestTraceSkip(t *testing.T) {
	trace := &Trace{Opportunities: []int64{0, 3, 3, 7, 20}}
	var all []int64
	for o := trace.start(100); len(all) < 500; o.use() {
		all = append(all, o.next())
	}
	for at := int64(0); at < 900*millisecond; at += 777_777 {
		o := trace.start(100)
		o.skip(at)
		want := all[slices.IndexFunc(all, func(v int64) bool { return v >= at })]
		if o.next() != want {
			t.Fatalf("skip to %d gives %d, want %d", at, o.next(), want)
		}
	}
}

func TestReadTrace(t *testing.T) {
	got, err := ReadTrace(strings.NewReader("0\n1\n1\n\n 20 \n"))
	if diff := cmp.Diff(&Trace{Opportunities: []int64{0, 1, 1, 20}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for text, want := range map[string]string{
		"":                       "no opportunity; want one time in milliseconds a line",
		"1\nx\n":                 `2:1: "x": want milliseconds, 0 to 1000000000`,
		"5\n4\n":                 `2:1: "4": want 5 or more, the time of the line before`,
		"-1\n":                   `1:1: "-1": want milliseconds, 0 to 1000000000`,
		"0\n0\n":                 "opportunities: the last is 0; want 1 or more, the milliseconds after which the trace begins anew",
		"1.5\n":                  `1:1: "1.5": want milliseconds, 0 to 1000000000`,
		"99999999999999999999\n": `1:1: "99999999999999999999": want milliseconds, 0 to 1000000000`,
	} {
		if _, err := ReadTrace(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add("1\n2\n3\n")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadTrace(strings.NewReader(text))
		if err == nil && (len(trace.Opportunities) == 0 || trace.Validate() != nil) {
			t.Fatalf("%q was taken", text)
		}
	})
}

// Premium traffic overtakes bulk in the queue: it waits for one packet at most.
func TestPriority(t *testing.T) {
	r := newRig(t, 1, `{rate: 10mbit, queue: {classes: [
		{name: premium, dscp: EF, priority: 1}, {name: rest, default: true}]}}`)
	const ef, full = 46, 1538 * 8 * 100 // nanoseconds that a full packet takes
	for at := int64(0); at < second; at += full / 2 {
		r.sendClass(at, 1500, 0)
		if at%(10*full) == 0 {
			r.sendClass(at+1, 200, ef)
		}
	}
	premium := map[uint64]bool{}
	for n, k := uint64(0), 0; n < r.sent; k++ {
		n++
		if k%20 == 0 {
			n++
			premium[n] = true
		}
	}
	checked := 0
	for _, f := range r.finish() {
		if premium[f.number] {
			checked++
			if f.cause != packet.Kept || f.t-f.came > full+238*8*100 {
				t.Fatalf("packet %d: %v after %d ns", f.number, f.cause, f.t-f.came)
			}
		}
	}
	if checked < 70 || r.d.Counts().Dropped[packet.QueueFull] == 0 {
		t.Errorf("%d premium packets, %d others dropped", checked, r.d.Counts().Dropped[packet.QueueFull])
	}
	if c := r.d.Classes(); len(c) != 2 || c[0].Name != "premium" || c[0].Sent != uint64(checked) {
		t.Errorf("classes %+v", c)
	}
	if r.d.Counts().Reordered != 0 {
		t.Error("what a class does to another counts as reordered")
	}
}

// Marks of the queue are counted where they are made, and mark what is delivered.
func TestECNMarks(t *testing.T) {
	r := newRig(t, 1, "{rate: 10mbit, queue: {codel: {}, ecn: true, limit: 1000p}}")
	marked := uint64(0)
	deliver := r.d.sink.Deliver
	r.d.sink.Deliver = func(at int64, k *packet.Packet) {
		if packet.ECN(k.Data) == 3 {
			marked++
		}
		deliver(at, k)
	}
	for at := int64(0); at < 2*second; at += millisecond { // 12 Mbit/s
		r.d.Step(at)
		k := r.datagram(1500)
		packet.SetECN(k.Data, 2)
		r.d.Accept(at, k)
	}
	r.finish()
	if c := r.d.Classes(); c != nil {
		t.Errorf("a queue without classes counts %v", c)
	}
	if c := r.d.Counts(); c.Marked == 0 || c.Marked != marked || dropped(c) != 0 {
		t.Errorf("%d counted as marked, %d delivered marked, %d dropped", c.Marked, marked, dropped(c))
	}
}

// A limit in milliseconds is the longest that a packet waits, whatever its size and the overhead; the packet on the wire
// comes on top.
func TestQueueOfTime(t *testing.T) {
	for _, c := range []struct {
		shape   string
		size    int
		longest int64 // of waiting and sending
	}{
		{"rate: 1mbit, queue: 100ms", 40, 100*millisecond + 672_000}, // 84 bytes
		{"rate: 1mbit, queue: 100ms", 1500, 100*millisecond + 12_304_000},
		{"rate: 1mbit, overhead: atm, queue: 100ms", 40, 100*millisecond + 848_000}, // 2 cells
		{"rate: 1mbit, overhead: none, queue: 100ms", 40, 100*millisecond + 320_000},
		{"rate: 8mbit", 40, 100*millisecond + 84_000}, // the default
		{"rate: 1mbit, shaper: {rate: 100mbit, burst: 50kB}, queue: 100ms", 40, 100*millisecond + 672_000},
		{"rate: 1gbit, shaper: {rate: 1mbit, burst: 40B}, queue: 100ms", 40, 100*millisecond + 320_672}, // counts IP bytes
		{"rate: 1mbit, queue: {classes: [{name: all, default: true, limit: 100ms}]}", 40, 100*millisecond + 672_000},
		{"trace: {opportunities: [12]}, queue: 120ms", 1500, 132 * millisecond},
	} {
		r := newRig(t, 1, "{"+c.shape+"}")
		for range 5000 {
			r.send(0, c.size)
		}
		r.finish()
		if took := r.d.Counts().Took.Max(); took > c.longest || took < c.longest*85/100 || dropped(r.d.Counts()) == 0 {
			t.Errorf("%s, %d bytes: the last packet took %d ns, want a little less than %d", c.shape, c.size, took, c.longest)
		}
	}
}

// What waits is counted anew where the overhead changes.
func TestQueueOfTimeSet(t *testing.T) {
	r := newRig(t, 1, "{rate: 1mbit, overhead: none, queue: 100ms}")
	for range 300 {
		r.send(0, 40) // 312 fit
	}
	r.d.Set(0, shapeOf(t, "{rate: 1mbit, queue: 100ms}")) // 148 do
	r.send(0, 40)
	r.d.Step(60 * 672 * microsecond)
	r.send(60*672*microsecond, 40)
	r.d.Step(160 * 672 * microsecond) // 139 wait
	r.send(160*672*microsecond, 40)
	r.finish()
	if got := r.numbers(); len(got) != 301 || got[300] != 303 {
		t.Errorf("%d arrived, the last of them %d; want all but two, and 303", len(got), got[len(got)-1])
	}
}

func TestTailDropAndDepth(t *testing.T) {
	r := newRig(t, 1, "{rate: 10mbit, queue: 5p}")
	for range 10 {
		r.send(0, 1500)
	}
	if c := r.d.Counts(); c.Waiting != 5 || c.WaitingMax != 5 || c.WaitingBytes != 7500 || c.WaitingBytesMax != 7500 ||
		c.Flying != 1 || c.Dropped[packet.QueueFull] != 4 {
		t.Errorf("%d wait (%d at most), %d bytes (%d at most), %d fly, %d dropped", c.Waiting, c.WaitingMax,
			c.WaitingBytes, c.WaitingBytesMax, c.Flying, c.Dropped[packet.QueueFull])
	}
	r.finish()
	for range 3 {
		r.send(second, 1500)
	}
	r.finish()
	if c := r.d.Counts(); c.WaitingMax != 5 || c.WaitingBytesMax != 7500 {
		t.Errorf("at most %d waited, %d bytes; want what it was before", c.WaitingMax, c.WaitingBytesMax)
	}
}
