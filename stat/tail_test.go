package stat

import (
	"math"
	"testing"
)

func TestBinomialTail(t *testing.T) {
	for _, c := range []struct {
		k, n int
		p    float64
		want float64
	}{
		{0, 10, 0.5, 1}, {11, 10, 0.5, 0}, {1, 10, 0, 0}, {10, 10, 0.5, 1.0 / 1024}, {1, 10, 0.001, 1 - math.Pow(0.999, 10)},
		{5, 10, 0.5, 0.623046875}, {2, 100, 0.001, 0.0046381}, {1000, 1000, 0.001, 0},
	} {
		if got := BinomialTail(c.k, c.n, c.p); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%d of %d at %g: %g, want %g", c.k, c.n, c.p, got, c.want)
		}
	}
}
