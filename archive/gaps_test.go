package archive_test

import (
	"fmt"
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

// Where points are pruned the rollups of hours still tell when there were values, and misses when there should have been.
func TestGapsOlderThanPoints(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url, func(o *archive.Options) { o.Retention = []archive.Rule{{Points: 10 * time.Hour}} })
		start := now.Add(-30 * time.Hour)
		for hour := range 30 {
			at := start.Add(time.Duration(hour) * time.Hour)
			put(t, a, ping("a", "b", at.Add(20*time.Minute), 1))
			if hour != 11 {
				put(t, a, ping("a", "c", at.Add(20*time.Minute), 1))
			} else if err := a.PutMisses(t.Context(), []measure.Miss{miss(ping("a", "c", at, 1), "away")}); err != nil {
				t.Fatal(err)
			}
			if hour != 3 && hour != 4 {
				put(t, a, ping("a", "d", at.Add(20*time.Minute), 1))
			}
		}
		amid := miss(ping("a", "b", start.Add(15*time.Hour+5*time.Minute), 1), "in an hour with a value")
		if err := a.PutMisses(t.Context(), []measure.Miss{amid}); err != nil {
			t.Fatal(err)
		}
		want := map[string][]archive.Gap{"b": {},
			"c": {{From: start.Add(11 * time.Hour), To: start.Add(12 * time.Hour), Kind: archive.GapMissed, Runs: 1, Why: "away"}},
			"d": {{From: start.Add(3 * time.Hour), To: start.Add(5 * time.Hour), Kind: archive.GapUnplanned}}}
		check := func() {
			t.Helper()
			for target, want := range want {
				got, err := a.Gaps(t.Context(), archive.GapQuery{Match: archive.Match{Target: target, Metric: "rtt_mean_seconds"},
					From: start, To: now, Longest: 100 * time.Minute})
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("gaps to %s: error %v (-want +got):\n%s", target, err, diff)
				}
			}
		}
		check()
		if _, err := a.Prune(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		check()
	})
}

// Told that short gaps are not worth telling, an archive reads less, and finds the others as ever: of pairs measured
// often and seldom, regularly and not, with quiet times, runs that fail, without the metric, missed, late, and replaced.
func TestGapsWorthTelling(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		small := func(o *archive.Options) {
			o.MoveValues = 2500
			o.Retention = []archive.Rule{{Points: 6 * oneDay}}
		}
		a := open(t, url, small)
		start, random := now.Add(-8*oneDay), dice(8)
		var all, late []*measure.Result
		var misses []measure.Miss
		target := func(i int) string { return fmt.Sprintf("t%d", i) }
		const pairs = 9
		for i := range pairs {
			every := []time.Duration{30 * time.Minute, time.Hour, 4 * time.Hour}[i%3]
			trouble := []float64{0, 0.1, 0.6}[i/3%3]
			for at := start; at.Before(now); {
				r := ping("a", target(i), at, 1)
				switch kind := random.Float64(); {
				case kind > trouble:
				case kind < trouble/4:
					r = failed("a", target(i), at)
				case kind < trouble/2:
					delete(r.Metrics, measure.RTTMean)
				default:
					misses = append(misses, miss(r, at.String()))
					r = nil
				}
				switch {
				case r == nil:
				case random.IntN(30) == 0:
					late = append(late, r)
				default:
					all = append(all, r)
				}
				step := every
				if i%2 == 0 {
					step = time.Duration(random.ExpFloat64() * float64(every))
				}
				if random.IntN(100) == 0 {
					step += time.Duration(random.ExpFloat64() * float64(20*every))
				}
				at = at.Add(step + 1)
			}
		}
		put(t, a, all...)
		put(t, a, late...)
		if err := a.PutMisses(t.Context(), misses); err != nil {
			t.Fatal(err)
		}
		for _, r := range late[:3] {
			replaced := *r
			replaced.Metrics = map[measure.Metric]float64{measure.LossRatio: 1}
			if err := a.Update(t.Context(), []*measure.Result{&replaced}); err != nil {
				t.Fatal(err)
			}
		}
		closeIt(t, a)
		a = open(t, url, small)
		for i := range pairs { // some more, which stays in memory
			put(t, a, ping("a", target(i), now.Add(-time.Hour), 1), failed("a", target(i), now.Add(-50*time.Hour)))
		}
		gaps, told := 0, 0
		for i := range pairs {
			for _, longest := range []time.Duration{0, 7 * time.Hour} {
				q := archive.GapQuery{Match: archive.Match{Target: target(i), Metric: "rtt_mean_seconds"},
					From: start.Add(time.Duration(random.Int64N(int64(3 * oneDay)))),
					To:   now.Add(-time.Duration(random.Int64N(int64(oneDay)))), Longest: longest}
				every, err := a.Gaps(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, q.Least = range []time.Duration{3 * time.Hour, 11*time.Hour + 1, 3 * oneDay} {
					want := []archive.Gap{}
					for _, g := range every {
						if g.To.Sub(g.From) >= q.Least {
							want = append(want, g)
						}
					}
					got, err := a.Gaps(t.Context(), q)
					if diff := cmp.Diff(want, got); diff != "" || err != nil {
						t.Errorf("gaps to %s of %v or more: error %v (-want +got):\n%s", q.Match.Target, q.Least, err, diff)
					}
					told += len(want)
				}
				gaps += len(every)
			}
		}
		if gaps < 300 || told < 80 {
			t.Errorf("%d gaps, %d told of the long ones: of these one learns little", gaps, told)
		}
	})
}
