package stat

import (
	"math"
	"testing"
)

// Values of R's fisher.test.
func TestFisher(t *testing.T) {
	for _, c := range []struct{ k, n, l, m, want float64 }{
		{3, 4, 1, 4, 0.4857142857}, {1, 10, 11, 14, 0.002759456185}, {0, 10, 0, 10, 1}, {0, 5, 5, 5, 0.007936507937}, {5, 5, 0, 5, 0.007936507937},
		{0, 0, 3, 4, 1}, {10, 1000, 10, 1000, 1},
	} {
		if got := Fisher(c.k, c.n, c.l, c.m); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v of %v and %v of %v: %v, want %v", c.k, c.n, c.l, c.m, got, c.want)
		}
	}
	if got := Fisher(0, 1e6, 100, 1e6); got > 1e-25 || got <= 0 || math.IsNaN(got) {
		t.Errorf("of millions: %v", got)
	}
}
