package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// What scripts read of owping they find: each way, with the phrase that perfSONAR's test runner looks for.
func TestOwpingText(t *testing.T) {
	r := measure.NewResult("owd", time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC))
	r.ID = "01J00000000000000000000000"
	r.Source.Address, r.Target.Address = "10.0.0.1", "10.0.0.2"
	r.Parameters["port"] = 862.
	r.Samples.Echoes = []measure.Echo{{}, {Seq: 1, SentSeconds: 0.9}}
	for way, median := range map[string]float64{measure.Forward: 0.0205, measure.Reverse: 0.01} {
		r.Metrics[measure.SentOn(way)], r.Metrics[measure.LostOn(way)] = 10, 0
		r.Metrics[measure.OneWay(way, "min")], r.Metrics[measure.OneWay(way, "median")], r.Metrics[measure.OneWay(way, "max")] = 0.01, median, 0.0312
		r.Metrics[measure.OneWaySpread(way)] = 0.001
	}
	r.Metrics[measure.OneWayError], r.Metrics[measure.HopCount] = 0.0005, 4
	r.Metrics[measure.ReorderedOn(measure.Reverse)], r.Metrics[measure.DegreeOn(measure.Reverse)] = 2, 3
	var b strings.Builder
	owpingText(&b, r)
	want := `
--- owping statistics from [10.0.0.1:0] to [10.0.0.2:862] ---
SID:	01900000000000000000000000000000
first:	2026-11-24T03:00:00.000
last:	2026-11-24T03:00:00.900
10 sent, 0 lost (0.000%), 0 duplicates
one-way delay min/median/max = 10/20.5/31.2 ms, (err=0.5 ms)
one-way jitter = 1 ms (P95-P50)
hops = 3 (consistently)
no reordering

--- owping statistics from [10.0.0.2:862] to [10.0.0.1:0] ---
SID:	01900000000000000000000000000000
first:	2026-11-24T03:00:00.000
last:	2026-11-24T03:00:00.900
10 sent, 0 lost (0.000%), 0 duplicates
one-way delay min/median/max = 10/10/31.2 ms, (err=0.5 ms)
one-way jitter = 1 ms (P95-P50)
TTL not reported
20.000000% reordered, 3-reordering at most
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
