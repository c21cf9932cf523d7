package link

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// Every gap-th packet is held back, and holds nobody else back.
func TestReorderByGap(t *testing.T) {
	r := newRig(t, 1, "{delay: 10ms, reorder: {gap: 4, by: 2500us}}")
	for i := range int64(8) {
		r.send(i*millisecond, 100)
	}
	r.finish()
	if diff := cmp.Diff([]uint64{1, 2, 3, 5, 6, 4, 7, 8}, r.numbers()); diff != "" {
		t.Error(diff)
	}
	want := []int64{10_000_000, 11_000_000, 12_000_000, 14_000_000, 15_000_000, 15_500_000, 16_000_000, 19_500_000}
	if diff := cmp.Diff(want, r.times()); diff != "" {
		t.Error(diff)
	}
	if n := r.d.Counts().Reordered; n != 1 {
		t.Errorf("%d reordered, want 1: nothing came after the last to overtake it", n)
	}
}

// A share is held back; each is reordered when the next comes within the time.
func TestReorderByShare(t *testing.T) {
	const packets = 50_000
	r := newRig(t, 7, "{delay: 10ms, reorder: {ratio: 2%, by: 1500us}}")
	for i := range int64(packets) {
		r.send(i*millisecond, 100)
	}
	r.finish()
	// A packet that is held back is passed by the next unless that is held too (2 %). 980 are expected; the bound is four
	// standard deviations of a binomial count, sqrt(980).
	if n := r.d.Counts().Reordered; n < 980-125 || n > 980+125 {
		t.Errorf("%d of %d reordered, want about 980", n, packets)
	}
	passed, highest := uint64(0), uint64(0)
	for _, n := range r.numbers() {
		if n < highest {
			passed++
		}
		highest = max(highest, n)
	}
	if passed != r.d.Counts().Reordered {
		t.Errorf("%d counted, %d seen", r.d.Counts().Reordered, passed)
	}
}

// Jitter keeps the order unless it is told otherwise.
func TestJitterOrder(t *testing.T) {
	for shape, reorders := range map[string]bool{
		"{delay: 10ms, jitter: 5ms}":                           false,
		"{delay: 10ms, jitter: {spread: 5ms, overtake: true}}": true,
	} {
		r := newRig(t, 3, shape)
		for i := range int64(5000) {
			r.send(i*100*microsecond, 100)
		}
		r.finish()
		if got := !slices.IsSorted(r.numbers()); got != reorders || (r.d.Counts().Reordered > 0) != reorders {
			t.Errorf("%s: reordered %v, %d counted", shape, got, r.d.Counts().Reordered)
		}
		if !slices.IsSorted(r.times()) {
			t.Errorf("%s: delivered out of the order of time", shape)
		}
		if c := r.d.Counts(); c.Took.Min() < 5*millisecond || c.Took.Max() > 16*millisecond {
			t.Errorf("%s: took %d to %d ns", shape, c.Took.Min(), c.Took.Max())
		}
	}
}

// However far jitter reaches back, nothing arrives before it was sent.
func TestJitterBelowZero(t *testing.T) {
	r := newRig(t, 3, "{delay: 1ms, jitter: {spread: 50ms, distribution: normal, overtake: true}}")
	for i := range int64(2000) {
		r.send(i*microsecond, 100)
	}
	for _, f := range r.finish() {
		if f.t < f.came {
			t.Fatalf("packet %d came at %d and arrived at %d", f.number, f.came, f.t)
		}
	}
	if r.d.Counts().Took.Min() != 0 {
		t.Error("no packet was held at zero: the test does not reach what it tests")
	}
}

// A duplicate is a packet of its own with the same content, right behind the other.
func TestDuplicates(t *testing.T) {
	r := newRig(t, 1, "{delay: 1ms, duplicate: 100%}")
	var seen [][]byte
	deliver := r.d.sink.Deliver
	r.d.sink.Deliver = func(at int64, k *packet.Packet) {
		seen = append(seen, bytes.Clone(k.Data))
		deliver(at, k)
	}
	r.send(0, 100)
	r.send(0, 200)
	r.finish()
	if diff := cmp.Diff([]uint64{1, 1, 2, 2}, r.numbers()); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(seen[0], seen[1]) || !bytes.Equal(seen[2], seen[3]) {
		t.Error("a copy differs from its packet")
	}
	if c := r.d.Counts(); c.Packets != 2 || c.Duplicated != 2 || c.Delivered != 4 || c.Reordered != 0 {
		t.Errorf("%d came, %d duplicated, %d delivered, %d reordered", c.Packets, c.Duplicated, c.Delivered, c.Reordered)
	}
}

