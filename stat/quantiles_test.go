package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// samples are ways to draw values that reductions may stumble over.
var samples = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"normal", func(r *rand.Rand) float64 { return r.NormFloat64() * 10 }},
	{"delays", func(r *rand.Rand) float64 { return 0.02 + r.ExpFloat64()*1e-3 }},
	{"few values", func(r *rand.Rand) float64 { return float64(r.IntN(3)) - 1 }},
	{"all the same", func(*rand.Rand) float64 { return 0.1 }},
	{"all the same, and the least there is", func(*rand.Rand) float64 { return math.SmallestNonzeroFloat64 }},
	{"hardly above 0", func(r *rand.Rand) float64 { return math.SmallestNonzeroFloat64 * float64(r.IntN(9)-4) }},
	{"the largest there are", func(r *rand.Rand) float64 { return math.MaxFloat64 * (1 - r.Float64()*1e-9) }},
	{"the largest of both signs", func(r *rand.Rand) float64 { return math.MaxFloat64 * float64(r.IntN(3)-1) }},
	{"edges of bins", func(r *rand.Rand) float64 { return math.Pow(sketchBase, float64(r.IntN(9)-4)) }},
	{"all magnitudes", func(r *rand.Rand) float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000) }},
	{"heavy tail", func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -5) }},
}

// rising are the figures of a sample that may not fall.
func rising(t *testing.T, what string, figures ...float64) {
	t.Helper()
	if !slices.IsSorted(figures) || slices.ContainsFunc(figures, math.IsNaN) {
		t.Fatalf("%s: minimum, 5th percentile, median, p95, p99, p99.9 and maximum are %v", what, figures)
	}
}

func sketchRises(t *testing.T, what string, s *Sketch) {
	t.Helper()
	rising(t, what, s.Min(), s.Quantile(0), s.Quantile(0.05), s.Median(), s.Quantile(0.95), s.Quantile(0.99), s.Quantile(0.999), s.Quantile(1), s.Max())
	if s.Quantile(0) != s.Min() || s.Quantile(1) != s.Max() || !(s.Mean() >= s.Min() && s.Mean() <= s.Max()) {
		t.Fatalf("%s: quantiles 0 and 1 are %v and %v, minimum, mean and maximum %v, %v and %v", what, s.Quantile(0), s.Quantile(1), s.Min(), s.Mean(), s.Max())
	}
}

// Whatever the sample, min <= median <= p95 <= p99 <= max: of a run exactly, and of sketches of its parts that were written, read and merged, in
// whatever order and how often.
func TestQuantilesRise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, sample := range samples {
		for range 400 {
			var values []float64
			parts := make([]Sketch, 1+random.IntN(4))
			for range 1 + random.IntN(40) {
				v := sample.draw(random)
				values = append(values, v)
				parts[random.IntN(len(parts))].Add(v)
			}
			s := Summarize(values)
			sorted := slices.Sorted(slices.Values(values))
			rising(t, sample.name, s.Min, Quantile(sorted, 0.05), s.Median, s.P95, s.P99, Quantile(sorted, 0.999), s.Max)
			if !(s.Mean >= s.Min && s.Mean <= s.Max) {
				t.Fatalf("%s: mean %v of values from %v to %v", sample.name, s.Mean, s.Min, s.Max)
			}

			var merged, often Sketch
			for _, i := range random.Perm(len(parts)) {
				var read Sketch
				if _, err := read.DecodeBinary(parts[i].AppendBinary(nil)); err != nil {
					t.Fatal(err)
				}
				merged.Merge(&read)
				often.MergeTimes(&read, 1+random.Uint64N(1<<uint(random.IntN(58)))) // 40 values 2^58 times are less than 2^64
			}
			if merged.Min() != s.Min || merged.Max() != s.Max || merged.Count() != uint64(s.N) {
				t.Fatalf("%s: merged sketches have %d values from %v to %v, the sample %d from %v to %v", sample.name, merged.Count(), merged.Min(), merged.Max(), s.N, s.Min, s.Max)
			}
			sketchRises(t, sample.name+", merged", &merged)
			sketchRises(t, sample.name+", merged often", &often)
		}
	}
}

// Where packets were lost, quantiles of delays rise too: a lost one is later than all others.
func TestQuantilesRiseWithLosses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var delays []float64
		for range 1 + random.IntN(30) {
			if delays = append(delays, random.Float64()); random.IntN(3) == 0 {
				delays[len(delays)-1] = math.Inf(1)
			}
		}
		slices.Sort(delays)
		rising(t, "with losses", delays[0], Quantile(delays, 0.05), Median(delays), Quantile(delays, 0.95), Quantile(delays, 0.99), Quantile(delays, 0.999), delays[len(delays)-1])
	}
}

// Ranks rise with the quantile and stay within 1..n, for as many values as can be counted.
func TestRank(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 100, 1 << 30, 1<<53 + 1, math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64} {
		last := uint64(1)
		for _, q := range []float64{0, 1e-12, 0.05, 0.5, 0.95, 0.99, 0.999, 1 - 1e-12, math.Nextafter(1, 0), 1} {
			got := rank(n, q)
			if got < last || got > n {
				t.Errorf("quantile %v of %d values has rank %d, after %d", q, n, got, last)
			}
			last = got
		}
		if last != n {
			t.Errorf("the last of %d values has rank %d", n, last)
		}
	}
}
