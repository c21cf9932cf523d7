package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values whose interval textbooks have: 1 to 5 have the mean 3 and the standard error 0.7071, and 2.776 times that on each side.
func TestMeanInterval(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		low, high float64
	}{
		{[]float64{1, 2, 3, 4, 5}, 3 - 2.776*math.Sqrt(0.5), 3 + 2.776*math.Sqrt(0.5)},
		{[]float64{7, 7, 7}, 7, 7},
		{[]float64{4}, 4, 4},
	} {
		low, high := MeanInterval(c.values)
		if math.Abs(low-c.low) > 1e-9 || math.Abs(high-c.high) > 1e-9 {
			t.Errorf("%v: %v to %v, want %v to %v", c.values, low, high, c.low, c.high)
		}
	}
	if low, high := MeanInterval(nil); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("of nothing: %v to %v", low, high)
	}
}

// Of samples of any size the interval holds the mean as often as it says.
func TestMeanIntervalHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 3, 5, 12, 40} {
		const samples = 4000
		held := 0
		for range samples {
			values := make([]float64, n)
			for i := range values {
				values[i] = 10 + random.NormFloat64()
			}
			if low, high := MeanInterval(values); low <= 10 && 10 <= high {
				held++
			}
		}
		if share := float64(held) / samples; share < 0.935 || share > 0.97 {
			t.Errorf("of %d values the interval held the mean %.1f %% of the time", n, 100*share)
		}
	}
}
