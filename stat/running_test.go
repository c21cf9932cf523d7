package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Running is Summarize, without what Summarize keeps.
func TestRunning(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ count, mean, spread float64 }{{1, 0.02, 0}, {2, 0.02, 0.001}, {1000, 0.2, 1e-6}, {1000, 1e6, 1e-3}, {100, -3, 20}} {
		var r Running
		var all []float64
		for range int(c.count) {
			v := c.mean + c.spread*random.NormFloat64()
			r.Add(v)
			all = append(all, v)
		}
		want := Summarize(all)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b)+1e-12 }
		if r.Count() != want.N || r.Min() != want.Min || r.Max() != want.Max || !near(r.Mean(), want.Mean) || !near(r.Stddev(), want.Stddev) {
			t.Errorf("%+v: %d, %g, %g, %g, %g; want %+v", c, r.Count(), r.Min(), r.Max(), r.Mean(), r.Stddev(), want)
		}
	}
	var none Running
	for _, v := range []float64{none.Min(), none.Max(), none.Mean(), none.Stddev()} {
		if !math.IsNaN(v) {
			t.Errorf("of no values: %g, want NaN", v)
		}
	}
}

// Two samples merged are one of all their values, wherever they are parted.
func TestRunningMerge(t *testing.T) {
	values := []float64{1e6 + 3, 1e6 - 1, 1e6, 1e6 + 7, 1e6 + 2}
	var want Running
	for _, v := range values {
		want.Add(v)
	}
	for cut := range len(values) + 1 {
		var one, other Running
		for i, v := range values {
			if i < cut {
				one.Add(v)
			} else {
				other.Add(v)
			}
		}
		one.Merge(&other)
		if one.Count() != want.Count() || one.Min() != want.Min() || one.Max() != want.Max() || math.Abs(one.Mean()-want.Mean()) > 1e-6 || math.Abs(one.Stddev()-want.Stddev()) > 1e-6 {
			t.Errorf("cut at %d: %+v, want %+v", cut, one, want)
		}
	}
}
