package record

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/stat"
)

var (
	hostA = netip.MustParseAddr("10.0.0.1")
	hostB = netip.MustParseAddr("10.0.2.2")
)

// udp returns a packet from port 1000+flow of host a to port 7 of host b.
func udp(pool *packet.Pool, flow, length int) *packet.Packet {
	p := pool.Get(length)
	clear(p.Data)
	packet.UDP(p.Data, netip.AddrPortFrom(hostA, uint16(1000+flow)), netip.AddrPortFrom(hostB, 7), 0, 64)
	return p
}

func TestOneFlow(t *testing.T) {
	var pool packet.Pool
	b := New(Config{})
	send := func(at int64) *packet.Packet {
		p := udp(&pool, 0, 1000)
		b.Begin(p, at)
		return p
	}
	p1, p2, p3, p4, p5 := send(0), send(1e6), send(2e6), send(3e6), send(4e6)
	if p1.Number != 1 || p5.Number != 5 || p5.Flow != 0 || p5.Sent != 4e6 {
		t.Fatalf("packets 1 and 5: %+v %+v", p1, p5)
	}
	send(5e6) // stays under way
	b.Delivered(p1, 10e6, 10e6+5000)
	b.Dropped(p2, 1e6, packet.Loss, 3)
	b.Dropped(p3, 2e6, packet.QueueFull, 3)
	b.Delivered(p5, 14e6, 14e6+1000)
	b.Delivered(p4, 15e6, 15e6+3000)
	b.Delivered(p4, 16e6, 16e6) // a copy
	want := []FlowTruth{{
		Name: "udp 10.0.0.1:1000 > 10.0.2.2:7", Protocol: "udp", Source: "10.0.0.1", Target: "10.0.2.2",
		SourcePort: 1000, TargetPort: 7,
		Packets: 6, Bytes: 6000, Delivered: 3, Lost: 2, UnderWay: 1, LossRatio: 0.4,
		Dropped: map[string]uint64{"loss": 1, "queue": 1}, LossRuns: []LossRun{{2, 1}}, LossRunMax: 2,
		Reordered: 1, Duplicates: 1,
		DelaySeconds:   DelayTruth{Min: 0.010, Median: 0.010, P95: 0.012, P99: 0.012, Max: 0.012},
		LateSeconds:    LateTruth{Median: 3e-6, P99: 5e-6},
		QuantilesExact: true, RateBitsPerSecond: 8 * 2000 / 0.005,
		LastSentSeconds: 0.005, FirstDeliveredSeconds: 0.010, LastDeliveredSeconds: 0.015,
	}}
	if diff := cmp.Diff(want, b.Totals()); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, b.Flows(0, 10e6)); diff != "" {
		t.Errorf("a window of it all (-want +got):\n%s", diff)
	}
	window := b.Flows(1e6, 3e6)[0]
	if window.Packets != 2 || window.Lost != 2 || window.LossRatio != 1 || window.DelaySeconds != (DelayTruth{}) {
		t.Errorf("a window of losses: %+v", window)
	}
	if empty := b.Flows(7e6, 8e6); empty == nil || len(empty) != 0 {
		t.Errorf("an empty window: %v, want an empty list", empty)
	}
}

func TestFlowAsJSON(t *testing.T) {
	var pool packet.Pool
	b := New(Config{})
	p := pool.Get(1000)
	source, target := netip.MustParseAddrPort("[fd00::1]:5"), netip.MustParseAddrPort("[fd00::2]:7")
	packet.UDP(p.Data, source, target, 0, 64)
	b.Begin(p, 1e9)
	b.Dropped(p, 2e9, packet.Filtered, -1)
	got, err := json.Marshal(b.Totals())
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"name":"udp [fd00::1]:5 \u003e [fd00::2]:7","protocol":"udp","source":"fd00::1","target":"fd00::2",` +
		`"source_port":5,"target_port":7,"packets":1,"bytes":1000,"delivered":0,"lost":1,"under_way":0,"loss_ratio":1,` +
		`"dropped":{"filtered":1},"loss_runs":[{"length":1,"count":1}],"loss_run_max_packets":1,"reordered":0,` +
		`"duplicates":0,"corrupted":0,"marked":0,"delay_seconds":{"min":0,"median":0,"p95":0,"p99":0,"max":0},` +
		`"late_seconds":{"median":0,"p99":0},"quantiles_exact":true,"rate_bits_per_second":0,"first_sent_seconds":1,` +
		`"last_sent_seconds":1,"first_delivered_seconds":0,"last_delivered_seconds":0}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A packet of which one copy arrives is delivered, whatever becomes of the others and in whatever order.
