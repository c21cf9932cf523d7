package archive_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// drawnPings are runs of three days from a to b and to c, of three tests: most say their samples, some only metrics, some only samples,
// and some failed. There are hours without any.
func drawnPings() (results []*measure.Result) {
	random := dice(31)
	for i := range 500 {
		at := now.Add(-time.Duration(random.Int64N(int64(72 * time.Hour))))
		if at.Hour()%6 == 3 {
			continue
		}
		rtts := make([]float64, 1+random.IntN(12))
		for j := range rtts {
			rtts[j] = 0.001 * math.Exp(4*random.Float64())
		}
		r := samplePing([]string{"b", "b", "c"}[random.IntN(3)], at, rtts...)
		r.Test = fmt.Sprintf("test%d", random.IntN(3))
		switch n := random.IntN(12); {
		case n < 3:
			r.Distributions = nil
		case n == 3 || at.Hour() == 8:
			clear(r.Metrics)
		case n == 4:
			clear(r.Metrics)
			r.Distributions, r.Status = nil, measure.StatusFailed
		case n == 5 && i%2 == 0: // one value in many runs
			r.Metrics[measure.RTTMedian], r.Metrics[measure.RTTMean] = 0.01, 0.01
		}
		results = append(results, r)
	}
	return results
}

// plainRuns are Results by target and time, and the sketches in each.
type plainRuns struct {
	results targets
	samples map[string]map[measure.Metric]*stat.Sketch // by ID and distribution
}

func plainly(t *testing.T, results []*measure.Result) plainRuns {
	t.Helper()
	all := plainRuns{targetsOf(results), map[string]map[measure.Metric]*stat.Sketch{}}
	for _, r := range results {
		all.samples[r.ID] = map[measure.Metric]*stat.Sketch{}
		for name, d := range r.Distributions {
			one, err := d.Sketch()
			if err != nil {
				t.Fatal(err)
			}
			all.samples[r.ID][name] = one
		}
	}
	return all
}

// merging is what plain merging of runs comes to: every Result of the span is looked at, and every sketch merged by itself.
type merging struct {
	values, said, samples, all stat.Sketch
	runs                       uint64
}

func (all plainRuns) merge(target string, m measure.Metric, from, to time.Time) (p merging) {
	distribution := m.Merge().Distribution
	for _, r := range all.results.between(target, from, to) {
		one := all.samples[r.ID][distribution]
		says := one != nil
		if says {
			p.samples.Merge(one)
			p.runs++
		}
		if v, has := r.Metrics[m]; has {
			p.all.Add(v)
			if says {
				p.said.Add(v)
			} else {
				p.values.Add(v)
			}
		}
	}
	return p
}

// bucket is the answer that a merging gives, with quantiles of samples where there are any, or of values alone, as in a matrix.
func (p merging) bucket(m measure.Metric, quantiles []float64, cell bool) archive.Bucket {
	how, sampled := m.Merge(), p.runs > 0
	b := archive.Bucket{Merged: archive.Merged{Count: p.all.Count(), Min: p.all.Min(), Mean: p.all.Mean(), Max: p.all.Max()}}
	if sampled {
		b.Samples = p.samples.Count()
		p.samples.MergeTimes(&p.values, max(1, uint64(math.Round(float64(b.Samples)/float64(p.runs)))))
	}
	of := func(s *stat.Sketch, q float64) float64 {
		if q == 0.5 && s == &p.samples {
			return s.Median()
		}
		return s.Quantile(q)
	}
	switch {
	case sampled && how.How == measure.MergeQuantile:
		b.Value = of(&p.samples, how.Quantile)
	case sampled && how.How == measure.MergeSampleMean:
		b.Value = p.samples.Mean()
	case how.How == measure.MergeMean:
		b.Value = p.all.Mean()
	default:
		b.Value = p.all.Quantile(0.5)
	}
	b.OfSamples = sampled && !cell
	for _, q := range quantiles {
		if b.OfSamples {
			b.Quantiles = append(b.Quantiles, of(&p.samples, q))
		} else {
			b.Quantiles = append(b.Quantiles, p.all.Quantile(q))
		}
	}
	return b
}

// Answers are those of plain merging, of every metric, span and step, whether values wait in memory, have been moved at once or bit by bit.
// Only sums may be rounded elsewhere.
func TestAnswersAreOfPlainMerging(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		small := func(o *archive.Options) { o.MoveValues = 900 }
		a := open(t, url, small)
		results := drawnPings()
		runs := plainly(t, results)
		for i, r := range results {
			put(t, a, r)
			if i == len(results)/2 {
				closeIt(t, a)
				a = open(t, url, small)
			}
		}
		for range 2 {
			for _, m := range []measure.Metric{measure.RTTMedian, measure.RTTMean, measure.RTTMin, measure.RTTP95, measure.RTTStddev} {
				checkSeriesPlainly(t, a, runs, m)
				checkMatrixPlainly(t, a, runs, m)
			}
			closeIt(t, a)
			a = open(t, url, small)
		}
	})
}

func checkSeriesPlainly(t *testing.T, a archive.Archive, runs plainRuns, m measure.Metric) {
	t.Helper()
	midnight := now.Truncate(24 * time.Hour)
	for _, step := range []time.Duration{30 * time.Second, time.Minute, 10 * time.Minute, 20 * time.Minute, time.Hour, 5 * time.Hour, 24 * time.Hour} {
		from, to := midnight.Add(-2*24*time.Hour), midnight.Add(12*time.Hour)
		if step < time.Hour {
			from = to.Add(-20 * time.Hour)
		}
		s, err := a.Series(t.Context(), archive.SeriesQuery{Match: archive.Match{Source: "a", Target: "b", Metric: string(m)}, From: from,
			To: to, Step: step, Quantiles: someQuantiles})
		if err != nil {
			t.Fatal(err)
		}
		var want []archive.Bucket
		first := time.Unix(0, from.UnixNano()/int64(step)*int64(step)).UTC()
		for start := first; start.Before(to); start = start.Add(step) {
			if p := runs.merge("b", m, start, start.Add(step)); p.all.Count() > 0 {
				b := p.bucket(m, someQuantiles, false)
				b.Start = start
				want = append(want, b)
			}
		}
		if diff := cmp.Diff(want, s.Buckets, rounding); diff != "" || len(want) == 0 {
			t.Fatalf("%s by %v (-want +got):\n%s", m, step, diff)
		}
	}
}

func checkMatrixPlainly(t *testing.T, a archive.Archive, runs plainRuns, m measure.Metric) {
	t.Helper()
	for _, span := range [][2]time.Duration{{72, 0}, {30, 1}, {7, 6}} {
		for _, odd := range []time.Duration{0, 7 * time.Minute, 1234567 * time.Microsecond} {
			from, to := now.Add(-span[0]*time.Hour+odd), now.Add(-span[1]*time.Hour+2*odd)
			got, err := a.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Metric: string(m)}, From: from, To: to,
				Quantiles: someQuantiles})
			if err != nil {
				t.Fatal(err)
			}
			var want []archive.Cell
			for _, target := range []string{"b", "c"} {
				if p := runs.merge(target, m, from, to); p.all.Count() > 0 {
					want = append(want, archive.Cell{Pair: archive.Pair{Source: "a", Target: target},
						Merged: p.bucket(m, someQuantiles, true).Merged})
				}
			}
			if diff := cmp.Diff(want, got, rounding); diff != "" {
				t.Fatalf("%s from %v to %v (-want +got):\n%s", m, from, to, diff)
			}
		}
	}
}
