package archive_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// A Result that gets its distribution later, or loses it, is then as if it had been so from the start.
func TestUpdateDistributions(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		results, samples := unlikePings("b", 40)
		before := make([]*measure.Result, len(results))
		for i, r := range results {
			one := *r
			one.Distributions = nil
			before[i] = &one
		}
		put(t, a, before...)
		if err := a.Update(t.Context(), results); err != nil {
			t.Fatal(err)
		}
		checkSamples(t, a, results, samples)
		got, err := a.Result(t.Context(), results[7].ID)
		if diff := cmp.Diff(results[7].Distributions, got.Distributions); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
		if err := a.Update(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		whole := bucketsOf(t, a, measure.RTTMedian, now.Add(-31*time.Hour), now.Add(time.Hour), 0)
		if len(whole) != 1 || whole[0].Samples != 0 || whole[0].Count != 40 {
			t.Errorf("without distributions: %+v", whole)
		}
	})
}

// What is kept of a distribution is what is kept of any metric that it is of; as long as its buckets are, the metrics are answered
// by it after points are gone.
func TestPruneDistributions(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		rules := func(o *archive.Options) {
			o.Retention = []archive.Rule{{Metric: "rtt_*", Points: time.Hour,
				Rollups: [4]time.Duration{time.Hour, time.Hour, 72 * time.Hour, 90 * oneDay}}}
		}
		a := open(t, url, rules)
		results, samples := unlikePings("b", 80)
		put(t, a, results...)
		closeIt(t, a)
		a = open(t, url, rules)
		if _, err := a.Prune(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		var all []float64
		for rtts := range maps.Values(samples) {
			all = append(all, rtts...)
		}
		slices.Sort(all)
		whole := bucketsOf(t, a, measure.RTTP95, now.Add(-50*time.Hour), now.Add(time.Hour), 0)
		if len(whole) != 1 || math.Abs(whole[0].Value-stat.Quantile(all, 0.95)) > 0.0101*whole[0].Value || whole[0].Samples != uint64(len(all)) {
			t.Errorf("of %d samples: %+v", len(all), whole)
		}
	})
}

// Runs of so many different samples that their rows are cut in pieces are all there, after a second time of moving and an update, too;
// and so are those of an archive whose first Result has samples and no metric.
func TestLargeDistributions(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		random := dice(21)
		bare := samplePing("b", now.Add(-40*oneDay), 1, 2)
		clear(bare.Metrics)
		put(t, a, bare)
		closeIt(t, a)
		a = open(t, url)
		samples := map[string][]float64{}
		var results []*measure.Result
		for i := range 90 {
			rtts := make([]float64, 200)
			for j := range rtts {
				rtts[j] = 0.001 * math.Exp(7*random.Float64())
			}
			r := samplePing("b", now.Add(-time.Duration(i%3)*time.Hour-time.Duration(i)*21*time.Second), rtts...)
			results, samples[r.ID] = append(results, r), rtts
		}
		for some := range slices.Chunk(results, 30) {
			put(t, a, some...)
			closeIt(t, a)
			a = open(t, url)
		}
		checkSamples(t, a, results, samples)
		changed := *results[17]
		changed.Notes = []string{"read again"}
		changed.Distributions = maps.Clone(changed.Distributions)
		if err := a.Update(t.Context(), []*measure.Result{&changed}); err != nil {
			t.Fatal(err)
		}
		checkSamples(t, a, results, samples)
		if _, err := a.Prune(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		checkSamples(t, a, results, samples)
	})
}

// A distribution that is none, and a metric under the name that one is kept by, are refused.
func TestPutRefusesDistributions(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		for want, change := range map[string]func(*measure.Result){
			"distributions rtt_seconds": func(r *measure.Result) {
				r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: {1, 2}}
			},
			"at most": func(r *measure.Result) { r.Metrics["distribution/rtt_seconds"] = 1 },
			`distributions is "more"`: func(r *measure.Result) {
				for i := range measure.MostDistributions + 1 {
					r.Distributions[measure.Metric(fmt.Sprintf("x%d_seconds", i))] = r.Distributions[measure.RTTs]
				}
			},
		} {
			r := samplePing("b", now, 1, 2)
			change(r)
			if err := a.Put(t.Context(), []*measure.Result{r}); err == nil || !contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
		r := samplePing("b", now, 1, 2) // what no metric is of stays in the Result
		r.Distributions["other_seconds"] = r.Distributions[measure.RTTs]
		r.Metrics["rtt_seconds"] = 5 // of a program
		put(t, a, r)
		if got := bucketsOf(t, a, measure.RTTMedian, now.Add(-time.Hour), now.Add(time.Hour), 0); len(got) != 1 || got[0].Samples != 2 {
			t.Errorf("%+v", got)
		}
		bare := samplePing("b", now.Add(-2*oneDay), 1, 2) // samples without the metrics that are of them
		clear(bare.Metrics)
		put(t, a, bare)
		if got := bucketsOf(t, a, measure.RTTMedian, now.Add(-3*oneDay), now.Add(-oneDay), time.Hour); len(got) != 0 {
			t.Errorf("a metric that was not measured: %+v", got)
		}
		if got := bucketsOf(t, a, "rtt_seconds", now.Add(-time.Hour), now.Add(time.Hour), 0); len(got) != 1 || got[0].Value != 5 {
			t.Errorf("a metric of the name of a distribution: %+v", got)
		}
	})
}
