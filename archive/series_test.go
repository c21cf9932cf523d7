package archive_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// history is Results over two days: three pairs, one a minute or so, some failed, some days late, in no order.
func history(seed uint64, n int) []*measure.Result {
	random := dice(seed)
	var all []*measure.Result
	for i := range n {
		at := now.Add(-time.Duration(random.Int64N(int64(30 * time.Hour))))
		target := []string{"b", "c", "d"}[i%3]
		r := ping("a", target, at, 0.04+random.ExpFloat64()/100)
		switch {
		case i%50 == 0:
			r = failed("a", target, at)
		case i%7 == 0:
			r.Test = "" // on demand
			r.Metrics[measure.Jitter] = -random.Float64()
		}
		all = append(all, r)
	}
	return all
}

// valuesOf are the points that Results should have given.
func valuesOf(results []*measure.Result, choose func(*measure.Result) bool, metric measure.Metric) []archive.Point {
	var points []archive.Point
	for _, r := range results {
		if v, ok := r.Get(metric); ok && choose(r) {
			points = append(points, archive.Point{Time: r.Started, Value: v})
		}
	}
	slices.SortStableFunc(points, func(a, b archive.Point) int { return a.Time.Compare(b.Time) })
	return points
}

// seriesOf is what a query for all of [from, to) at a step should give.
func seriesOf(points []archive.Point, from, to time.Time, step time.Duration, quantiles []float64) []archive.Bucket {
	sketches := map[time.Time]*stat.Sketch{}
	for _, p := range points {
		start := from
		if step > 0 {
			start = p.Time.Truncate(step)
			if p.Time.Before(from.Truncate(step)) || !p.Time.Before(to.Add(step-1).Truncate(step)) {
				continue
			}
		} else if p.Time.Before(from) || !p.Time.Before(to) {
			continue
		}
		if sketches[start] == nil {
			sketches[start] = new(stat.Sketch)
		}
		sketches[start].Add(p.Value)
	}
	buckets := []archive.Bucket{}
	for start, s := range sketches {
		b := archive.Bucket{Start: start, Merged: archive.Merged{Value: s.Quantile(0.5), Count: s.Count(), Min: s.Min(), Mean: s.Mean(),
			Max: s.Max()}}
		for _, q := range quantiles {
			b.Quantiles = append(b.Quantiles, s.Quantile(q))
		}
		buckets = append(buckets, b)
	}
	slices.SortFunc(buckets, func(a, b archive.Bucket) int { return a.Start.Compare(b.Start) })
	return buckets
}

// sums differ by rounding when they are added in another order.
var rounding = cmpopts.EquateApprox(1e-12, 0)

// checkSeries holds what an archive answers against the Results that were put, at every level and between them.
func checkSeries(t *testing.T, a archive.Archive, results []*measure.Result) {
	t.Helper()
	quantiles := []float64{0, 0.5, 0.95, 1}
	from, to := now.Add(-31*time.Hour), now.Add(time.Hour)
	toC := func(r *measure.Result) bool { return r.Target.Name == "c" }
	for _, metric := range []measure.Metric{measure.RTTMean, measure.Jitter, measure.LossRatio} {
		points := valuesOf(results, toC, metric)
		for i, c := range []struct {
			from, to           time.Time
			asked, step, level time.Duration
		}{
			{from, to, 0, 0, 0}, // of one bucket the levels are tried in TestPieces
			{now.Add(-5 * time.Hour), now, 30 * time.Second, 30 * time.Second, 0},
			{from, to, time.Minute, time.Minute, time.Minute},
			{from, to, 100 * time.Second, 2 * time.Minute, time.Minute},
			{from, to, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute},
			{from, to, time.Hour, time.Hour, time.Hour},
			{from, to, 7*time.Hour + 1, 8 * time.Hour, time.Hour},
			{from, to, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour},
			{now.Add(-17*time.Hour - 1), now.Add(-time.Hour), 0, 0, 0},
			{now.Add(-17 * time.Hour), now.Add(-2 * time.Hour), time.Hour, time.Hour, time.Hour},
		} {
			if metric != measure.RTTMean && i%2 > 0 { // of the others one of each level
				continue
			}
			got, err := a.Series(t.Context(), archive.SeriesQuery{Match: archive.Match{Source: "a", Target: "c",
				Metric: string(metric)},
				From: c.from, To: c.to, Step: c.asked, Quantiles: quantiles})
			if err != nil {
				t.Fatal(err)
			}
			if c.asked == 0 {
				c.level = got.Level
			}
			want := &archive.Series{Step: c.step, Level: c.level, Buckets: seriesOf(points, c.from, c.to, c.step, quantiles)}
			if diff := cmp.Diff(want, got, rounding); diff != "" {
				t.Errorf("%s from %v by %v (-want +got):\n%s", metric, c.from, c.asked, diff)
			}
		}
	}
}

