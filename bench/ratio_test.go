package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pathwise-net/pathwise/stat"
)

func TestMedianInterval(t *testing.T) {
	values := []float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5}
	if lo, hi := medianInterval(values, 0.95); lo != 2 || hi != 9 { // the second and the ninth of ten
		t.Errorf("of 1..10: %v, %v; want 2, 9", lo, hi)
	}
	if lo, hi := medianInterval(values[:6], 0.95); lo != 1 || hi != 10 {
		t.Errorf("of six: %v, %v; want all of them, 1 to 10", lo, hi)
	}
	for _, few := range [][]float64{nil, values[:5]} {
		if lo, hi := medianInterval(few, 0.95); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
			t.Errorf("of %d: %v, %v; want -Inf, +Inf", len(few), lo, hi)
		}
	}
	if values[0] != 10 {
		t.Error("medianInterval sorted its caller's slice")
	}
}

// The interval must hold the true median as often as it says, for a distribution as skewed as delays are.
func TestMedianIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const runs = 2000
	held := 0
	for range runs {
		values := make([]float64, 15)
		for i := range values {
			values[i] = random.ExpFloat64()
		}
		if lo, hi := medianInterval(values, 0.95); lo <= math.Ln2 && math.Ln2 <= hi {
			held++
		}
	}
	if lowest, _ := stat.BinomialInterval(runs, 0.95, 0.999); held < lowest {
		t.Errorf("held the median in %d of %d runs; 0.95 of them allows no fewer than %d", held, runs, lowest)
	}
}
