package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// Results of programs are read again by the rules of the mesh file; others, and those without an output, stay as they are.
func TestReparse(t *testing.T) {
	b := newBenchOf(t, `
hosts: {a: {address: 192.0.2.1}, b: {address: 192.0.2.2}}
tools: {bbcp: {command: "bbcp {target}", timeout: 1m, parse: {throughput_bits_per_second: {key: rate}, rtt_min_seconds: {key: rtt}}}}
groups: {all: {mesh: all}}
tests: [{tool: bbcp, group: all, schedule: {every: 1h}}]
`)
	at := time.Now().Add(-time.Hour)
	missed := "read what the program printed: rtt_min_seconds: key \"round trip\" matches nothing"
	filed := func(id, kind, tool string, status measure.Status, failure *string, output *measure.Output) *measure.Result {
		r := resultOf(id, at)
		r.Kind, r.Tool, r.Test, r.Status, r.Error = kind, tool, tool+"@all", status, failure
		r.Metrics = map[measure.Metric]float64{measure.Throughput: 1e6}
		r.Samples = measure.Samples{Output: output}
		return r
	}
	output := &measure.Output{Stdout: "rate: 5 Mbit/s\nrtt: 3 ms\n"}
	results := []*measure.Result{
		filed("01KAG0000000000000000000BA", "command", "bbcp", measure.StatusPartial, &missed, output),
		filed("01KAG0000000000000000000BB", "command", "bbcp", measure.StatusOK, nil, nil),
		filed("01KAG0000000000000000000BC", "command", "gone", measure.StatusOK, nil, output),
		filed("01KAG0000000000000000000BD", "throughput", "bulk", measure.StatusOK, nil, nil),
	}
	if err := b.Archive.Put(t.Context(), results); err != nil {
		t.Fatal(err)
	}
	b.serve(b.Handler(owner))
	b.expect(http.MethodPost, "/api/v1/reparse", `{"tool": "bb*"}`, http.StatusOK, `"read_count":1,"changed_count":1,"left_count":1`)
	b.expect(http.MethodPost, "/api/v1/reparse", `{}`, http.StatusOK, `"read_count":1,"changed_count":0,"left_count":2`)
	for i, want := range []map[measure.Metric]float64{
		{measure.Throughput: 5e6, measure.RTTMin: 0.003}, {measure.Throughput: 1e6}, {measure.Throughput: 1e6}, {measure.Throughput: 1e6},
	} {
		r, err := b.Archive.Result(t.Context(), results[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Metrics); diff != "" || r.Status != measure.StatusOK || r.Error != nil {
			t.Errorf("%s is %s, %v (-want +got):\n%s", r.ID, r.Status, r.Error, diff)
		}
	}
}
