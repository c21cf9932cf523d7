package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// What a member of a group received of another one is a series of that pair like any other: in graphs, in the matrix, and among the Results of both.
func TestPairsOfAGroup(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	at := time.Now().UTC().Add(-time.Minute)
	whole := measure.NewResult("beacon", at)
	whole.Test, whole.Tool, whole.Role = "tv@studio", "tv", measure.RolePlanned
	whole.Source, whole.Target = measure.Endpoint{Name: "b"}, measure.Endpoint{Name: "b"}
	pair := whole.PairResult(&measure.MemberPair{Final: true, Sent: 100, Received: 75, DelayMedianSeconds: new(0.013)}, measure.Endpoint{Name: "a"})
	if err := b.Archive.Put(t.Context(), []*measure.Result{whole, pair}); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Loss, Delay float64
		Cells       int
		Results     []string
	}
	last := func(metric string) float64 {
		series := read[struct{ Buckets []struct{ Value *float64 } }](b, "/api/v1/pairs/a/b/series?from="+at.Add(-time.Hour).Format(time.RFC3339)+"&tool=tv&metric="+metric)
		for _, bucket := range series.Buckets {
			if bucket.Value != nil {
				return *bucket.Value
			}
		}
		return -1
	}
	got := answer{Loss: last("loss_ratio"), Delay: last("owd_forward_median_seconds")}
	for _, n := range read[struct{ Counts []int }](b, "/api/v1/matrix?metric=loss_ratio&tool=tv&span=1h").Counts {
		got.Cells += n
	}
	for _, r := range read[struct{ Results []measure.Result }](b, "/api/v1/results?source=a&target=b").Results {
		got.Results = append(got.Results, r.ID)
	}
	if diff := cmp.Diff(answer{0.25, 0.013, 1, []string{pair.ID}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