func TestCopies(t *testing.T) {
	for name, c := range map[string]struct {
		happen    func(b *Book, p *packet.Packet)
		delivered bool
		copies    uint16
		cause     packet.Cause
	}{
		"dropped, delivered": {func(b *Book, p *packet.Packet) { b.Dropped(p, 1, packet.Loss, 0); b.Delivered(p, 2, 3) }, true, 0, packet.Kept},
		"delivered, dropped": {func(b *Book, p *packet.Packet) { b.Delivered(p, 2, 3); b.Dropped(p, 4, packet.Loss, 0) }, true, 0, packet.Kept},
		"dropped twice":      {func(b *Book, p *packet.Packet) { b.Dropped(p, 1, packet.AQM, 0); b.Dropped(p, 2, packet.Loss, 0) }, false, 0, packet.AQM},
		"delivered thrice":   {func(b *Book, p *packet.Packet) { b.Delivered(p, 2, 3); b.Delivered(p, 4, 5); b.Delivered(p, 6, 7) }, true, 2, packet.Kept},
	} {
		var pool packet.Pool
		b := New(Config{})
		p := udp(&pool, 0, 100)
		b.Begin(p, 0)
		c.happen(b, p)
		r := b.ring.find(1)
		if r.Flags&Arrived != 0 != c.delivered || r.Duplicates != c.copies || r.Cause != c.cause || c.delivered && r.Due != 2 {
			t.Errorf("%s: %+v", name, *r)
		}
	}
}

func TestSegments(t *testing.T) {
	var pool packet.Pool
	b := New(Config{})
	p := udp(&pool, 0, 28+3*1000+200)
	p.VNet = packet.VNet{Kind: packet.GSOUDP, SegmentSize: 1000}
	b.Begin(p, 0)
	next := udp(&pool, 0, 100)
	if b.Begin(next, 1); next.Number != 5 {
		t.Fatalf("the packet after four segments has number %d, want 5", next.Number)
	}
	b.Delivered(pool.Cut(p, 0, 1), 10, 10)
	b.Dropped(pool.Cut(p, 1, 3), 11, packet.Policed, 2)
	b.Delivered(pool.Cut(p, 3, 4), 12, 12)
	got := b.Totals()[0]
	if got.Packets != 5 || got.Bytes != 3*1028+228+100 || got.Delivered != 2 || got.Lost != 2 || got.UnderWay != 1 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]LossRun{{2, 1}}, got.LossRuns); diff != "" {
		t.Errorf("loss runs (-want +got):\n%s", diff)
	}
	if r := b.ring.find(4); r.Bytes != 228 || r.Flags&Arrived == 0 {
		t.Errorf("the last segment: %+v", *r)
	}
}

