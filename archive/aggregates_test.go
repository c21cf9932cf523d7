package archive_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// aggregatedRuns is how many runs of a year TestAggregates files, of which it asks for every metric two spans, and each span of a third of the
// metrics: that takes some seconds of a processor. PATHWISE_AGGREGATES is how many else, of which it asks for all.
const aggregatedRuns = 250

// sampledRun is a run with every sample behind its metrics, by the distribution that they make.
type sampledRun struct {
	*measure.Result
	samples map[measure.Metric][]float64
}

// sampledRuns are runs of somewhat more than a year, the more the newer, each of which lacks some of the metrics of package measure's table.
func sampledRuns(n int) (all []sampledRun) {
	counted := map[measure.Metric]bool{}
	for _, d := range measure.Definitions() {
		counted[d.Merge.Over], counted[d.Merge.Under] = true, true
	}
	random := dice(47)
	const longest = 380 * 24 * time.Hour
	for range n {
		ago := time.Duration(math.Exp(random.Float64()*math.Log(float64(longest/time.Second)))) * time.Second
		r := ping("a", []string{"b", "b", "c"}[random.IntN(3)], now.Add(-ago), 0)
		r.Metrics, r.Distributions = map[measure.Metric]float64{}, map[measure.Metric]measure.Distribution{}
		one := sampledRun{r, map[measure.Metric][]float64{}}
		counts := random.IntN(5) > 0 // a tool says all that it counts, or nothing
		for _, d := range measure.Definitions() {
			if d.Merge.How == measure.MergeShare && counts {
				one.count(random, d.Merge)
			}
			if !counted[d.Metric] && d.Merge.How != measure.MergeShare && random.IntN(5) > 0 {
				one.measured(random, d)
			}
		}
		for _, d := range measure.Definitions() {
			if d.Merge.How == measure.MergeShare && counts {
				r.Metrics[d.Metric] = r.Metrics[d.Merge.Over] / r.Metrics[d.Merge.Under]
			}
		}
		all = append(all, one)
	}
	return all
}

// count adds the counts of a share to a run, those that another share of it has not added.
func (one *sampledRun) count(random *rand.Rand, how measure.Merge) {
	for _, m := range []measure.Metric{how.Under, how.Over} {
		most := 900
		if m == how.Over {
			most = 9
		}
		if _, has := one.Metrics[m]; !has {
			one.Metrics[m] = float64(1 + random.IntN(most))
		}
	}
}

// measured adds a metric to a run: made of its samples, which it shares with others, or drawn.
func (one *sampledRun) measured(random *rand.Rand, d measure.Definition) {
	of := d.Merge.Distribution
	if of != "" && one.samples[of] == nil {
		var sketch stat.Sketch
		base := math.Exp(-7 + 4*random.Float64())
		for range 1 + random.IntN(40) {
			v := base * (1 + random.ExpFloat64())
			sketch.Add(v)
			one.samples[of] = append(one.samples[of], v)
		}
		one.Distributions[of] = measure.NewDistribution(&sketch)
		slices.Sort(one.samples[of])
	}
	switch d.Metric.Merge().How {
	case measure.MergeQuantile:
		one.Metrics[d.Metric] = exactly(one.samples[of], d.Merge.Quantile)
	case measure.MergeSampleMean:
		one.Metrics[d.Metric] = meanOf(one.samples[of])
	case measure.MergeMean:
		one.Metrics[d.Metric] = random.Float64()
	default:
		one.Metrics[d.Metric] = (random.Float64() - 0.1) * math.Exp(20*random.Float64())
	}
}

// exactly is a quantile of sorted numbers, by their rank; of a half, between two, the mean of both.
func exactly(sorted []float64, q float64) float64 {
	if n := len(sorted); q == 0.5 && n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return ranked(sorted, q)
}

// ranked is the least of sorted numbers that so large a part of them does not exceed.
func ranked(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))-1e-9))-1)]
}

func meanOf(values []float64) (mean float64) {
	for _, v := range values {
		mean += v
	}
	return mean / float64(len(values))
}

