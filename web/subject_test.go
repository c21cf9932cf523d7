package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// The API answers for what is of no subject, unless it is asked for one: series, keys, Results, what was measured, and the matrix.
func TestSubjectParameter(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	at := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
	subjects := map[string]*measure.Subject{"": nil, "interface/eth0": {Kind: measure.SubjectInterface, Name: "eth0"},
		"interface/eth1": {Kind: measure.SubjectInterface, Name: "eth1"}}
	var all []*measure.Result
	for name, s := range subjects {
		for n := range len(name) + 1 { // that tells them apart
			r := resultOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at.Add(time.Duration(n)*time.Second))
			r.Metrics, r.Subject = map[measure.Metric]float64{measure.Throughput: 1e6}, s
			all = append(all, r)
			if name == "interface/eth1" && n == 1 {
				break
			}
		}
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	type answer struct{ Series, Keys, Results, Measured, Matrix int }
	for query, want := range map[string]answer{
		"":                        {1, 1, 1, 1, 1},
		"&subject=interface/eth0": {15, 1, 15, 15, 15},
		"&subject=interface/eth1": {2, 1, 2, 2, 2},
		"&subject=interface/*":    {17, 2, 17, 17, 17},
		"&subject=*":              {18, 3, 18, 18, 18},
		"&subject=flow/*":         {},
	} {
		var got answer
		span := "?from=" + at.Format(time.RFC3339) + query
		series := read[struct{ Buckets []struct{ Count int } }](b, "/api/v1/pairs/a/b/series"+span+"&metric=throughput_bits_per_second")
		for _, bucket := range series.Buckets {
			got.Series += bucket.Count
		}
		got.Keys = len(read[keysDoc](b, "/api/v1/keys?source=a"+query).Keys)
		got.Results = len(read[struct{ Results []measure.Result }](b, "/api/v1/results"+span).Results)
		for _, m := range read[measuredDoc](b, "/api/v1/measured"+span).Measured {
			got.Measured += int(m.Runs)
		}
		for _, n := range read[struct{ Counts []int }](b, "/api/v1/matrix?metric=throughput_bits_per_second&span=3h"+query).Counts {
			got.Matrix += n
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

// The value of a quantile of samples is that of the samples of all runs, in series and matrix; least, median, 95th percentile and most
// are in order; and what a pair's past was like holds what stands for it.
func TestValueOfSamples(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	at := time.Now().UTC().Truncate(time.Hour).Add(-50 * time.Minute)
	var all []*measure.Result
	for run, rtts := range [][]float64{{0.01}, {0.011}, {0.1, 0.11, 0.12, 0.13, 0.5}} {
		r := resultOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at.Add(time.Duration(run)*time.Minute))
		s := stat.Summarize(rtts)
		r.Metrics = map[measure.Metric]float64{measure.RTTMin: s.Min, measure.RTTMedian: s.Median, measure.RTTP95: s.P95, measure.RTTMax: s.Max}
		var sketch stat.Sketch
		for _, v := range rtts {
			sketch.Add(v)
		}
		r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: measure.NewDistribution(&sketch)}
		all = append(all, r)
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	type bucket struct {
		Value          float64
		Count, Samples int
		Max            float64
	}
	near := cmpopts.EquateApprox(0.0101, 0)
	for metric, want := range map[measure.Metric]bucket{
		measure.RTTMin: {0.01, 3, 7, 0.1}, measure.RTTMedian: {0.11, 3, 7, 0.12}, measure.RTTP95: {0.5, 3, 7, 0.5}, measure.RTTMax: {0.5, 3, 7, 0.5},
	} {
		path := fmt.Sprintf("metric=%s&from=%s", metric, at.Format(time.RFC3339))
		got := read[struct{ Buckets []bucket }](b, "/api/v1/pairs/a/b/series?"+path)
		if diff := cmp.Diff([]bucket{want}, got.Buckets, near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", metric, diff)
		}
		past := at.Add(2 * time.Hour).Format(time.RFC3339)
		doc := read[struct {
			Baseline struct{ Low, Median, High []*float64 }
		}](b, "/api/v1/matrix?span=30m&baseline=2d&at="+past+"&metric="+string(metric))
		found := false
		for i, v := range doc.Baseline.Median {
			if v != nil {
				found = true
				if low, high := *doc.Baseline.Low[i], *doc.Baseline.High[i]; low > *v || *v > high || !cmp.Equal(*v, want.Value, near) {
					t.Errorf("%s was %v, between %v and %v", metric, *v, low, high)
				}
			}
		}
		if !found {
			t.Errorf("%s has no past", strings.TrimSuffix(string(metric), "_seconds"))
		}
	}
}

// Outages of a span are how many there were in all, and of the longest one the longest. Neither has a past: a longer span has more.
func TestMatrixOfOutages(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	at := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
	var all []*measure.Result
	for _, before := range []time.Duration{0, 24 * time.Hour} {
		for run, longest := range []float64{0, 0.5, 0, 2.25, 0} {
			start := at.Add(time.Duration(run)*time.Minute - before)
			r := resultOf(ulid.MustNew(ulid.Timestamp(start), ulid.DefaultEntropy()).String(), start)
			r.Metrics = map[measure.Metric]float64{measure.OutageLongest: longest, measure.Outages: 2 * longest}
			all = append(all, r)
		}
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Values   []*float64
		Baseline *struct{}
	}
	for metric, want := range map[measure.Metric]float64{measure.OutageLongest: 2.25, measure.Outages: 5.5} {
		got := read[answer](b, "/api/v1/matrix?span=3h&baseline=2d&metric="+string(metric))
		if got.Baseline != nil || got.Values[1] == nil || *got.Values[1] != want {
			t.Errorf("%s: %v, want %v and no baseline", metric, got, want)
		}
	}
}