// A copy that arrives late with its packet is no packet out of order; the packet is.
func TestDuplicatesReordered(t *testing.T) {
	r := newRig(t, 1, "{delay: 1ms, duplicate: 100%, reorder: {gap: 2, by: 1ms}}")
	for range 3 {
		r.send(0, 100)
	}
	r.finish()
	if diff := cmp.Diff([]uint64{1, 1, 3, 3, 2, 2}, r.numbers()); diff != "" || r.d.Counts().Reordered != 1 {
		t.Errorf("%d reordered\n%s", r.d.Counts().Reordered, diff)
	}
}

// Packets that may overtake but are due at the same time keep their order.
func TestSameTime(t *testing.T) {
	r := newRig(t, 1, "{delay: 1ms, jitter: {table: [1ms, 1ms], overtake: true}}")
	for range 50 {
		r.send(0, 100)
	}
	r.finish()
	if !slices.IsSorted(r.numbers()) {
		t.Errorf("delivered %v", r.numbers())
	}
}

// No two streams are alike.
func TestStreams(t *testing.T) {
	seen := map[uint64]bool{}
	n := 0
	for seed := range uint64(3) {
		for number := range uint64(20) {
			for pipe := range uint64(20) {
				for what := range purposes {
					seen[identity{seed, number, pipe}.stream(what).Uint64()] = true
					n++
				}
			}
		}
	}
	if len(seen) != n {
		t.Errorf("%d streams begin with %d different numbers", n, len(seen))
	}
}

// A corrupted packet differs in one bit, and says so.
func TestCorrupt(t *testing.T) {
	r := newRig(t, 1, "corrupt: 100%")
	want := r.datagram(100)
	deliver := r.d.sink.Deliver
	r.d.sink.Deliver = func(at int64, k *packet.Packet) {
		flipped := 0
		for i := range k.Data {
			for d := k.Data[i] ^ want.Data[i]; d != 0; d &= d - 1 {
				flipped++
			}
		}
		if flipped != 1 || !k.Spoilt {
			t.Errorf("%d bits differ, spoilt %v", flipped, k.Spoilt)
		}
		deliver(at, k)
	}
	for range 100 {
		r.send(0, 100)
	}
	r.finish()
	if n := r.d.Counts().Corrupted; n != 100 {
		t.Errorf("%d corrupted", n)
	}
}

// Switching one process on changes nothing of what another does to the same packets, and neither does the number of
// packets lost.
func TestProcessesAreApart(t *testing.T) {
	run := func(shape string) (lost []uint64, late map[uint64]int64) {
		r := newRig(t, 5, shape)
		late = map[uint64]int64{}
		for i := range int64(5000) {
			r.send(i*millisecond, 100)
		}
		for _, f := range r.finish() {
			if f.cause == packet.Loss {
				lost = append(lost, f.number)
			} else {
				late[f.number] = f.t - f.came
			}
		}
		return lost, late
	}
	alone, _ := run("loss: 3%")
	_, jitter := run("jitter: {spread: 1ms, overtake: true}")
	both, shaken := run("{loss: 3%, jitter: {spread: 1ms, overtake: true}, corrupt: 1%, duplicate: 2%}")
	if diff := cmp.Diff(alone, both); diff != "" || len(alone) < 100 {
		t.Errorf("other packets were lost with jitter (%d were without):\n%s", len(alone), diff)
	}
	for n, d := range shaken {
		if jitter[n] != d {
			t.Fatalf("packet %d took %d ns without loss and %d with it", n, jitter[n], d)
		}
	}
}

