package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVariation(t *testing.T) {
	cases := []struct {
		name      string
		delays    []float64
		ipdv, pdv []float64
		want      Variation
		ok        bool
	}{
		{"nothing", nil, nil, nil, Variation{}, false},
		{"one packet", []float64{20}, nil, []float64{0}, Variation{}, false},
		{"RFC 5481, figure 1 (section 4.4)", []float64{20, 10, 20, 25, 20}, []float64{-10, 10, 5, -5}, []float64{10, 0, 10, 15, 10},
			Variation{IPDVP95: 10, PDVP95: 15, Spread: 5, Buffer: 15}, true},
		// A queue that a burst of 85 ms filled and that drains while packets are sent every 20 ms.
		{"RFC 5481, section 5.2", []float64{20, 105, 85, 65, 45, 25, 20}, []float64{85, -20, -20, -20, -20, -5}, []float64{0, 85, 65, 45, 25, 5, 0},
			Variation{IPDVP95: 85, PDVP95: 85, Spread: 60, Buffer: 85}, true},
		{"a lost packet takes two differences away", []float64{3, 5, Lost, 4, 3}, []float64{2, -1}, []float64{0, 2, 1, 0},
			Variation{IPDVP95: 2, PDVP95: 2, Spread: 1.5, Buffer: 2}, true},
		{"every other one lost", []float64{7, Lost, 9}, nil, []float64{0, 2}, Variation{PDVP95: 2, Spread: 1, Buffer: 2}, true},
		{"clocks an hour apart", []float64{-3600, -3599, -3598}, []float64{1, 1}, []float64{0, 1, 2},
			Variation{IPDVP95: 1, PDVP95: 2, Spread: 1, Buffer: 2}, true},
	}
	for _, c := range cases {
		if diff := cmp.Diff([][]float64{c.ipdv, c.pdv}, [][]float64{IPDV(c.delays), PDV(c.delays)}); diff != "" {
			t.Errorf("%s: IPDV and PDV (-want +got):\n%s", c.name, diff)
		}
		got, ok := VariationOf(c.delays)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
			t.Errorf("%s: ok %v (-want +got):\n%s", c.name, ok, diff)
		}
	}
}

// A playout buffer of that length lets one packet in a thousand be late, and no more.
func TestBuffer(t *testing.T) {
	delays := make([]float64, 10_000)
	for i := range delays {
		delays[i] = 0.02 + float64(i)*1e-6
	}
	rand.New(rand.NewPCG(5481, 1)).Shuffle(len(delays), func(i, j int) { delays[i], delays[j] = delays[j], delays[i] })
	v, _ := VariationOf(delays)
	late := 0
	for _, d := range PDV(delays) {
		if d > v.Buffer {
			late++
		}
	}
	if late != 10 {
		t.Errorf("%d of 10000 packets late for a buffer of %v, want 10", late, v.Buffer)
	}
}
