package archive_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// Whatever Result is filed, of each way and role, whole or failed: its series are those of its parts, as is what a replaced one
// says, and nothing else is there.
func TestFiledByWayAndRole(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		ways := []measure.Way{"", measure.Forward, measure.Reverse, measure.Both}
		roles := []measure.Role{"", measure.RolePlanned, measure.RoleDemand, measure.DiagnosisRole("01J00000000000000000000000", "paced")}
		var all []*measure.Result
		add := func(way measure.Way, role measure.Role, metrics map[measure.Metric]float64) {
			r := ping("a", "b", now.Add(-time.Duration(len(all)+1)*time.Second), 1)
			r.Tool, r.Way, r.Role, r.Metrics = fmt.Sprintf("tool%d", len(all)%3), way, role, metrics
			if r.Test = ""; role == measure.RolePlanned {
				r.Test = "t"
			}
			if len(metrics) == 0 {
				r.Fail(errors.New("no route"))
			}
			all = append(all, r)
		}
		for _, way := range ways {
			for i, role := range roles {
				v := float64(len(all) + 1)
				add(way, role, map[measure.Metric]float64{measure.Throughput: v, measure.ReverseThroughput: v + 0.5, measure.RTTMin: v / 1000,
					measure.LossRatio: 0.1, measure.Jitter: v / 100, measure.Retransmits: v})
				add(way, role, map[measure.Metric]float64{measure.Throughput: v + 0.25})
				if i == 1 {
					add(way, role, nil)
				}
			}
		}
		put(t, a, all...)
		expectParts(t, a, all)
		for _, r := range all { // of a better reading of what programs printed
			if len(r.Metrics) > 0 {
				r.Metrics = map[measure.Metric]float64{measure.Throughput: 7, measure.ReverseThroughput: 8, measure.Capacity: 9}
			}
		}
		if err := a.Update(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		expectParts(t, a, all)
		closeIt(t, a)
		expectParts(t, open(t, url), all)
	})
}

// expectParts checks that an archive has the points of all parts of these Results, and lists each where its data went.
func expectParts(t *testing.T, a archive.Archive, all []*measure.Result) {
	t.Helper()
	want, got := map[archive.Key]map[time.Time]float64{}, map[archive.Key]map[time.Time]float64{}
	listed, list := map[[3]string]int{}, map[[3]string]int{}
	for _, r := range all {
		role := r.Role
		if role == "" {
			role = measure.RoleDemand
		}
		for i, p := range r.Parts() {
			if i == 0 {
				listed[[3]string{p.Source.Name, p.Target.Name, string(role.Series())}]++
			}
			for m, v := range p.Metrics {
				key := archive.Key{Source: p.Source.Name, Target: p.Target.Name, Test: r.Test, Tool: r.Tool, Role: role.Series(), Metric: m}
				if want[key] == nil {
					want[key] = map[time.Time]float64{}
				}
				want[key][r.Started] = v
			}
		}
	}
	keys, err := a.Keys(t.Context(), archive.Match{})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		for p, err := range a.Points(t.Context(), k, time.Time{}, time.Time{}) {
			if err != nil {
				t.Fatal(err)
			}
			if got[k] == nil {
				got[k] = map[time.Time]float64{}
			}
			got[k][p.Time] = p.Value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	for at := range listed {
		page, err := a.Results(t.Context(), archive.ResultQuery{Source: at[0], Target: at[1], Role: at[2]})
		if err != nil {
			t.Fatal(err)
		}
		list[at] = len(page.Results)
	}
	if diff := cmp.Diff(listed, list); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
}

// A gap is one of what measures the metric: another tool's failures and misses are none, those of a tool that measures it
// elsewhere, or nothing anywhere, are; of data that goes back, they are gaps of the way back.
func TestGapsOfTools(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		start := now.Add(-time.Hour)
		add := func(target, tool string, way measure.Way, role measure.Role, metrics map[measure.Metric]float64) {
			r := ping("a", target, start.Add(30*time.Minute), 1)
			r.Tool, r.Way, r.Role, r.Metrics = tool, way, role, metrics
			if role != "" {
				r.Test = ""
			}
			if len(metrics) == 0 {
				r.Fail(errors.New("no route"))
			}
			put(t, a, r)
		}
		rtt, hops := map[measure.Metric]float64{measure.RTTMean: 1}, map[measure.Metric]float64{measure.HopCount: 4}
		rate, lost := map[measure.Metric]float64{measure.Throughput: 1}, map[measure.Metric]float64{measure.LossRatio: 1}
		add("x", "rtt", "", "", rtt)
		add("x", "route", "", "", hops)
		add("x", "pull", measure.Reverse, "", rate)
		add("x", "duplex", measure.Both, "", rate)
		add("other", "route", "", "", nil)
		add("failed", "rtt", "", "", nil)
		add("lost", "rtt", "", "", lost)
		add("never", "new", "", "", nil)
		add("once", "rtt", "", measure.RoleDemand, nil)
		add("pulled", "pull", measure.Reverse, "", nil)
		add("duplex", "duplex", measure.Both, "", nil)
		for target, tool := range map[string]string{"away": "rtt", "routed": "route", "back": "pull"} {
			m := miss(ping("a", target, start.Add(30*time.Minute), 1), "away")
			if m.Tool = tool; tool == "pull" {
				m.Way = measure.Reverse
			}
			if err := a.PutMisses(t.Context(), []measure.Miss{m}); err != nil {
				t.Fatal(err)
			}
		}
		for pair, want := range map[[2]string]archive.GapKind{
			{"a", "other"}: "", {"a", "failed"}: archive.GapFailed, {"a", "lost"}: archive.GapFailed, {"a", "never"}: archive.GapFailed,
			{"a", "once"}: "", {"a", "away"}: archive.GapMissed, {"a", "routed"}: "", {"a", "x"}: "",
		} {
			expectGap(t, a, pair, measure.RTTMean, want)
		}
		for pair, want := range map[[2]string]archive.GapKind{
			{"pulled", "a"}: archive.GapFailed, {"a", "pulled"}: "", {"duplex", "a"}: archive.GapFailed, {"a", "duplex"}: archive.GapFailed,
			{"back", "a"}: archive.GapMissed, {"a", "back"}: "", {"a", "x"}: "", {"a", "failed"}: "",
		} {
			expectGap(t, a, pair, measure.Throughput, want)
		}
	})
}

// expectGap checks that planned runs of a pair have left gaps of one kind, besides times in which nothing was planned.
func expectGap(t *testing.T, a archive.Archive, pair [2]string, metric measure.Metric, want archive.GapKind) {
	t.Helper()
	match := archive.Match{Source: pair[0], Target: pair[1], Role: string(measure.RolePlanned), Metric: string(metric)}
	gaps, err := a.Gaps(t.Context(), archive.GapQuery{Match: match, From: now.Add(-time.Hour), To: now, Longest: 40 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var got archive.GapKind
	for _, g := range gaps {
		if g.Kind != archive.GapUnplanned {
			got = g.Kind
		}
	}
	if got != want {
		t.Errorf("%s of %v: %+v, want a gap %q", metric, pair, gaps, want)
	}
}
