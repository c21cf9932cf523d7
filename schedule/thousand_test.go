package schedule

import (
	"encoding/json"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestThousand plans, verifies and sums up a cycle of 999,000 pairs, and fits runs on demand into it. Run it with -v to
// see the figures. Limits are far above what it takes, for slow and busy machines.
func TestThousand(t *testing.T) {
	n := 1000
	if raced {
		n = 200
	}
	m := thousand(n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	p := plan(t, m, 1)
	s := p.Summarize(midnight, midnight.Add(12*time.Hour))
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	megabytes := (after.TotalAlloc - before.TotalAlloc) >> 20
	t.Logf("%d exclusive runs planned and verified in %v; %d MB allocated in all", s.ExclusiveRuns, took, megabytes)
	if s.ExclusiveRuns != n*(n-1) || s.Conflicts != 0 || s.Unplaced != 0 || s.CycleSeconds > 1.01*s.LowerBoundSeconds {
		t.Errorf("runs %d, conflicts %d, unplaced %d, cycle %g s, bound %g s", s.ExclusiveRuns, s.Conflicts, s.Unplaced,
			s.CycleSeconds, s.LowerBoundSeconds)
	}
	if took > time.Minute || megabytes > 500 {
		t.Errorf("took %v and %d MB", took, megabytes)
	}
	var times []time.Duration
	for i := range 100 {
		start := time.Now()
		_, err := p.Fit(midnight.Add(time.Duration(i)*time.Minute), Pair{int32(i), int32(n - 1 - i)}, tenSeconds, 2*time.Hour)
		if times = append(times, time.Since(start)); err != nil {
			t.Error(err)
		}
	}
	median, slowest := slices.Sorted(slices.Values(times))[len(times)/2], slices.Max(times)
	t.Logf("a run on demand is placed in %v, the first one in %v", median, slowest)
	if median > 50*time.Millisecond {
		t.Errorf("a run on demand is placed in %v", median)
	}
}

// TestSummaryLayout holds the JSON of a plan against the names that others rely on.
func TestSummaryLayout(t *testing.T) {
	m := Mesh{Interfaces: hosts(3), Sites: []Site{{Name: "s", BytesPerDay: 1e15}},
		Tests: []Test{bulk("b", full(0, 3), 10, time.Hour), lightTest("l", full(0, 3), 1, time.Minute)}}
	m.Interfaces[0].Site = "s"
	data, err := json.Marshal(plan(t, m, 1).Summarize(midnight, midnight.Add(2*time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	load, _ := got["load"].(map[string]any)
	sites, _ := load["sites"].([]any)
	delete(got, "load")
	want := map[string]any{
		"schema": "pathwise.plan/1", "from": "2026-11-21T00:00:00Z", "until": "2026-11-21T02:00:00Z",
		"hosts": 3.0, "runs": 732.0, "exclusive_runs": 12.0, "cycle_seconds": 66.0, "lower_bound_seconds": 66.0,
		"planning_seconds": 0.0, "conflicts": 0.0, "unplaced": 0.0, "findings": []any{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	wantSite := []any{map[string]any{"name": "s", "runs_per_day": 96.0 + 5760, "bytes_per_day": 96e9 + 5760e3,
		"budget_bytes_per_day": 1e15, "exclusive_ratio": 96.0 * 11 / 86400}}
	if diff := cmp.Diff(wantSite, sites); diff != "" {
		t.Errorf("load of the site (-want +got):\n%s", diff)
	}
}
