package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// What hours come to is put together by what was counted in them: of loss and reordering, packets; of all else, runs.
func TestWeights(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	hour := time.Now().UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	var all []*measure.Result
	add := func(at time.Time, metrics map[measure.Metric]float64) {
		r := resultOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at)
		r.Metrics = metrics
		all = append(all, r)
	}
	for i := range 3 { // nothing lost of 300
		add(hour.Add(time.Duration(i)*time.Minute), map[measure.Metric]float64{measure.LossRatio: 0, measure.LostPackets: 0, measure.SentPackets: 100,
			measure.ReorderingRatio: 0, measure.ReorderedPackets: 0, measure.ReceivedPackets: 100, measure.HostCPU: 0.1, measure.RTTMedian: 0.010})
	}
	add(hour.Add(time.Hour), map[measure.Metric]float64{measure.LossRatio: 0.5, measure.LostPackets: 5, measure.SentPackets: 10,
		measure.ReorderingRatio: 0.2, measure.ReorderedPackets: 1, measure.ReceivedPackets: 5, measure.HostCPU: 0.5, measure.RTTMedian: 0.030})
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	type part struct{ Value, Weight float64 }
	for metric, want := range map[measure.Metric]struct {
		parts []part
		whole float64
	}{
		measure.LossRatio:       {[]part{{0, 300}, {0.5, 10}}, 5.0 / 310},
		measure.ReorderingRatio: {[]part{{0, 300}, {0.2, 5}}, 1.0 / 305},
		measure.HostCPU:         {[]part{{0.1, 3}, {0.5, 1}}, 0.2},
		measure.RTTMedian:       {[]part{{0.010, 3}, {0.030, 1}}, 0.015},
	} {
		path := fmt.Sprintf("/api/v1/pairs/a/b/series?metric=%s&step=1h&from=%s", metric, hour.Format(time.RFC3339))
		doc := read[struct{ Buckets []part }](b, path+"&weights=true")
		near := cmpopts.EquateApprox(0.011, 1e-9) // as exact as quantiles are
		if diff := cmp.Diff(want.parts, doc.Buckets, near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", metric, diff)
		}
		sum, weight := 0.0, 0.0
		for _, p := range doc.Buckets {
			sum, weight = sum+p.Value*p.Weight, weight+p.Weight
		}
		if !cmp.Equal(sum/weight, want.whole, near) {
			t.Errorf("%s: %v in all, want %v", metric, sum/weight, want.whole)
		}
		if doc := read[struct{ Buckets []part }](b, path); doc.Buckets[0].Weight != 0 {
			t.Errorf("%s: weights that nobody asked for: %+v", metric, doc.Buckets)
		}
	}
}

// Quantiles are of the samples behind a metric in steps in which runs say them, of runs in all others, and the answer says which.
func TestQuantilesAreOfSamples(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	hour := time.Now().UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	var all []*measure.Result
	for i, rtts := range [][]float64{{0.010, 0.010, 0.030, 0.030, 0.090}, {0.020}, nil} {
		at := hour.Add(time.Duration(i) * time.Hour)
		r := resultOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at)
		r.Metrics = map[measure.Metric]float64{measure.RTTMedian: 0.040, measure.Jitter: 0.001}
		var sketch stat.Sketch
		for _, rtt := range rtts {
			sketch.Add(rtt)
		}
		if rtts != nil {
			r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: measure.NewDistribution(&sketch)}
		}
		all = append(all, r)
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	type part struct {
		Quantiles []float64
		Of        string `json:"quantiles_of"`
		Samples   int
	}
	for metric, want := range map[measure.Metric][]part{
		measure.RTTMedian: {{[]float64{0.010, 0.030, 0.090}, "samples", 5}, {[]float64{0.020, 0.020, 0.020}, "samples", 1},
			{[]float64{0.040, 0.040, 0.040}, "runs", 0}},
		measure.Jitter: {{[]float64{0.001, 0.001, 0.001}, "runs", 0}, {[]float64{0.001, 0.001, 0.001}, "runs", 0},
			{[]float64{0.001, 0.001, 0.001}, "runs", 0}},
	} {
		path := fmt.Sprintf("/api/v1/pairs/a/b/series?metric=%s&step=1h&quantiles=0,0.5,1&from=%s", metric, hour.Format(time.RFC3339))
		if diff := cmp.Diff(want, read[struct{ Buckets []part }](b, path).Buckets, cmpopts.EquateApprox(0.011, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", metric, diff)
		}
	}
}

// Runs whose packets were not counted weigh as much as the others do on average; where none were, runs are counted.
func TestWeightsWithoutCounts(t *testing.T) {
	at := time.Unix(0, 0)
	bucket := func(start time.Time, count uint64, mean float64) archive.Bucket {
		return archive.Bucket{Start: start, Merged: archive.Merged{Count: count, Mean: mean}}
	}
	for name, c := range map[string]struct {
		counted []archive.Bucket
		want    []float64
	}{
		"all":           {[]archive.Bucket{bucket(at, 2, 10), bucket(at.Add(1), 1, 40)}, []float64{20, 40}},
		"one of two":    {[]archive.Bucket{bucket(at, 1, 10), bucket(at.Add(1), 1, 30)}, []float64{30, 30}},
		"of one bucket": {[]archive.Bucket{bucket(at, 2, 10)}, []float64{20, 10}},
		"none":          {nil, []float64{2, 1}},
		"nothing sent":  {[]archive.Bucket{bucket(at, 2, 0)}, []float64{2, 1}},
		"more counted":  {[]archive.Bucket{bucket(at, 4, 10), bucket(at.Add(1), 1, 10)}, []float64{20, 10}},
	} {
		buckets := []bucketDoc{{Bucket: bucket(at, 2, 0), Weight: 2}, {Bucket: bucket(at.Add(1), 1, 0), Weight: 1}}
		weighByCounts(buckets, c.counted)
		if got := []float64{buckets[0].Weight, buckets[1].Weight}; !cmp.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