func TestFragments(t *testing.T) {
	fragments := func(b *Book, pool *packet.Pool) (all []*packet.Packet) {
		p := udp(pool, 0, 1400)
		p.Data[6] &^= 0x40 // "do not fragment"
		b.Begin(p, 0)
		if !packet.Fragment(pool, p, 576, func(f *packet.Packet) { all = append(all, f) }) || len(all) != 3 {
			t.Fatalf("%d fragments, want 3", len(all))
		}
		return all
	}
	var pool packet.Pool
	b := New(Config{})
	for i, f := range fragments(b, &pool) {
		b.Delivered(f, int64(10+i), int64(10+i))
	}
	if r := b.ring.find(1); r.Flags&Arrived == 0 || r.Due != 12 || r.Duplicates != 0 {
		t.Errorf("all fragments came: %+v; want it delivered with the last", *r)
	}
	all := fragments(b, &pool)
	b.Delivered(all[0], 20, 20)
	b.Dropped(all[1], 21, packet.Loss, 0)
	b.Delivered(all[2], 22, 22)
	if r := b.ring.find(2); !r.Lost() || r.Cause != packet.Loss {
		t.Errorf("one fragment was lost: %+v; want the packet lost", *r)
	}
	b.Delivered(all[0], 23, 23) // a copy, which makes up for the bytes but not for the fragment
	if r := b.ring.find(2); !r.Lost() {
		t.Errorf("one fragment was lost, another came twice: %+v; want the packet lost", *r)
	}
}

func TestMarksAndDamage(t *testing.T) {
	var pool packet.Pool
	b := New(Config{})
	p := udp(&pool, 0, 100)
	packet.SetECN(p.Data, 1)
	b.Begin(p, 0)
	packet.SetECN(p.Data, congestionExperienced)
	p.Spoilt = true
	b.Delivered(p, 1, 1)
	p = udp(&pool, 0, 100)
	packet.SetECN(p.Data, congestionExperienced) // so it was sent
	b.Begin(p, 2)
	b.Delivered(p, 3, 3)
	if got := b.Totals()[0]; got.Marked != 1 || got.Corrupted != 1 {
		t.Errorf("%d marked, %d corrupted; want one each", got.Marked, got.Corrupted)
	}
}

func TestOthers(t *testing.T) {
	var pool packet.Pool
	b := New(Config{Flows: 100})
	for flow := range 300 {
		for range 2 {
			p := udp(&pool, flow, 100)
			b.Begin(p, int64(flow))
			if want := int32(min(flow, 100)); p.Flow != want {
				t.Fatalf("flow %d has number %d, want %d", flow, p.Flow, want)
			}
			b.Dropped(p, int64(flow), packet.Loss, 0)
		}
	}
	got := b.Totals()
	last := got[len(got)-1]
	if len(got) != 101 || last.Name != "others" || last.Packets != 400 || last.Lost != 400 || len(last.LossRuns) != 0 {
		t.Errorf("%d flows, the last is %+v", len(got), last)
	}
}

// The short way to a flow's number leads to where the long one does.
func TestFlowsOfPlainAndOtherHeaders(t *testing.T) {
	var pool packet.Pool
	f := newFlows(DefaultFlows, 1)
	random := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		p := udp(&pool, random.IntN(2000), 100)
		p.Data[9] = []byte{packet.ProtocolTCP, packet.ProtocolUDP, packet.ProtocolICMP, 47}[random.IntN(4)]
		p.Data[0] = []byte{0x45, 0x46}[random.IntN(2)] // with options, ports are elsewhere
		p.Data[7] = byte(random.IntN(8) / 7)           // a later fragment has none
		p.Data[15] = byte(random.IntN(2))
		flow, key := f.of(p.Data), packet.KeyOf(p.Data)
		if f.keys[flow] != key || f.number(key) != flow {
			t.Fatalf("flow %d is %v, want %v", flow, f.keys[flow], key)
		}
		pool.Put(p)
	}
}

