package chance

import (
	"math"
	"math/rand/v2"
	"testing"
)

// packets is how many each goodness-of-fit test looks at. Seeds are fixed, so a test passes always or never; each
// critical value is that of a chance of 1 in 1000 to fail a process that is right.
const packets = 200_000

// z999 is the normal's quantile at 0.999, for one-sided tests, z9995 that at 0.9995, for two-sided ones.
const z999, z9995 = 3.0902, 3.2905

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(20021, n)) }

// checkKS compares samples with a distribution function by Kolmogorov and Smirnov: with n samples the largest distance
// exceeds sqrt(-ln(0.001/2)/2)/sqrt(n) = 1.9495/sqrt(n) with probability 0.001 (Smirnov 1948, asymptotic). It is taken
// at 20,000 points of equal probability, between which it can be larger by 1/20,000, a hundredth of what is allowed.
func checkKS(t *testing.T, name string, samples []float64, below func(float64) float64) {
	t.Helper()
	const points = 20_000
	var counts [points + 1]int
	for _, x := range samples {
		counts[int(points*below(x))]++
	}
	n := float64(len(samples))
	farthest, sum := 0.0, 0
	for i, c := range counts[:points] {
		sum += c
		farthest = max(farthest, math.Abs(float64(sum)/n-float64(i+1)/points))
	}
	if critical := math.Sqrt(-math.Log(0.0005)/2) / math.Sqrt(n); farthest > critical {
		t.Errorf("%s: farthest from its distribution by %.5f; want at most %.5f of %v samples", name, farthest, critical, n)
	}
}

// checkChiSquare compares how often 1, 2, 3, ... came with the probabilities of these, by Pearson's test. Neighbours
// are joined until a class expects a twentieth of all: few classes see a wrong mean better than many. The last class is
// the rest, and expects 10 or more.
func checkChiSquare(t *testing.T, name string, values []int, probability func(int) float64) {
	t.Helper()
	seen := map[int]float64{}
	for _, v := range values {
		seen[v]++
	}
	n := float64(len(values))
	var statistic, expected, observed float64
	classes, expectedRest, observedRest := 0, n, n
	for v := 1; expectedRest-expected >= 10; v++ {
		expected += n * probability(v)
		observed += seen[v]
		if expected < n/20 || expectedRest-expected < 10 {
			continue
		}
		statistic += (observed - expected) * (observed - expected) / expected
		expectedRest -= expected
		observedRest -= observed
		expected, observed = 0, 0
		classes++
	}
	statistic += (observedRest - expectedRest) * (observedRest - expectedRest) / expectedRest
	if classes == 0 {
		t.Fatalf("%s: %d values make one class only", name, len(values))
	}
	if critical := chiSquareCritical(classes); statistic > critical {
		t.Errorf("%s: chi-square %.1f with %d degrees of freedom; want at most %.1f", name, statistic, classes, critical)
	}
}

// chiSquareCritical is the quantile at 0.999 by Wilson and Hilferty (1931): a little too large, by 3 % with one degree
// of freedom and by less than 1 % from 6 on.
func chiSquareCritical(degrees int) float64 {
	k := float64(degrees)
	return k * math.Pow(1-2/(9*k)+z999*math.Sqrt(2/(9*k)), 3)
}

// checkShare compares a count with its binomial interval in the normal approximation. Inflation is by how much
// dependence widens the variance: (1+r)/(1-r) for a chain of lag-one autocorrelation r.
func checkShare(t *testing.T, name string, hits, n int, ratio, inflation float64) {
	t.Helper()
	margin := z9995 * math.Sqrt(ratio*(1-ratio)/float64(n)*inflation)
	if got := float64(hits) / float64(n); math.Abs(got-ratio) > margin {
		t.Errorf("%s: share %.5f; want %.5f within %.5f", name, got, ratio, margin)
	}
}

// runs returns the lengths of the runs of hits and of the gaps between them, without the first and the last, which the
// ends of the sample cut.
func runs(hits []bool) (runs, gaps []int) {
	start := 0
	for i := 1; i < len(hits); i++ {
		if hits[i] == hits[i-1] {
			continue
		}
		if start > 0 && hits[i-1] {
			runs = append(runs, i-start)
		} else if start > 0 {
			gaps = append(gaps, i-start)
		}
		start = i
	}
	return runs, gaps
}

// geometric is the probability that a run lasts k when it ends with probability p after each.
func geometric(p float64) func(int) float64 {
	return func(k int) float64 { return p * math.Pow(1-p, float64(k-1)) }
}

// autocorrelation at a lag.
func autocorrelation(x []float64, lag int) float64 {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var with, own float64
	for i, v := range x {
		own += (v - mean) * (v - mean)
		if i >= lag {
			with += (v - mean) * (x[i-lag] - mean)
		}
	}
	return with / own
}

// words counts what is drawn.
type words struct {
	from rand.Source
	n    int
}

func (w *words) Uint64() uint64 {
	w.n++
	return w.from.Uint64()
}

func TestChiSquareCritical(t *testing.T) {
	// Tables of the chi-square distribution at 0.999.
	for degrees, want := range map[int]float64{1: 10.828, 2: 13.816, 5: 20.515, 10: 29.588, 30: 59.703} {
		if got := chiSquareCritical(degrees); got/want < 0.999 || got/want > 1.035 {
			t.Errorf("%d degrees: %.3f; want %.3f", degrees, got, want)
		}
	}
}

// TestGoodnessOfFitCanFail holds the yardsticks themselves against processes that are slightly wrong.
func TestGoodnessOfFitCanFail(t *testing.T) {
	random := seeded(0)
	var samples []float64
	hits := make([]bool, packets)
	count := 0
	for i := range hits {
		samples = append(samples, random.Float64()*1.01)
		hits[i] = random.Float64() < 0.105
		if hits[i] {
			count++
		}
	}
	lost, between := runs(hits)
	for name, check := range map[string]func(*testing.T){
		"ks":    func(t *testing.T) { checkKS(t, "1 % wider", samples, func(x float64) float64 { return min(x, 1) }) },
		"runs":  func(t *testing.T) { checkChiSquare(t, "5 % shorter", lost, geometric(0.85)) },
		"gaps":  func(t *testing.T) { checkChiSquare(t, "5 % more", between, geometric(0.1)) },
		"share": func(t *testing.T) { checkShare(t, "5 % more", count, packets, 0.1, 1) },
	} {
		tried := &testing.T{}
		check(tried)
		if !tried.Failed() {
			t.Errorf("%s: passed a process that is wrong", name)
		}
	}
}

func TestUnit(t *testing.T) {
	for word, want := range map[uint64]float64{0: 0x1p-53, math.MaxUint64: 1 - 0x1p-53, 1 << 63: 0.5 + 0x1p-53} {
		if got := unit(word); got != want {
			t.Errorf("%x: %v; want %v", word, got, want)
		}
	}
	for _, v := range []float64{0x1p-53, 1e-6, 0.3, 0.5, 1 - 1e-6} {
		if back := upperTail(upperScore(v)); math.Abs(back/v-1) > 1e-9 {
			t.Errorf("%v: comes back as %v", v, back)
		}
	}
}
