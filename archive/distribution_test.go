package archive_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// samplePing is a ping of these round trips, as the probe reduces it.
func samplePing(target string, at time.Time, rtts ...float64) *measure.Result {
	r := ping("a", target, at, 0)
	s := stat.Summarize(rtts)
	r.Metrics = map[measure.Metric]float64{measure.RTTMin: s.Min, measure.RTTMean: s.Mean, measure.RTTMedian: s.Median,
		measure.RTTP95: s.P95, measure.RTTP99: s.P99, measure.RTTMax: s.Max, measure.RTTStddev: s.Stddev,
		measure.SentPackets: float64(len(rtts))}
	var sketch stat.Sketch
	for _, v := range rtts {
		sketch.Add(v)
	}
	r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: measure.NewDistribution(&sketch)}
	return r
}

// unlikePings are runs of two days of which the medians of medians say something else than all samples: of three runs, two are of
// three quick packets and one of a hundred slow ones. samples are those of each Result.
func unlikePings(target string, n int) (results []*measure.Result, samples map[string][]float64) {
	random := dice(11)
	samples = map[string][]float64{}
	for i := range n {
		rtts := make([]float64, 3)
		base := 0.01
		if i%3 == 2 {
			rtts, base = make([]float64, 100), 0.08
		}
		for j := range rtts {
			rtts[j] = base * (1 + random.ExpFloat64())
		}
		r := samplePing(target, now.Add(-time.Duration(i)*29*time.Hour/time.Duration(n)), rtts...)
		results, samples[r.ID] = append(results, r), rtts
	}
	return results, samples
}

var delayQuantiles = map[measure.Metric]float64{measure.RTTMin: 0, measure.RTTMedian: 0.5, measure.RTTP95: 0.95, measure.RTTP99: 0.99,
	measure.RTTMax: 1}

// The median over many runs is the median of all their samples, and so for every quantile of them, of every span and step, before and
// after values are moved, and wherever a backup is restored.
func TestDistributions(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		small := func(o *archive.Options) { o.MoveValues = 700 }
		a := open(t, url, small)
		results, samples := unlikePings("b", 120)
		for some := range slices.Chunk(results, 50) {
			put(t, a, some...)
		}
		checkSamples(t, a, results, samples)
		closeIt(t, a)
		a = open(t, url, small)
		checkSamples(t, a, results, samples)
		path := filepath.Join(t.TempDir(), "archive.backup")
		if err := a.Backup(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		for name, other := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "other.db"), "postgres": postgresURL(t)} {
			t.Run("into "+name, func(t *testing.T) {
				b := open(t, other, small)
				if err := b.Restore(t.Context(), path); err != nil {
					t.Fatal(err)
				}
				checkSamples(t, b, results, samples)
			})
		}
	})
}