// Packets that the lab itself made have no number, and leave no trace.
func TestPacketsWithoutNumber(t *testing.T) {
	var pool packet.Pool
	b := New(Config{})
	p := udp(&pool, 0, 100)
	b.Delivered(p, 1, 1)
	b.Dropped(p, 1, packet.Loss, 0)
	if got := b.Totals(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// What outlives the ring is counted when it ends, once.
func TestLongUnderWay(t *testing.T) {
	var pool packet.Pool
	b := New(Config{Records: 1})
	var early []*packet.Packet
	for i := range 3 * chunkSize {
		p := udp(&pool, 0, 100)
		b.Begin(p, int64(i))
		if i < 3 {
			early = append(early, p)
			continue
		}
		b.Delivered(p, int64(i)+100, int64(i)+100)
		pool.Put(p)
	}
	b.Delivered(early[0], 1e6, 1e6)
	b.Dropped(early[1], 1e6, packet.LinkDown, 0)
	got := b.Totals()[0]
	if got.Packets != 3*chunkSize || got.Delivered != 3*chunkSize-2 || got.Lost != 1 || got.UnderWay != 1 || got.Duplicates != 0 {
		t.Errorf("%+v", got)
	}
	if got.DelaySeconds.Max != 1e-3 || got.QuantilesExact {
		t.Errorf("delays %+v, exact %v", got.DelaySeconds, got.QuantilesExact)
	}
	b.Delivered(early[2], 1e6, 1e6)
	b.Delivered(early[2], 1e6, 1e6)
	if got := b.Totals()[0]; got.UnderWay != 0 || got.Duplicates != 1 {
		t.Errorf("%+v", got)
	}
}

// sent is the test's own account of a packet.
type sent struct {
	flow, length  int
	at, due, left int64
	cause         packet.Cause
	arrival       int // its place in the order of deliveries; 0: none
	copies        uint64
}

// traffic runs random packets of 40 flows through a Book, with delays that reorder them, and returns its own account.
func traffic(b *Book, packets int) []sent {
	random := rand.New(rand.NewPCG(1, 2))
	var pool packet.Pool
	type flight struct {
		p   *packet.Packet
		due int64
	}
	var all []sent
	var air []flight
	arrivals := 0
	launch := func(p *packet.Packet, due int64) {
		at, _ := slices.BinarySearchFunc(air, due+1, func(f flight, due int64) int { return int(f.due - due) })
		air = slices.Insert(air, at, flight{p, due})
	}
	land := func(now int64) {
		for len(air) > 0 && air[0].due <= now {
			f, s := air[0], &all[air[0].p.Number-1]
			air = air[1:]
			left := f.due + random.Int64N(50_000)
			b.Delivered(f.p, f.due, left)
			if s.arrival > 0 {
				s.copies++
				continue
			}
			arrivals++
			s.arrival, s.due, s.left, s.cause = arrivals, f.due, left, packet.Kept
		}
	}
	now := int64(0)
	for range packets {
		now += random.Int64N(20_000)
		s := sent{flow: min(random.IntN(40), random.IntN(40)), length: 28 + random.IntN(1473), at: now}
		p := udp(&pool, s.flow, s.length)
		b.Begin(p, now)
		if random.IntN(10) == 0 || len(all) > 0 && all[len(all)-1].cause == packet.Loss && random.IntN(2) == 0 {
			s.cause = packet.Loss + packet.Cause(random.IntN(2))
			b.Dropped(p, now, s.cause, 0)
		} else {
			launch(p, now+100_000+random.Int64N(60_000))
		}
		if random.IntN(50) == 0 { // a copy, of the dropped ones too
			launch(pool.Clone(p), now+150_000)
		}
		all = append(all, s)
		land(now)
	}
	return all // the last are still in the air
}

// bruteForce says of the packets sent in [from, to) of each flow what Flows should.
func bruteForce(all []sent, from, to int64) map[uint16]FlowTruth {
	truths := map[uint16]FlowTruth{}
	byFlow := make([][]sent, 40)
	for _, s := range all {
		byFlow[s.flow] = append(byFlow[s.flow], s)
	}
	for flow, order := range byFlow {
		t := FlowTruth{Dropped: map[string]uint64{}, LossRuns: []LossRun{}, QuantilesExact: true}
		var delays, late []float64
		var window []sent
		var lost []bool
		for _, s := range order {
			if s.at < from || s.at >= to {
				continue
			}
			window = append(window, s)
			t.Packets, t.Bytes, t.Duplicates = t.Packets+1, t.Bytes+uint64(s.length), t.Duplicates+s.copies
			switch {
			case s.arrival > 0:
				t.Delivered++
				delays, late = append(delays, float64(s.due-s.at)/1e9), append(late, float64(s.left-s.due)/1e9)
				lost = append(lost, false)
			case s.cause != packet.Kept:
				t.Lost++
				t.Dropped[s.cause.String()]++
				lost = append(lost, true)
			default:
				t.UnderWay++
			}
		}
		if t.Packets == 0 {
			continue
		}
		runs := stat.LossRuns(lost)
		slices.Sort(runs)
		for i, length := range runs {
			if i == 0 || runs[i-1] != length {
				t.LossRuns = append(t.LossRuns, LossRun{Length: length})
			}
			t.LossRuns[len(t.LossRuns)-1].Count++
			t.LossRunMax = length
		}
		if t.Delivered+t.Lost > 0 {
			t.LossRatio = float64(t.Lost) / float64(t.Delivered+t.Lost)
		}
		t.FirstSentSeconds, t.LastSentSeconds = float64(window[0].at)/1e9, float64(window[len(window)-1].at)/1e9
		t.Reordered = overtaken(order, from, to)
		if t.Delivered > 0 {
			d, l := stat.Summarize(delays), stat.Summarize(late)
			t.DelaySeconds = DelayTruth{Min: d.Min, Median: d.Median, P95: d.P95, P99: d.P99, Max: d.Max}
			t.LateSeconds = LateTruth{Median: l.Median, P99: l.P99}
			t.rate(window)
		}
		truths[uint16(1000+flow)] = t
	}
	return truths
}

func (t *FlowTruth) rate(window []sent) {
	came := slices.DeleteFunc(slices.Clone(window), func(s sent) bool { return s.arrival == 0 })
	// Of packets due at once, the one with the lower number is the first.
	slices.SortStableFunc(came, func(x, y sent) int { return int(x.due - y.due) })
	first, last := came[0].due, came[len(came)-1].due
	bytes := 0
	for _, s := range came[1:] {
		bytes += s.length
	}
	t.FirstDeliveredSeconds, t.LastDeliveredSeconds = float64(first)/1e9, float64(last)/1e9
	if last > first {
		t.RateBitsPerSecond = 8 * float64(bytes) / (float64(last-first) / 1e9)
	}
}

// overtaken counts the packets of a flow, sent in [from, to), that came after one that was sent later.
func overtaken(order []sent, from, to int64) (count uint64) {
	type arrival struct{ place, index int }
	var came []arrival
	for i, s := range order {
		if s.arrival > 0 {
			came = append(came, arrival{s.arrival, i})
		}
	}
	slices.SortFunc(came, func(x, y arrival) int { return x.place - y.place })
	highest := -1
	for _, a := range came {
		if at := order[a.index].at; a.index < highest && at >= from && at < to {
			count++
		}
		highest = max(highest, a.index)
	}
	return count
}

func compare(t *testing.T, what string, want map[uint16]FlowTruth, got []FlowTruth) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d flows, want %d", what, len(got), len(want))
	}
	for _, g := range got {
		w := want[g.SourcePort]
		w.Name, w.Protocol, w.Source, w.Target = g.Name, "udp", "10.0.0.1", "10.0.2.2"
		w.SourcePort, w.TargetPort = g.SourcePort, 7
		if diff := cmp.Diff(w, g); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", what, g.Name, diff)
			return
		}
	}
}

