package archive_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// Gaps tell apart what was planned and missed, what failed, and what was not planned: one letter is one minute.
func TestGaps(t *testing.T) {
	const planned = "vvvvmmmfvv..............vvmvvmv.m....................vv"
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url, func(o *archive.Options) { o.MoveValues = 20 })
		start := now.Add(-2 * time.Hour)
		at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
		for i, what := range planned {
			r := ping("a", "b", at(i), 1)
			switch what {
			case 'v':
				put(t, a, r)
			case 'f':
				put(t, a, failed("a", "b", at(i)))
			case 'm':
				if err := a.PutMisses(t.Context(), []measure.Miss{miss(r, "away at "+r.Started.Format("15:04"))}); err != nil {
					t.Fatal(err)
				}
			}
		}
		trace := ping("a", "b", at(20), 1) // of another tool: it says nothing of the delay
		trace.Tool, trace.Metrics = "route", map[measure.Metric]float64{measure.HopCount: 3}
		put(t, a, trace)
		got, err := a.Gaps(t.Context(), archive.GapQuery{Match: archive.Match{Source: "a", Target: "b",
			Metric: "rtt_mean_seconds"},
			From: start, To: at(len(planned)), Longest: 3 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		want := []archive.Gap{
			{From: at(3), To: at(7), Kind: archive.GapMissed, Runs: 3, Why: "away at 10:06"},
			{From: at(7), To: at(8), Kind: archive.GapFailed, Runs: 1},
			{From: at(9), To: at(24), Kind: archive.GapUnplanned},
			{From: at(25), To: at(27), Kind: archive.GapMissed, Runs: 1, Why: "away at 10:26"},
			{From: at(28), To: at(30), Kind: archive.GapMissed, Runs: 1, Why: "away at 10:29"},
			{From: at(30), To: at(35), Kind: archive.GapMissed, Runs: 1, Why: "away at 10:32"},
			{From: at(35), To: at(53), Kind: archive.GapUnplanned},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("gaps in %s (-want +got):\n%s", planned, diff)
		}
		// Told nothing of the schedule, it takes ten times the usual distance for long.
		got, err = a.Gaps(t.Context(), archive.GapQuery{Match: archive.Match{Metric: "rtt_mean_seconds"},
			To: at(len(planned))})
		if err != nil {
			t.Fatal(err)
		}
		if last := got[len(got)-1]; last.Kind != archive.GapUnplanned || !last.To.Equal(at(53)) || len(got) != 7 {
			t.Errorf("with nothing said: %+v", got)
		}
	})
}