// checkSamples holds all that an archive says of pings from a to b against their samples.
func checkSamples(t *testing.T, a archive.Archive, results []*measure.Result, samples map[string][]float64) {
	t.Helper()
	for _, c := range []struct {
		from, to time.Time
		step     time.Duration
	}{
		{now.Add(-30 * time.Hour), now.Add(time.Hour), 0},
		{now.Add(-17*time.Hour - 1), now.Add(-time.Hour), 0},
		{now.Add(-5 * time.Hour), now, 30 * time.Second},
		{now.Add(-5 * time.Hour), now, time.Minute},
		{now.Add(-30 * time.Hour), now, 30 * time.Minute},
		{now.Add(-30 * time.Hour), now, 6 * time.Hour},
		{now.Add(-50 * time.Hour), now, 24 * time.Hour},
	} {
		buckets := map[measure.Metric][]archive.Bucket{}
		for m := range delayQuantiles {
			buckets[m] = bucketsOf(t, a, m, c.from, c.to, c.step)
		}
		buckets[measure.RTTMean] = bucketsOf(t, a, measure.RTTMean, c.from, c.to, c.step)
		for i, b := range buckets[measure.RTTMedian] {
			to := b.Start.Add(c.step)
			if c.step == 0 {
				to = c.to
			}
			var all []float64
			runs := 0
			for _, r := range results {
				if !r.Started.Before(b.Start) && r.Started.Before(to) {
					all = append(all, samples[r.ID]...)
					runs++
				}
			}
			slices.Sort(all)
			if b.Count != uint64(runs) || b.Samples != uint64(len(all)) {
				t.Errorf("%v by %v: %d runs with %d samples, want %d with %d", b.Start, c.step, b.Count, b.Samples, runs, len(all))
			}
			want := map[measure.Metric]float64{measure.RTTMedian: stat.Median(all), measure.RTTMean: stat.Summarize(all).Mean}
			got := map[measure.Metric]float64{measure.RTTMean: buckets[measure.RTTMean][i].Value}
			for m, q := range delayQuantiles {
				if got[m] = buckets[m][i].Value; m != measure.RTTMedian {
					want[m] = stat.Quantile(all, q)
				}
			}
			if diff := cmp.Diff(want, got, within(0.0101)); diff != "" {
				t.Errorf("%v by %v (-want +got):\n%s", b.Start, c.step, diff)
			}
			inOrder(t, got)
			quantiles := []float64{stat.Quantile(all, 0), stat.Quantile(all, 0.25), stat.Median(all), stat.Quantile(all, 0.95), stat.Quantile(all, 1)}
			for m := range buckets {
				if diff := cmp.Diff(quantiles, buckets[m][i].Quantiles, within(0.0101)); diff != "" || !buckets[m][i].OfSamples {
					t.Errorf("%v by %v: quantiles behind %s, of samples: %v (-want +got):\n%s", b.Start, c.step, m, buckets[m][i].OfSamples, diff)
				}
			}
		}
	}
	from, to := now.Add(-30*time.Hour), now.Add(time.Hour)
	for _, b := range bucketsOf(t, a, measure.RTTStddev, from, to, 6*time.Hour) { // of no distribution
		if b.OfSamples || b.Quantiles[0] != b.Min || b.Quantiles[4] != b.Max {
			t.Errorf("standard deviation: %+v", b)
		}
	}
	cells, err := a.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Metric: "rtt_median_seconds"}, From: from, To: to})
	if err != nil || len(cells) != 1 || cells[0].Value != bucketsOf(t, a, measure.RTTMedian, from, to, 0)[0].Value {
		t.Errorf("error %v; cells %+v", err, cells)
	}
}

// within lets numbers differ by a part of them.
func within(part float64) cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= part*math.Max(math.Abs(a), math.Abs(b)) })
}

func inOrder(t *testing.T, v map[measure.Metric]float64) {
	t.Helper()
	for _, pair := range [][2]measure.Metric{{measure.RTTMin, measure.RTTMedian}, {measure.RTTMedian, measure.RTTP95},
		{measure.RTTP95, measure.RTTP99}, {measure.RTTP99, measure.RTTMax}, {measure.RTTMin, measure.RTTMean},
		{measure.RTTMean, measure.RTTMax}} {
		if v[pair[0]] > v[pair[1]] {
			t.Errorf("%s %v is above %s %v", pair[0], v[pair[0]], pair[1], v[pair[1]])
		}
	}
}

var someQuantiles = []float64{0, 0.25, 0.5, 0.95, 1}

func bucketsOf(t *testing.T, a archive.Archive, m measure.Metric, from, to time.Time, step time.Duration) []archive.Bucket {
	t.Helper()
	s, err := a.Series(t.Context(), archive.SeriesQuery{Match: archive.Match{Source: "a", Target: "b", Metric: string(m)}, From: from,
		To: to, Step: step, Quantiles: someQuantiles})
	if err != nil {
		t.Fatal(err)
	}
	return s.Buckets
}

// The median of medians is far from the median of samples in these runs, so that the tests above tell them apart.
func TestMedianOfMedians(t *testing.T) {
	results, samples := unlikePings("b", 120)
	var all, medians []float64
	for _, r := range results {
		all, medians = append(all, samples[r.ID]...), append(medians, r.Metrics[measure.RTTMedian])
	}
	slices.Sort(all)
	slices.Sort(medians)
	if of, wrong := stat.Median(all), stat.Median(medians); wrong > of/3 {
		t.Errorf("median %v, of medians %v", of, wrong)
	}
}