// checkPoints holds every series' points against the Results that were put.
func checkPoints(t *testing.T, a archive.Archive, results []*measure.Result) {
	t.Helper()
	keys, err := a.Keys(t.Context(), archive.Match{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, key := range keys {
		want := valuesOf(results, func(r *measure.Result) bool {
			return r.Source.Name == key.Source && r.Target.Name == key.Target && r.Test == key.Test && r.Tool == key.Tool
		}, key.Metric)
		var got []archive.Point
		for p, err := range a.Points(t.Context(), key, time.Time{}, time.Time{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p)
		}
		seen += len(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: points (-want +got):\n%s", key, diff)
		}
	}
	want := 0
	for _, r := range results {
		want += len(r.Metrics)
	}
	if seen != want {
		t.Errorf("%d points in all series, want %d", seen, want)
	}
}

// Series and points must be those of what was put, in whichever order it came and wherever it is: in memory, half
// moved, moved in many generations, read again after a restart.
func TestSeries(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		results := history(1, 200)
		small := func(o *archive.Options) { o.MoveValues = 300 }
		a := open(t, url, small)
		put(t, a, results[:100]...)
		checkSeries(t, a, results[:100])
		for some := range slices.Chunk(results[100:], 60) {
			put(t, a, some...)
		}
		checkSeries(t, a, results)
		checkPoints(t, a, results)
		closeIt(t, a)
		a = open(t, url, small)
		checkSeries(t, a, results)
		checkPoints(t, a, results)
	})
}

func TestSeriesRefuses(t *testing.T) {
	a := open(t, t.TempDir()+"/archive.db")
	for _, q := range []archive.SeriesQuery{
		{To: now},
		{From: now, To: now},
		{From: now.Add(-time.Hour), To: now, Step: -1},
		{From: now.Add(-24 * 365 * time.Hour), To: now, Step: time.Second},
		{From: now.Add(-time.Hour), To: now, Quantiles: []float64{95}},
		{From: now.Add(-time.Hour), To: now, Quantiles: []float64{math.NaN()}},
		{From: now.Add(-time.Hour), To: now, Match: archive.Match{Source: "["}},
	} {
		_, err := a.Series(t.Context(), q)
		if bad, ok := err.(interface{ BadInput() bool }); !ok || !bad.BadInput() {
			t.Errorf("%+v: error %v, which is not the caller's", q, err)
		}
	}
}

func TestListsOfSeries(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		late := ping("a", "b", now.Add(-time.Hour), 0.3)
		late.Metrics[measure.Jitter] = 7
		trace := ping("a", "b", now.Add(-time.Minute), 0)
		trace.Kind, trace.Tool, trace.Test, trace.Metrics = "trace", "", "", map[measure.Metric]float64{measure.HopCount: 5}
		put(t, a, ping("b", "a", now, 0.1), ping("a", "b", now, 0.2), trace, failed("a", "b", now.Add(time.Second)))
		put(t, a, late)
		pairs, err := a.Pairs(t.Context())
		if diff := cmp.Diff([]archive.Pair{{Source: "a", Target: "b"}, {Source: "b", Target: "a"}}, pairs); diff != "" ||
			err != nil {
			t.Errorf("error %v; pairs (-want +got):\n%s", err, diff)
		}
		want := []string{"a b rtt of all rtt jitter_seconds 11:00:00 7", "a b rtt of all rtt loss_ratio 12:00:00 0",
			"a b rtt of all rtt rtt_mean_seconds 12:00:00 0.2", "a b rtt of all rtt rtt_min_seconds 12:00:00 0.18",
			"a b rtt of all rtt sent_packets 12:00:00 10", "a b  trace hop_count 11:59:00 5"}
		for range 2 {
			latest, err := a.Latest(t.Context(), archive.Match{Source: "a"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range latest {
				got = append(got, fmt.Sprintf("%s %s %s %s %s %s %.4g", l.Source, l.Target, l.Test, l.Tool, l.Metric,
					l.Time.Format(time.TimeOnly), l.Value))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("latest (-want +got):\n%s", diff)
			}
			closeIt(t, a)
			a = open(t, url)
		}
	})
}
