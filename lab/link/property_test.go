package link

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// play sends random packets for a while over a direction whose shape changes at random, and checks at every event that
// none is unaccounted for. It returns a digest of all that happened.
func play(t *testing.T, seed uint64, events int) uint64 {
	r := rand.New(rand.NewPCG(seed, 0))
	g := &rig{t: t}
	first := randomComplete(t, r)
	g.d = New(0, seed, int(seed), first, &g.pool, g.out())
	digest := fnv.New64a()
	fmt.Fprint(digest, first)
	now := int64(0)
	for i := range events {
		now += int64(r.ExpFloat64() * 300e3)
		g.d.Step(now)
		switch k := r.IntN(200); {
		case k == 0:
			g.d.Set(now, randomComplete(t, r))
		case k < 10:
			g.d.Accept(now, g.superPacket(1+r.IntN(20)))
		case k < 20: // a stamp from before
			g.d.Accept(now-r.Int64N(100_000), g.datagram(28+r.IntN(1473)))
		default:
			k := g.datagram(28 + r.IntN(1473))
			packet.SetDSCP(k.Data, []byte{0, 8, 46}[r.IntN(3)])
			packet.SetECN(k.Data, byte(r.IntN(3)))
			g.d.Accept(now, k)
		}
		if i%16 == 0 {
			g.balance()
		}
		if at, ok := g.d.Next(); ok != (at != never) || ok && at < now-100_000 {
			t.Fatalf("seed %d: at %d the next event is at %d", seed, now, at)
		}
	}
	g.finish()
	for _, f := range g.fates {
		if f.cause == packet.Kept && f.t < f.came {
			t.Fatalf("seed %d: packet %d came at %d and was delivered at %d", seed, f.number, f.came, f.t)
		}
		fmt.Fprint(digest, f)
	}
	c := *g.d.Counts()
	fmt.Fprint(digest, c)
	return digest.Sum64()
}

// No packet gets lost without being counted, and the same seed gives the same fates.
func TestConservationAndDeterminism(t *testing.T) {
	const runs, events = 100, 500
	var digests []uint64
	for seed := range uint64(runs) {
		once := play(t, seed, events)
		if seed%4 == 0 && play(t, seed, events) != once {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		digests = append(digests, once)
	}
	slices.Sort(digests)
	if n := len(slices.Compact(digests)); n != runs {
		t.Errorf("%d seeds gave %d outcomes", runs, n)
	}
}

// On a medium that both directions share, too, no packet gets lost without being counted, whichever direction is asked.
func TestMediumConservation(t *testing.T) {
	modes := []string{"full", "half", "mismatch"}
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := newPair(t, seed, "{rate: 10mbit, loss: 1%, queue: 10p, duplex: "+modes[seed%3]+"}")
		now := int64(0)
		for range 1000 {
			now += int64(r.ExpFloat64() * 600e3)
			end := p.ends[r.IntN(2)]
			end.d.Step(now)
			switch r.IntN(100) {
			case 0:
				s := shapeOf(t, fmt.Sprintf("{rate: %dmbit, duplex: %s, queue: 5p}", 10+r.IntN(2)*90, modes[r.IntN(3)]))
				p.ends[0].d.Set(now, s)
				p.ends[1].d.Set(now, s)
			default:
				end.d.Accept(now-r.Int64N(1000), end.datagram(28+r.IntN(1473)))
			}
			p.ends[0].balance()
			p.ends[1].balance()
		}
		p.ends[0].finish()
		p.ends[1].finish()
	}
}

// Set keeps the fate of what flies, and what waits leaves at the new rate.
func TestSet(t *testing.T) {
	r := newRig(t, 1, "{rate: 1mbit, delay: 50ms, queue: 10p}")
	for range 3 {
		r.send(0, 1500)
	}
	r.d.Set(12_304_000+1000, shapeOf(t, "{rate: 10mbit, delay: 1ms}"))
	r.d.Set(24_608_000+1_230_400+1, shapeOf(t, "{delay: 1ms}"))
	r.finish()
	// The second was on the wire when the rate changed; the third leaves 1.2304 ms after it, and is late by nothing but the
	// order.
	want := []fate{{1, 0, 62_304_000, packet.Kept}, {2, 0, 74_608_000, packet.Kept}, {3, 0, 74_608_000, packet.Kept}}
	if !slices.Equal(want, r.fates) {
		t.Errorf("%v, want %v", r.fates, want)
	}
}

// What a trace held up leaves when the trace goes, not before.
func TestSetAfterTrace(t *testing.T) {
	r := newRig(t, 1, "trace: {opportunities: [1000]}")
	r.send(0, 1500)
	r.d.Set(second/2, shapeOf(t, "rate: 100mbit"))
	r.finish()
	if got := r.times(); !slices.Equal(got, []int64{second/2 + 123_040}) {
		t.Errorf("delivered at %v", got)
	}
}

// A change of one setting leaves the processes of the others where they are.
func TestSetKeepsProcesses(t *testing.T) {
	run := func(change bool) (lost []uint64) {
		r := newRig(t, 1, "{loss: {every: 10}, delay: 1ms}")
		for i := range int64(100) {
			if change && i == 55 {
				r.d.Set(i*millisecond, shapeOf(t, "{loss: {every: 10}, delay: 2ms}"))
			}
			r.send(i*millisecond, 100)
		}
		for _, f := range r.finish() {
			if f.cause == packet.Loss {
				lost = append(lost, f.number)
			}
		}
		return lost
	}
	if a, b := run(false), run(true); !slices.Equal(a, b) || len(a) != 10 {
		t.Errorf("lost %v, with a change of delay %v", a, b)
	}
}

// All that waits goes on when the rate is taken away.
func TestFlush(t *testing.T) {
	r := newRig(t, 1, "{rate: 1mbit, queue: 10p, shaper: {rate: 1mbit, burst: 1500B}}")
	for range 5 {
		r.send(0, 1500)
	}
	r.d.Set(1000, Shape{})
	r.send(2000, 1500)
	r.finish()
	want := []int64{12_304_000, 12_304_000, 12_304_000, 12_304_000, 12_304_000, 12_304_000}
	if got := r.times(); !slices.Equal(want, got) || !slices.IsSorted(r.numbers()) {
		t.Errorf("delivered %v at %v", r.numbers(), got)
	}
}
