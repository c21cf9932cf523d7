package stat

import (
	"math"
	"testing"
)

func TestBinomialInterval(t *testing.T) {
	cases := []struct {
		n             int
		p, confidence float64
		lo, hi        int
	}{
		// P(X <= 1) = 11/1024 <= 0.025 < 56/1024 = P(X <= 2)
		{10, 0.5, 0.95, 2, 8},
		// P(X = 0) = 1/64 <= 0.025; with 5 it is 1/32
		{6, 0.5, 0.95, 1, 5},
		{5, 0.5, 0.95, 0, 5},
		// Summed by an independent program from the logarithms of the probabilities.
		{1000, 0.1, 0.95, 82, 119},
		{100, 0.01, 0.99, 0, 4},
		{100000, 0.01, 0.99, 920, 1082},
		{1000000, 0.5, 0.95, 499020, 500980},
		{100, 0, 0.99, 0, 0},
		{100, 1, 0.99, 100, 100},
		{0, 0.5, 0.99, 0, 0},
		{7, 0.3, 1, 0, 7},
	}
	for _, c := range cases {
		lo, hi := BinomialInterval(c.n, c.p, c.confidence)
		if lo != c.lo || hi != c.hi {
			t.Errorf("BinomialInterval(%d, %v, %v) = %d, %d; want %d, %d", c.n, c.p, c.confidence, lo, hi, c.lo, c.hi)
		}
	}
}

// The probabilities must be those of the definition, also where a factorial would overflow.
func TestBinomialMass(t *testing.T) {
	for _, c := range []struct {
		n int
		p float64
	}{{1, 0.5}, {10, 0.3}, {1000, 0.001}, {100000, 0.01}, {5000000, 1e-6}} {
		first, mass := binomial(c.n, c.p)
		for i, got := range mass {
			k := first + i
			log := logGamma(c.n+1) - logGamma(k+1) - logGamma(c.n-k+1) + float64(k)*math.Log(c.p) + float64(c.n-k)*math.Log1p(-c.p)
			if want := math.Exp(log); math.Abs(got-want) > 1e-6*want+1e-18 {
				t.Errorf("n %d p %v: P(%d) = %v, want %v", c.n, c.p, k, got, want)
				break
			}
		}
	}
}

func logGamma(n int) float64 {
	v, _ := math.Lgamma(float64(n))
	return v
}