func TestAgreesWithBruteForce(t *testing.T) {
	const packets = 200_000
	b := New(Config{})
	all := traffic(b, packets)
	end := all[packets-1].at + 1
	compare(t, "totals", bruteForce(all, 0, end), b.Totals())
	for _, w := range [][2]int64{{end / 3, end / 2}, {end / 2, end/2 + 1e6}, {end - 500_000, end}, {all[777].at, all[999].at}, {5, 5}} {
		compare(t, "window", bruteForce(all, w[0], w[1]), b.Flows(w[0], w[1]))
	}
}

// With a ring much smaller than the traffic, totals are the same but for quantiles, which are within 1/64; windows are exact as
// far as the ring reaches.
func TestAgreesWithBruteForceBeyondTheRing(t *testing.T) {
	const packets = 60_000
	b := New(Config{Records: chunkSize * 4})
	all := traffic(b, packets)
	end := all[packets-1].at + 1
	want, got := bruteForce(all, 0, end), b.Totals()
	for i := range got {
		w := want[got[i].SourcePort]
		for _, q := range [][2]float64{
			{w.DelaySeconds.Median, got[i].DelaySeconds.Median}, {w.DelaySeconds.P95, got[i].DelaySeconds.P95},
			{w.DelaySeconds.P99, got[i].DelaySeconds.P99}, {w.LateSeconds.Median, got[i].LateSeconds.Median},
			{w.LateSeconds.P99, got[i].LateSeconds.P99},
		} {
			if q[1] < q[0]*(1-1./64)-1e-9 || q[1] > q[0]*(1+1./64)+1e-9 || got[i].QuantilesExact {
				t.Errorf("%s: quantile %v, want %v within 1/64", got[i].Name, q[1], q[0])
			}
		}
		got[i].DelaySeconds, got[i].LateSeconds, got[i].QuantilesExact = w.DelaySeconds, w.LateSeconds, true
	}
	compare(t, "totals", want, got)
	r := b.Read(0, end).finish()
	if oldest := all[packets-chunkSize*4]; r.RecordsFrom() != oldest.at || r.Missed() != 0 {
		t.Errorf("records from %d, want %d; %d missed", r.RecordsFrom(), oldest.at, r.Missed())
	}
	compare(t, "window", bruteForce(all, r.RecordsFrom(), end), b.Flows(r.RecordsFrom(), end))
}

