package stat

import (
	"math"
	"testing"
)

func TestFairness(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		want   float64
	}{
		{[]float64{5, 5, 5}, 1},
		{[]float64{7, 0}, 0.5},
		{[]float64{0.6, 0.4}, 1 / 1.04},
		{[]float64{8e6, 2e6}, 1 / 1.36},
		{[]float64{0, 0}, 0},
		{nil, 0},
	} {
		if got := Fairness(c.shares...); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.shares, got, c.want)
		}
	}
}
