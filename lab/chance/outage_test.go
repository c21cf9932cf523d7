package chance

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
)

const second = int64(time.Second)

var minutely = Outage{MTTF: Times{notation.Span(60 * second)}, MTTR: Times{notation.Span(2 * second)}}

// spells follows a link from change to change.
func spells(o *Outage, n int) (up, down []float64) {
	p := o.New(5*second, seeded(2))
	for at := 5 * second; len(down) < n; {
		next := p.link.ends
		length := float64(next-at) / float64(second)
		if p.Down(at, 0) {
			down = append(down, length)
		} else {
			up = append(up, length)
		}
		if p.Down(next-1, 0) == p.Down(next, 0) {
			panic("no change where one was told")
		}
		at = next
	}
	return up, down
}

func exponentialBelow(mean float64) func(float64) float64 {
	return func(x float64) float64 { return 1 - math.Exp(-x/mean) }
}

func uniformBelow(least, most float64) func(float64) float64 {
	return func(x float64) float64 { return min(1, max(0, (x-least)/(most-least))) }
}

func TestOutageTimes(t *testing.T) {
	up, down := spells(&minutely, packets)
	checkKS(t, "to failure", up, exponentialBelow(60))
	checkKS(t, "to repair", down, exponentialBelow(2))

	ranges := Outage{
		MTTF: Times{notation.Span(10 * second), notation.Span(60 * second)},
		MTTR: Times{notation.Span(second), notation.Span(5 * second)},
	}
	up, down = spells(&ranges, packets)
	checkKS(t, "to failure, between", up, uniformBelow(10, 60))
	checkKS(t, "to repair, between", down, uniformBelow(1, 5))
}

// The share of time that a link is down is mttr/(mttf+mttr), asked at 200,000 moments.
func TestOutageShare(t *testing.T) {
	p := minutely.New(0, seeded(0))
	count := 0
	for i := range packets {
		if p.Down(int64(i)*second, 0) {
			count++
		}
	}
	// Failing at rate a and repaired at rate b, the states of two moments a second apart have the correlation e^-(a+b).
	const a, b = 1. / 60, 1. / 2
	r := math.Exp(-a - b)
	checkShare(t, "down", count, packets, a/(a+b), (1+r)/(1-r))
}

func TestOutageDoesNotDependOnAsking(t *testing.T) {
	often, seldom := minutely.New(0, seeded(4)), minutely.New(0, seeded(4))
	for at := int64(0); at < 5000*second; at += second / 10 {
		down := often.Down(at, 0)
		if at%(37*second) == 0 && seldom.Down(at, 0) != down {
			t.Fatalf("at %d s: down: %v, but %v for one that was asked often", at/second, !down, down)
		}
	}
}

func TestIdleOutage(t *testing.T) {
	o := Outage{
		Idle: notation.Span(30 * second),
		MTTR: Times{notation.Span(5 * second), notation.Span(5 * second)},
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	p := o.New(0, seeded(0))
	for _, packet := range []struct {
		at         int64
		down       bool
		nextChange int64
	}{
		{10, false, 40},
		{39, false, 69},
		{38, false, 69}, // late, and changes nothing
		{69, true, 74},  // idle for 30 s
		{73, true, 74},  // does not wake it
		{74, false, 104},
		{103, false, 133},
		{137, true, 138},
		{139, false, 169}, // repaired at 138
		{204, true, 209},  // down from 169, up from 174, down again from 204
	} {
		if down := p.Down(packet.at*second, 0); down != packet.down {
			t.Errorf("packet at %d s: down: %v", packet.at, down)
		}
		if next := p.link.ends / second; next != packet.nextChange {
			t.Errorf("packet at %d s: next change at %d s; want %d", packet.at, next, packet.nextChange)
		}
	}
}

func perConnection() *Outage {
	o := minutely
	o.Per = PerConnection
	return &o
}

func TestConnectionOutageTimes(t *testing.T) {
	// One flow after another: to the first failure, within 0.1 s, and the first repair, within 0.02 s, which is much
	// finer than Kolmogorov's distance of 0.044 for 2000.
	p := perConnection().New(0, seeded(6))
	var up, down []float64
	at := int64(0)
	for flow := range uint64(2000) {
		began := at
		for ; !p.Down(at, flow); at += second / 10 {
		}
		failed := at
		for ; p.Down(at, flow); at += second / 50 {
		}
		up = append(up, float64(failed-began)/float64(second))
		down = append(down, float64(at-failed)/float64(second))
	}
	checkKS(t, "to failure", up, exponentialBelow(60))
	checkKS(t, "to repair", down, exponentialBelow(2))
}

// What happens to a flow depends on its number and when it began, not on the other flows.
func TestConnectionOutagesAreIndependent(t *testing.T) {
	alone, among := perConnection().New(0, seeded(8)), perConnection().New(0, seeded(8))
	seen := map[bool]int{}
	for i := range int64(3000) {
		at := i * second
		for other := range uint64(50) {
			among.Down(at, 1000+other)
		}
		got, want := among.Down(at, 7), alone.Down(at, 7)
		if got != want {
			t.Fatalf("at %d s: down: %v among others, %v alone", i, got, want)
		}
		seen[got]++
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("seen %v; want both", seen)
	}
}

// A flood of flows takes no memory beyond the table's, and a flow that keeps sending is never forgotten for one that
// does not.
func TestFlowTableIsBounded(t *testing.T) {
	table := newFlowTable(seeded(0))
	table.find(7, 0)
	random := rand.New(rand.NewPCG(3, 4))
	now := int64(0)
	flood := func() {
		for range 100_000 {
			now++
			table.find(random.Uint64(), now)
			if now%100 != 0 {
				continue
			}
			if _, known := table.find(7, now); !known {
				t.Fatalf("forgot the busy flow at %d", now)
			}
		}
	}
	if allocated := testing.AllocsPerRun(1, flood); allocated != 0 {
		t.Errorf("%v allocations for new flows", allocated)
	}
	var held []uint64
	for _, row := range table.rows {
		for _, f := range row {
			if f.used {
				held = append(held, f.flow)
			}
		}
	}
	slices.Sort(held)
	if len(slices.Compact(held)) < 4090 {
		t.Errorf("%d flows held; want nearly 4096 different ones", len(slices.Compact(held)))
	}
}