// A reading in steps, while the lab goes on, says the same of the packets sent before it began.
func TestReadingWhileTheLabGoesOn(t *testing.T) {
	b := New(Config{Records: chunkSize * 2})
	all := traffic(b, 20_000)
	want := b.Totals()
	r := b.ReadAll()
	var pool packet.Pool
	for range 3 * stepSize { // the ring forgets as many, which are in the totals all the same
		b.Begin(udp(&pool, 0, 100), all[len(all)-1].at)
	}
	for more, i := true, 0; more; i++ {
		more = r.Step()
		for range stepSize { // no faster than the steps
			p := udp(&pool, i, 100)
			b.Begin(p, all[len(all)-1].at)
			pool.Put(p)
		}
	}
	if diff := cmp.Diff(want, r.Flows()); diff != "" || r.Missed() != 3*stepSize {
		t.Errorf("%d missed (-want +got):\n%s", r.Missed(), diff)
	}
	r = b.ReadAll()
	for range chunkSize * 3 {
		b.Begin(udp(&pool, 0, 100), 0)
	}
	if r.finish(); r.Missed() != chunkSize*2 {
		t.Errorf("%d missed, want %d", r.Missed(), chunkSize*2)
	}
	packets := uint64(0)
	for _, flow := range r.Flows() {
		packets += flow.Packets
	}
	if forgotten := b.ring.next - 1 - chunkSize*2; packets != forgotten {
		t.Errorf("the totals have %d packets, want the %d that the ring has forgotten", packets, forgotten)
	}
}

func TestSketch(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var s sketch
	var values []float64
	for range 50_000 {
		v := int64(random.ExpFloat64() * float64(int64(1)<<random.IntN(40)))
		s.add(v)
		values = append(values, float64(v))
	}
	slices.Sort(values)
	for rank := uint64(1); rank <= uint64(len(values)); rank += 97 {
		want, got := values[rank-1], float64(s.quantile(rank))
		if got < want*(1-1./64) || got > want*(1+1./64) {
			t.Fatalf("value of rank %d: %v, want %v within 1/64", rank, got, want)
		}
	}
	var ends sketch
	ends.add(-1)
	ends.add(1<<63 - 1)
	if low, high := ends.quantile(1), ends.quantile(2); low != 0 || high < 1<<63-1-1<<57 {
		t.Errorf("-1 and the largest time read back as %d and %d", low, high)
	}
}
