package traffic

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
)

const (
	packets = 200_000 // the number for goodness of fit
	// The seeds are fixed, so a test that passes passes always; the bounds are those that 1 seed in 1000 exceeds.
	normalBound     = 3.291  // of a standard normal variable, two-sided
	kolmogorovBound = 1.9495 // of sqrt(n) D_n for large n (Smirnov, Ann. Math. Statist. 19, 1948, table)
	chiSquareBound2 = 13.816 // of chi-square with 2 degrees of freedom: -2 ln 0.001
)

// kolmogorov returns sqrt(n) times the largest distance between the values' distribution and the one given.
func kolmogorov(values []float64, cdf func(float64) float64) float64 {
	slices.Sort(values)
	n, far := float64(len(values)), 0.0
	for i, v := range values {
		far = max(far, cdf(v)-float64(i)/n, float64(i+1)/n-cdf(v))
	}
	return math.Sqrt(n) * far
}

func paretoCDF(scale, alpha float64) func(float64) float64 {
	return func(v float64) float64 { return 1 - math.Pow(scale/max(v, scale), alpha) }
}

func TestConstantIsPeriodic(t *testing.T) {
	c := &Config{From: "a", To: "b", Kind: Constant, Rate: 3e6, Size: 1000, Start: notation.Span(5 * time.Second)}
	g := New(c, 1, 0)
	for i := range packets {
		// 8000 bits at 3 Mbit/s take 2,666,666.67 ns: the n-th time is rounded, and no error adds up.
		want := int64(5e9) + int64(math.Round(float64(i)*8000/3e6*1e9))
		at, size, ok := g.Next()
		if d := at - want; d < -1 || d > 1 || size != 1000 || !ok {
			t.Fatalf("packet %d goes at %d with %d bytes (%v), want %d and 1000", i, at, size, ok, want)
		}
	}
}

func TestConstantWithSizesKeepsTheRate(t *testing.T) {
	c := &Config{From: "a", To: "b", Kind: Constant, Rate: 10e6, Sizes: imix()}
	g, sent := New(c, 1, 0), 0
	for range packets {
		at, size, _ := g.Next()
		if want := float64(sent) * 8 / 10e6 * 1e9; math.Abs(float64(at)-want) > 1 {
			t.Fatalf("after %d bytes the next packet goes at %d, want %.0f", sent, at, want)
		}
		sent += size
	}
}

func imix() Sizes { return Sizes{{40, 0.5}, {576, 0.25}, {1500, 0.25}} }

func TestSizesAsTheirShares(t *testing.T) {
	g := New(&Config{From: "a", To: "b", Kind: Poisson, Rate: 1e9, Sizes: imix()}, 2, 0)
	seen := map[int]float64{}
	for range packets {
		_, size, _ := g.Next()
		seen[size]++
	}
	var chiSquare float64
	for _, p := range imix() {
		want := packets * float64(p.Share)
		chiSquare += (seen[int(p.Size)] - want) * (seen[int(p.Size)] - want) / want
	}
	if len(seen) != 3 || chiSquare > chiSquareBound2 {
		t.Errorf("sizes %v, chi-square %.1f, want below %.1f", seen, chiSquare, chiSquareBound2)
	}
}

func TestPoissonGapsAreExponential(t *testing.T) {
	g := New(&Config{From: "a", To: "b", Kind: Poisson, Rate: 10e6, Size: 1250}, 3, 0) // mean 1 ms
	gaps := make([]float64, packets)
	var before int64
	for i := range gaps {
		at, _, _ := g.Next()
		gaps[i], before = float64(at-before), at
	}
	// The sum of n exponential gaps has a standard deviation of sqrt(n) gaps.
	if off := (float64(before) - packets*1e6) / (math.Sqrt(packets) * 1e6); math.Abs(off) > normalBound {
		t.Errorf("%d packets took %d ns: %.2f standard deviations off", packets, before, off)
	}
	if d := kolmogorov(gaps, func(v float64) float64 { return 1 - math.Exp(-v/1e6) }); d > kolmogorovBound {
		t.Errorf("gaps: Kolmogorov's statistic %.3f, want below %.3f", d, kolmogorovBound)
	}
}

func TestStopEndsForGood(t *testing.T) {
	c := &Config{From: "a", To: "b", Kind: Constant, Rate: 8e6, Size: 1000, Stop: notation.Span(10 * time.Millisecond)}
	g, n := New(c, 1, 0), 0
	for {
		at, _, ok := g.Next()
		if !ok {
			break
		}
		if at >= 10e6 {
			t.Fatalf("a packet goes at %d, after the stop", at)
		}
		n++
	}
	if _, _, ok := g.Next(); ok || n != 10 {
		t.Errorf("%d packets, then ok = %v; want 10 and no more", n, ok)
	}
}

func TestFlowsOfTCP(t *testing.T) {
	c := &Config{From: "a", To: "b", Kind: TCP, Flows: 2, Bytes: 1 << 20, Start: notation.Span(time.Second)}
	g := New(c, 1, 0)
	for i := range 3 {
		if at, bytes, ok := g.Next(); ok != (i < 2) || ok && (at != 1e9 || bytes != 1<<20) {
			t.Errorf("flow %d: %d %d %v; want two at 1 s, and no third", i, at, bytes, ok)
		}
	}
	c.Every = notation.Span(100 * time.Millisecond)
	g = New(c, 1, 0)
	gaps := make([]float64, 0, packets)
	var before int64
	for i := range packets + 2 {
		at, _, _ := g.Next()
		if i >= 2 {
			gaps = append(gaps, float64(at-before))
		}
		before = at
	}
	if d := kolmogorov(gaps, func(v float64) float64 { return 1 - math.Exp(-v/1e8) }); d > kolmogorovBound {
		t.Errorf("gaps between flows: Kolmogorov's statistic %.3f, want below %.3f", d, kolmogorovBound)
	}
}

// One seed and number give one sequence; another of either gives another.
func TestSequencesAreDeterministic(t *testing.T) {
	for _, kind := range []string{Poisson, Pareto} {
		c := &Config{From: "a", To: "b", Kind: kind, Rate: 10e6, Sizes: imix()}
		sequence := func(seed uint64, number int) (all []int64) {
			g := New(c, seed, number)
			last := int64(0)
			for range 1000 {
				at, size, ok := g.Next()
				if at < last || !ok {
					t.Fatalf("%s: time goes from %d to %d (%v)", kind, last, at, ok)
				}
				last = at
				all = append(all, at, int64(size))
			}
			return all
		}
		base := sequence(7, 1)
		if !slices.Equal(base, sequence(7, 1)) {
			t.Errorf("%s: the same seed gives another sequence", kind)
		}
		if slices.Equal(base, sequence(8, 1)) || slices.Equal(base, sequence(7, 2)) {
			t.Errorf("%s: another seed or number gives the same sequence", kind)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, kind := range []string{Constant, Poisson, Pareto} {
		b.Run(kind, func(b *testing.B) {
			g := New(&Config{From: "a", To: "b", Kind: kind, Rate: 1e9, Size: 1500}, 1, 0)
			b.ReportAllocs()
			for b.Loop() {
				g.Next()
			}
		})
	}
}