// aggregated is what a metric came to over some runs, of every sample and count of theirs. false: none has it.
func aggregated(runs []sampledRun, m measure.Metric) (b archive.Merged, any bool) {
	var values, samples []float64
	var over, under float64
	how := m.Merge()
	for _, r := range runs {
		v, has := r.Metrics[m]
		if has {
			values = append(values, v)
			over, under = over+r.Metrics[how.Over], under+r.Metrics[how.Under]
		}
		samples = append(samples, r.samples[how.Distribution]...)
	}
	if len(values) == 0 {
		return b, false
	}
	slices.Sort(values)
	slices.Sort(samples)
	b = archive.Merged{Count: uint64(len(values)), Samples: uint64(len(samples)), Min: values[0], Mean: meanOf(values), Max: values[len(values)-1]}
	switch how.How {
	case measure.MergeQuantile:
		b.Value = exactly(samples, how.Quantile)
	case measure.MergeSampleMean:
		b.Value = meanOf(samples)
	case measure.MergeShare:
		b.Value = over / under
	case measure.MergeMean:
		b.Value = b.Mean
	case measure.MergeSum:
		for _, v := range values {
			b.Value += v
		}
	case measure.MergeMax:
		b.Value = b.Max
	default:
		b.Value = ranked(values, 0.5)
	}
	return b, true
}

// differs says where an answer is not what the runs came to: all is equal but for rounding, and a quantile is within what a sketch keeps.
func differs(want, got archive.Merged, m measure.Metric) string {
	if how := m.Merge().How; how == measure.MergeQuantile || how == measure.MergeMedian {
		if math.Abs(want.Value-got.Value) <= 1.0001*stat.SketchError*math.Abs(want.Value) {
			got.Value = want.Value
		}
	}
	return cmp.Diff(want, got, rounding)
}

// Every metric of the table is over each span, from an hour to a year, what all samples and counts of the raw Results come to, in every
// step of a series and in the matrix: while some values wait in memory and others are moved, and after a restart.
func TestAggregates(t *testing.T) {
	n := aggregatedRuns
	if text := os.Getenv("PATHWISE_AGGREGATES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	runs := sampledRuns(n)
	byTarget := map[string][]sampledRun{}
	for _, r := range runs {
		byTarget[r.Target.Name] = append(byTarget[r.Target.Name], r)
	}
	onBoth(t, func(t *testing.T, url string) {
		small := func(o *archive.Options) { o.MoveValues = 5000 }
		a := open(t, url, small)
		for some := range slices.Chunk(runs, n/3+1) {
			var results []*measure.Result
			for _, r := range some {
				results = append(results, r.Result)
			}
			put(t, a, results...)
			closeIt(t, a)
			a = open(t, url, small)
		}
		for i, d := range measure.Definitions() {
			for k, c := range []struct{ span, step time.Duration }{
				{time.Hour, time.Minute}, {24 * time.Hour, time.Hour}, {7 * 24 * time.Hour, 6 * time.Hour},
				{30 * 24 * time.Hour, 24 * time.Hour}, {365 * 24 * time.Hour, 7 * 24 * time.Hour}, {365 * 24 * time.Hour, 0},
			} {
				if n == aggregatedRuns && (i+k)%3 > 0 {
					continue
				}
				checkAggregates(t, a, byTarget, d.Metric, now.Add(-c.span), c.step)
			}
		}
	})
}

// checkAggregates holds the steps of a series from a to b until now, or without a step the cells of the matrix, against the runs.
func checkAggregates(t *testing.T, a archive.Archive, all map[string][]sampledRun, m measure.Metric, from time.Time, step time.Duration) {
	t.Helper()
	// between are the runs to a target in [from, to).
	between := func(target string, from, to time.Time) (some []sampledRun) {
		for _, r := range all[target] {
			if !r.Started.Before(from) && r.Started.Before(to) {
				some = append(some, r)
			}
		}
		return some
	}
	want, got := map[string]archive.Merged{}, map[string]archive.Merged{}
	if step == 0 {
		cells, err := a.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Metric: string(m)}, From: from, To: now})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			got[c.Target] = c.Merged
		}
		for target := range all {
			if b, any := aggregated(between(target, from, now), m); any {
				want[target] = b
			}
		}
	} else {
		s, err := a.Series(t.Context(), archive.SeriesQuery{Match: archive.Match{Source: "a", Target: "b", Metric: string(m)}, From: from, To: now, Step: step})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range s.Buckets {
			got[b.Start.Format(time.RFC3339)] = b.Merged
		}
		for start := time.Unix(0, from.UnixNano()/int64(step)*int64(step)).UTC(); start.Before(now); start = start.Add(step) {
			if b, any := aggregated(between("b", start, start.Add(step)), m); any {
				want[start.Format(time.RFC3339)] = b
			}
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))) || len(want) == 0 {
		t.Fatalf("%s from %v by %v: answers of %v, want of %v", m, from, step, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	for at, b := range want {
		if diff := differs(b, got[at], m); diff != "" {
			t.Fatalf("%s from %v by %v, %s (-want +got):\n%s", m, from, step, at, diff)
		}
	}
}
