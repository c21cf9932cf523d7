package queue

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// A ring is a list from which any element can be taken.
func TestRingIsAList(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		var ring ring
		var list []*packet.Packet
		for step := range 5000 {
			up := (step/500)%2 == 0 // grows and shrinks in turn
			switch k := r.IntN(10); {
			case k < 4 || up && k < 6:
				p := &packet.Packet{Number: uint64(step)}
				ring.push(p)
				list = append(list, p)
			case k < 8 && len(list) > 0:
				p := ring.takeRandom(r)
				at := slices.Index(list, p)
				if at < 0 {
					t.Fatal("took what was not there")
				}
				list = slices.Delete(list, at, at+1)
			default:
				p := ring.pop()
				if len(list) == 0 {
					if p != nil {
						t.Fatal("popped from an empty ring")
					}
					continue
				}
				if p != list[0] {
					t.Fatalf("popped %d, want %d", p.Number, list[0].Number)
				}
				list = list[1:]
			}
			if ring.live != len(list) || ring.span > 2*ring.live+firstSlots || len(list) > 0 && ring.front() != list[0] {
				t.Fatalf("live %d of span %d, want %d", ring.live, ring.span, len(list))
			}
		}
	}
}

// Each of ten waiting packets is as likely to go, holes or not: chi-square over the ten, 9 degrees of freedom, 27.877
// at 0.001 (NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.4).
func TestTakeRandomIsUniform(t *testing.T) {
	const n, places, critical = 200_000, 10, 27.877
	r := rand.New(rand.NewPCG(3, 0))
	var ring ring
	var list []*packet.Packet
	var count [places]float64
	for range n {
		for len(list) < places {
			p := &packet.Packet{}
			ring.push(p)
			list = append(list, p)
		}
		at := slices.Index(list, ring.takeRandom(r))
		list = slices.Delete(list, at, at+1)
		count[at]++
	}
	sum := 0.0
	for _, c := range count {
		sum += (c - n/places) * (c - n/places) / (n / places)
	}
	if sum > critical {
		t.Errorf("chi-square %.1f above %.1f: %v", sum, critical, count)
	}
}
