package stat

import (
	"math"
	"testing"
)

// The figures of 81 of 263 and of 15 of 148 are those of Newcombe, Two-sided confidence intervals for the single proportion,
// Statistics in Medicine 17 (1998), table I, method 3; of 0 of 20 and of 1 of 29 too.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {0, 0, 0, 1}, {20, 20, 0.8389, 1},
	} {
		if lo, hi := Wilson(c.k, c.n); math.Abs(lo-c.lo) > 5e-5 || math.Abs(hi-c.hi) > 5e-5 {
			t.Errorf("Wilson(%d, %d) = %.4f, %.4f; want %.4f, %.4f", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
}