// Runs of which only the metrics are known, such as those of before, are as they were where there are no others; among others each
// stands for as many samples as a run has, and least, median, percentiles and most stay in order.
func TestDistributionsMixed(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url, func(o *archive.Options) { o.MoveValues = 700 })
		random := dice(5)
		var old []float64 // medians
		for i := range 300 {
			rtts := make([]float64, 10)
			for j := range rtts {
				rtts[j] = 0.02 * (1 + random.ExpFloat64())
			}
			r := samplePing("b", now.Add(-time.Duration(i)*7*time.Minute), rtts...)
			if i >= 100 && i < 200 && i%3 > 0 || i >= 200 {
				r.Distributions = nil
			}
			if i >= 200 {
				old = append(old, r.Metrics[measure.RTTMedian])
			}
			put(t, a, r)
		}
		for range 2 {
			for _, step := range []time.Duration{0, time.Minute, time.Hour, 24 * time.Hour} {
				all := map[measure.Metric][]archive.Bucket{}
				for m := range delayQuantiles {
					all[m] = bucketsOf(t, a, m, now.Add(-36*time.Hour), now.Add(time.Second), step)
				}
				all[measure.RTTMean] = bucketsOf(t, a, measure.RTTMean, now.Add(-36*time.Hour), now.Add(time.Second), step)
				count := uint64(0)
				for i := range all[measure.RTTMin] {
					got := map[measure.Metric]float64{}
					for m, buckets := range all {
						got[m] = buckets[i].Value
					}
					inOrder(t, got)
					count += all[measure.RTTMin][i].Count
				}
				if count != 300 {
					t.Errorf("by %v: %d runs", step, count)
				}
			}
			slices.Sort(old)
			before := bucketsOf(t, a, measure.RTTMedian, now.Add(-36*time.Hour), now.Add(-200*7*time.Minute+time.Second), 0)
			want := stat.Quantile(old, 0.5)
			if len(before) != 1 || before[0].Samples != 0 || before[0].OfSamples || math.Abs(before[0].Quantiles[2]-want) > 0.011*want || before[0].Count != 100 || math.Abs(before[0].Value-want) > 0.011*want {
				t.Errorf("before: %+v, want %v", before, want)
			}
			closeIt(t, a)
			a = open(t, url)
		}
	})
}

// What was never of samples stays as it is, runs are counted once whether they say their samples or not, no list names a distribution,
// and a time without a run is a gap.
func TestDistributionsElsewhere(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		results, _ := unlikePings("b", 60)
		for i, r := range results {
			if i%4 == 0 {
				r.Distributions = nil
			}
		}
		put(t, a, results...)
		for range 2 {
			measured, err := a.Measured(t.Context(), archive.MeasuredQuery{From: now.Add(-3 * oneDay), To: now.Add(oneDay)})
			if err != nil {
				t.Fatal(err)
			}
			got := map[measure.Metric]uint64{}
			for _, m := range measured {
				got[m.Metric] = m.Runs
			}
			want := map[measure.Metric]uint64{}
			for m := range results[0].Metrics {
				want[m] = 60
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			keys, err := a.Keys(t.Context(), archive.Match{})
			if err != nil || len(keys) != len(want) {
				t.Errorf("error %v; keys %v", err, keys)
			}
			var points []float64
			median := keys[slices.IndexFunc(keys, func(k archive.Key) bool { return k.Metric == measure.RTTMedian })]
			for p, err := range a.Points(t.Context(), median, time.Time{}, time.Time{}) {
				if err != nil {
					t.Fatal(err)
				}
				points = append(points, p.Value)
			}
			if len(points) != 60 || points[59] != results[0].Metrics[measure.RTTMedian] {
				t.Errorf("%d points, the last %v", len(points), points[len(points)-1:])
			}
			gaps, err := a.Gaps(t.Context(), archive.GapQuery{Match: archive.Match{Metric: "rtt_median_seconds"},
				From: now.Add(-27 * time.Hour), To: now, Least: 6 * time.Hour, Longest: 2 * time.Hour})
			if err != nil || len(gaps) > 0 {
				t.Errorf("error %v; gaps %v", err, gaps)
			}
			closeIt(t, a)
			a = open(t, url)
		}
	})
}
