package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// Tools that measured what a pair carries are compared, by the newest runs of the span, those of the way alone.
func TestCompared(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	now := time.Now()
	add := func(source, target, tool, kind string, ago time.Duration, seconds float64, metrics map[measure.Metric]float64) {
		r := resultOf(ulid.MustNew(ulid.Timestamp(now.Add(-ago)), ulid.DefaultEntropy()).String(), now.Add(-ago))
		r.Source.Name, r.Target.Name, r.Tool, r.Kind, r.Test, r.Metrics, r.DurationSeconds = source, target, tool, kind, tool+"@all", metrics, seconds
		if err := b.Archive.Put(t.Context(), []*measure.Result{r}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range comparedRuns + 5 { // of which the first five are not among the newest
		add("a", "b", "bulk", "throughput", time.Duration(i+1)*time.Minute, 10, map[measure.Metric]float64{measure.Throughput: 100e6 * float64(1+i/comparedRuns), measure.SentBytes: 125e6})
	}
	add("a", "b", "quick", "capacity", time.Hour, 1, map[measure.Metric]float64{measure.Capacity: 105e6})
	add("a", "b", "old", "fetch", 30*24*time.Hour, 1, map[measure.Metric]float64{measure.Throughput: 1e6})
	add("b", "a", "back", "fetch", time.Hour, 1, map[measure.Metric]float64{measure.Throughput: 7e6})
	cost, none, off := 125e6, 0., 0.05
	want := comparedDoc{[]analysis.Tool{
		{Tool: "bulk", Kind: "throughput", Metric: measure.Throughput, Runs: comparedRuns, Median: 100e6, Low: 100e6, High: 100e6, Deviation: &none, Reference: true, Seconds: 10, Bytes: &cost},
		{Tool: "quick", Kind: "capacity", Metric: measure.Capacity, Runs: 1, Median: 105e6, Low: 105e6, High: 105e6, Deviation: &off, Seconds: 1},
	}}
	if diff := cmp.Diff(want, read[comparedDoc](b, "/api/v1/pairs/a/b/tools"), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := read[comparedDoc](b, "/api/v1/pairs/a/b/tools?metric=capacity_bits_per_second&reference=quick&from=-2h"); len(got.Tools) != 1 || !got.Tools[0].Reference {
		t.Errorf("of one metric: %+v", got)
	}
	if got := read[comparedDoc](b, "/api/v1/pairs/a/nobody/tools"); got.Tools == nil || len(got.Tools) != 0 {
		t.Errorf("of nobody: %+v", got)
	}
	b.expect(http.MethodGet, "/api/v1/pairs/a/b/tools?from=never", "", http.StatusUnprocessableEntity, "never")
}