// Loss is drawn for each segment of a super-packet, as it would be had the host sent them one by one.
func TestLossOfSegments(t *testing.T) {
	const packets, segments = 400, 10
	whole, single := newRig(t, 9, "{delay: 1ms, loss: 5%}"), newRig(t, 9, "{delay: 1ms, loss: 5%, reorder: {gap: 1000000}}")
	counts := func(r *rig) (delivered, lost map[uint64]bool, pieces int) {
		delivered, lost = map[uint64]bool{}, map[uint64]bool{}
		note := func(k *packet.Packet, into map[uint64]bool) {
			for i := range k.Segments() {
				into[k.Number+uint64(i)] = true
			}
			pieces++
			r.pool.Put(k)
		}
		r.d.sink = Out{Deliver: func(_ int64, k *packet.Packet) { note(k, delivered) },
			Drop: func(_ int64, k *packet.Packet, c packet.Cause) { note(k, lost) }}
		for i := range int64(packets) {
			r.d.Accept(i*millisecond, r.superPacket(segments))
		}
		r.finish()
		return delivered, lost, pieces
	}
	delivered, lost, pieces := counts(whole)
	deliveredSingly, lostSingly, _ := counts(single)
	if diff := cmp.Diff(lostSingly, lost); diff != "" || len(lost) < 100 {
		t.Errorf("%d lost; one by one, others are: %s", len(lost), diff)
	}
	if diff := cmp.Diff(deliveredSingly, delivered); diff != "" {
		t.Error(diff)
	}
	if pieces >= packets*segments/2 {
		t.Errorf("%d pieces: packets are cut that need not be", pieces)
	}
	c := whole.d.Counts()
	if c.Packets != packets*segments || c.Dropped[packet.Loss] != uint64(len(lost)) || c.Delivered != uint64(len(delivered)) {
		t.Errorf("%d came, %d lost, %d delivered", c.Packets, c.Dropped[packet.Loss], c.Delivered)
	}
	if c.Bytes != uint64(len(delivered))*1500 {
		t.Errorf("%d bytes in %d segments", c.Bytes, len(delivered))
	}
}

// What must see single packets gets single packets.
func TestWhole(t *testing.T) {
	for shape, whole := range map[string]bool{
		"{}": true, "{delay: 1ms, loss: {every: 1000}}": true, "jitter: 1ms": false, "rate: 10gbit": true, "rate: 5gbit": false,
		"{rate: 10gbit, queue: 20p}": false, "corrupt: 1%": false, "duplicate: 1%": false, "reorder: 1%": false,
		"police: {rate: 100gbit, burst: 1MB}": false, "shaper: {rate: 100gbit, burst: 1MB}": false,
		"trace: {opportunities: [1]}": false, "drift: {amplitude: 1ms, period: 1s}": true,
	} {
		r := newRig(t, 1, shape)
		r.d.Accept(0, r.superPacket(10))
		r.finish()
		if got := len(r.fates) == 1; got != whole {
			t.Errorf("%s: %d pieces", shape, len(r.fates))
		}
		if n := r.d.Counts().Packets; n != 10 {
			t.Errorf("%s: %d packets came", shape, n)
		}
	}
}

// Packets may come a little earlier than the one before, or than Step's last time; each counts from when it came.
func TestLateStamps(t *testing.T) {
	r := newRig(t, 1, "delay: 10ms")
	r.d.Step(900)
	for _, at := range []int64{500, 400, 600} {
		r.d.Accept(at, r.datagram(100))
	}
	r.finish()
	want := []fate{{1, 500, 10_000_500, packet.Kept}, {2, 400, 10_000_500, packet.Kept}, {3, 600, 10_000_600, packet.Kept}}
	if diff := cmp.Diff(want, r.fates, cmp.AllowUnexported(fate{})); diff != "" {
		t.Error(diff)
	}
	r = newRig(t, 1, "{rate: 100mbit, queue: 10p}")
	r.d.Step(second)
	r.d.Accept(500, r.datagram(1500))
	r.d.Accept(400, r.datagram(1500))
	r.finish()
	want = []fate{{1, 500, 500 + 123_040, packet.Kept}, {2, 400, 500 + 2*123_040, packet.Kept}}
	if diff := cmp.Diff(want, r.fates, cmp.AllowUnexported(fate{})); diff != "" {
		t.Error(diff)
	}
}

func TestDownAndOutage(t *testing.T) {
	r := newRig(t, 1, "{delay: 1ms, outage: {mttf: [20ms, 20ms], mttr: [10ms, 10ms]}}")
	for i := range int64(60) {
		r.send(i*millisecond+1, 100)
	}
	r.finish()
	if n := r.d.Counts().Dropped[packet.LinkDown]; n != 20 {
		t.Errorf("%d of 60 found the link down, want 20", n)
	}
	r = newRig(t, 1, "{delay: 1ms}")
	r.send(0, 100)
	r.d.Set(1, shapeOf(t, "{delay: 1ms, down: true}"))
	r.send(2, 100)
	if !r.d.Down() {
		t.Error("it does not say that it is down")
	}
	r.d.Set(3, shapeOf(t, "{delay: 1ms, down: false}"))
	r.send(4, 100)
	r.finish()
	want := []fate{{2, 2, 2, packet.LinkDown}, {1, 0, millisecond, packet.Kept}, {3, 4, millisecond + 4, packet.Kept}}
	if diff := cmp.Diff(want, r.fates, cmp.AllowUnexported(fate{})); diff != "" {
		t.Error(diff)
	}
}
