package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// Since when a pair is beyond a limit is told to five minutes: over times without a value, not over one within the limit.
func TestSince(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	now := time.Now().UTC().Truncate(sinceStep)
	var all []*measure.Result
	add := func(source, target string, metric measure.Metric, role measure.Role, v float64, ages ...time.Duration) {
		for _, ago := range ages {
			at := now.Add(-ago + time.Minute)
			r := resultOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at)
			r.Source.Name, r.Target.Name, r.Role, r.Metrics = source, target, role, map[measure.Metric]float64{metric: v}
			all = append(all, r)
		}
	}
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	rtt, rate := measure.RTTMedian, measure.Throughput
	// Slow since two hours ago, with a gap; what somebody asked for besides is not of it.
	add("a", "b", rtt, measure.RolePlanned, 0.01, 3*hour, 2*hour+5*minute)
	add("a", "b", rtt, measure.RolePlanned, 0.30, 2*hour, 110*minute, 20*minute, 5*minute)
	add("a", "b", rtt, measure.RoleDemand, 0.01, 10*minute)
	// Slow, and good again.
	add("b", "a", rtt, measure.RolePlanned, 0.30, 2*hour, 30*minute)
	add("b", "a", rtt, measure.RolePlanned, 0.01, 5*minute)
	// Slow since three days ago; and for as long as anybody looks.
	add("gone", "a", rtt, measure.RolePlanned, 0.01, 73*hour)
	add("gone", "a", rtt, measure.RolePlanned, 0.30, 72*hour, 30*hour, hour)
	add("gone", "b", rtt, measure.RolePlanned, 0.30, 9*day, 6*day, 3*hour)
	// A rate that fell.
	add("a", "b", rate, measure.RolePlanned, 9e8, 5*hour)
	add("a", "b", rate, measure.RolePlanned, 1e6, 4*hour, 10*minute)
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	type pair struct {
		Source, Target string
		Since          *time.Time
		Longer         bool
	}
	ago := func(d time.Duration) *time.Time { at := now.Add(-d); return &at }
	for query, want := range map[string][]pair{
		"metric=rtt_median_seconds&beyond=above&limits=0.1&pairs=a/b,b/a,gone/a,gone/b,b/gone": {{"a", "b", ago(2 * hour), false}, {"b", "a", nil, false},
			{"gone", "a", ago(72 * hour), false}, {"gone", "b", ago(6 * day), true}, {"b", "gone", nil, false}},
		"metric=rtt_median_seconds&beyond=above&limits=0.1,0.005&pairs=a/b,b/a":                                 {{"a", "b", ago(2 * hour), false}, {"b", "a", ago(2 * hour), true}},
		"metric=rtt_median_seconds&beyond=above&limits=0.1&pairs=b/a&at=" + ago(20*minute).Format(time.RFC3339): {{"b", "a", ago(2 * hour), true}},
		"metric=rtt_median_seconds&beyond=above&limits=0.1&pairs=a/b&role=demand":                               {{"a", "b", nil, false}},
		"metric=rtt_median_seconds&beyond=above&limits=0.1&pairs=a/b&tool=other":                                {{"a", "b", nil, false}},
		"metric=throughput_bits_per_second&beyond=below&limits=1e8&pairs=a/b":                                   {{"a", "b", ago(4 * hour), false}},
		"metric=throughput_bits_per_second&beyond=above&limits=1e8&pairs=a/b":                                   {{"a", "b", nil, false}},
	} {
		if diff := cmp.Diff(want, read[struct{ Since []pair }](b, "/api/v1/since?"+query).Since); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	const right = "metric=rtt_median_seconds&beyond=above&limits=0.1&pairs=a/b"
	for bad, says := range map[string]string{"metric=x&beyond=above&limits=1,2&pairs=a/b": "limits", right + ",c": "SOURCE/TARGET", right + ",a/b/c": "SOURCE/TARGET", right + ",/b": "SOURCE/TARGET",
		"metric=x&beyond=above&limits=0.1": "pairs", "metric=x&beyond=up&limits=0.1&pairs=a/b": "beyond", "metric=x&beyond=above&limits=NaN&pairs=a/b": "NaN", "beyond=above&limits=1&pairs=a/b": "metric"} {
		b.expect(http.MethodGet, "/api/v1/since?"+bad, "", http.StatusUnprocessableEntity, says)
	}
}
