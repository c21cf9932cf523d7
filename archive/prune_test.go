package archive_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

const oneDay = 24 * time.Hour

// longHistory is Results over months: one every half day or so, of two tools.
func longHistory() []*measure.Result {
	var all []*measure.Result
	random := dice(5)
	for at := now.Add(-50 * oneDay); at.Before(now); at = at.Add(time.Duration(random.Int64N(int64(24 * time.Hour)))) {
		r := ping("a", "b", at, 0.04+random.Float64()/100)
		if len(all)%3 == 0 {
			r.Kind, r.Tool = "throughput", "bulk"
			r.Metrics = map[measure.Metric]float64{measure.Throughput: 1e9 * random.Float64(), measure.Retransmits: 3}
		}
		r.Samples.Echoes = []measure.Echo{{Seq: 1}}
		all = append(all, r)
	}
	return all
}

// Each rule deletes what it says and nothing else; what has been deleted does not come back.
func TestPrune(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		rules := func(o *archive.Options) {
			o.MoveValues = 60
			o.Retention = []archive.Rule{
				{Metric: "retransmits_packets", Points: 5 * oneDay, Rollups: [4]time.Duration{5 * oneDay, 5 * oneDay, 5 * oneDay,
					5 * oneDay}},
				{Tool: "bulk", Results: archive.Forever, Samples: 40 * oneDay, Points: 45 * oneDay},
				{Results: 35 * oneDay, Samples: 10 * oneDay, Points: 20 * oneDay,
					Rollups: [4]time.Duration{archive.Never, 12 * oneDay, 25 * oneDay, archive.Forever}},
			}
		}
		a := open(t, url, rules)
		results := longHistory()
		for some := range slices.Chunk(results, 30) {
			put(t, a, some...)
		}
		closeIt(t, a) // what is in memory is not pruned, only not written
		a = open(t, url, rules)
		for range 2 { // the second has nothing to do
			if _, err := a.Prune(t.Context(), now); err != nil {
				t.Fatal(err)
			}
		}
		put(t, a, results...) // none of them is new
		checkPruned(t, a, results)
		closeIt(t, a)
		a = open(t, url, rules)
		checkPruned(t, a, results)
		put(t, a, results...)
		if _, err := a.Prune(t.Context(), now.Add(oneDay)); err != nil {
			t.Fatal(err)
		}
		if page, err := a.Results(t.Context(), archive.ResultQuery{Tool: "rtt",
			To: now.Add(-34*oneDay - 12*time.Hour)}); err != nil || len(page.Results) > 0 {
			t.Errorf("a day later there are still %d of the results that then were too old, error %v", len(page.Results), err)
		}
	})
}

func checkPruned(t *testing.T, a archive.Archive, results []*measure.Result) {
	t.Helper()
	age := func(r *measure.Result) time.Duration { return now.Sub(r.Started) }
	left := map[string]*measure.Result{}
	for r, err := range a.All(t.Context(), archive.ResultQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		left[r.ID] = r
	}
	for _, r := range results {
		got, there := left[r.ID]
		results, samples := 35*oneDay, 10*oneDay
		if r.Tool == "bulk" {
			results, samples = archive.Forever, 40*oneDay
		}
		near := func(kept time.Duration) bool {
			return kept != archive.Forever && age(r) > kept-oneDay && age(r) < kept+oneDay
		} // by whole days
		if there != (age(r) < results) && !near(results) {
			t.Errorf("%s %v old: filed is %v", r.Tool, age(r), there)
		}
		if there && (len(got.Samples.Echoes) > 0) != (age(r) < samples) && !near(samples) {
			t.Errorf("%s %v old: samples %+v", r.Tool, age(r), got.Samples)
		}
	}
	points := map[string]time.Duration{"retransmits_packets": 5 * oneDay, "throughput_bits_per_second": 45 * oneDay,
		"rtt_mean_seconds": 20 * oneDay}
	rollups := map[string][4]time.Duration{
		"retransmits_packets":        {5 * oneDay, 5 * oneDay, 5 * oneDay, 5 * oneDay},
		"throughput_bits_per_second": {archive.Never, 12 * oneDay, 25 * oneDay, archive.Forever},
		"rtt_mean_seconds":           {archive.Never, 12 * oneDay, 25 * oneDay, archive.Forever},
	}
	for metric, kept := range points {
		want := map[time.Time]bool{}
		for _, p := range valuesOf(results, func(*measure.Result) bool { return true }, measure.Metric(metric)) {
			want[p.Time] = now.Sub(p.Time) < kept
		}
		keys, err := a.Keys(t.Context(), archive.Match{Metric: metric})
		if err != nil || len(keys) != 1 {
			t.Fatalf("%d keys, error %v", len(keys), err)
		}
		got := map[time.Time]bool{}
		for p, err := range a.Points(t.Context(), keys[0], time.Time{}, time.Time{}) {
			if err != nil {
				t.Fatal(err)
			}
			got[p.Time] = true
		}
		for at, expected := range want {
			if got[at] != expected && now.Sub(at).Abs()/time.Hour != kept/time.Hour {
				t.Errorf("%s: point %v old: there is %v", metric, now.Sub(at), got[at])
			}
		}
		checkOldest(t, a, metric, rollups[metric])
	}
}

// checkOldest asks for the whole past at each level. A level that is not kept so far back is passed over for one that
// is, so the answers say which levels are.
func checkOldest(t *testing.T, a archive.Archive, metric string, kept [4]time.Duration) {
	t.Helper()
	for i, level := range archive.Levels {
		if kept[i] <= 0 || kept[i] == archive.Forever {
			continue
		}
		q := archive.SeriesQuery{Match: archive.Match{Metric: metric}, From: now.Add(-kept[i] + oneDay).Truncate(oneDay),
			To: now, Step: level}
		s, err := a.Series(t.Context(), q)
		if err != nil || s.Level != level {
			t.Errorf("%s: within what is kept, level %v is read for %v, error %v", metric, s.Level, level, err)
		}
		q.From = now.Add(-kept[i] - oneDay)
		if s, err = a.Series(t.Context(), q); err != nil || s.Level == level && i < 3 {
			t.Errorf("%s: before what is kept, level %v is read for %v, error %v", metric, s.Level, level, err)
		}
	}
}

// What no rule keeps any more is acknowledged and not filed; what is late but still kept is.
func TestPutLate(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		if _, err := a.Prune(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		old, late := ping("a", "b", now.Add(-401*oneDay), 1), ping("a", "b", now.Add(-399*oneDay), 2)
		boot := ping("a", "b", time.Unix(17, 0), 3) // a host whose clock was not set
		put(t, a, old, late, boot)
		if s := a.Stats(); s.Filed != 1 || s.TooOld != 2 {
			t.Errorf("%+v; want one filed, two too old", s)
		}
		s, err := a.Series(t.Context(), archive.SeriesQuery{Match: archive.Match{Metric: "rtt_mean_seconds"},
			From: now.Add(-450 * oneDay), To: now, Step: oneDay})
		if err != nil || len(s.Buckets) != 1 || s.Buckets[0].Max != 2 {
			t.Errorf("error %v, series %+v; want the late one", err, s)
		}
	})
}

// Space comes back to the file system, and Put goes on meanwhile.
func TestPruneGivesSpaceBack(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		var results []*measure.Result
		for i := range 400 {
			r := ping("a", string(rune('b'+i%20)), now.Add(-time.Duration(i)*4*time.Minute-95*oneDay), 1+float64(i)/1e5)
			r.Notes = []string{noise(400)}
			results = append(results, r)
		}
		put(t, a, results...)
		closeIt(t, a)
		before := size(t, url)
		a = open(t, url, func(o *archive.Options) {
			o.Retention = []archive.Rule{{Results: oneDay, Points: oneDay, Rollups: [4]time.Duration{1, 1, 1}}}
		})
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					put(t, a, ping("x", "y", now, 1))
				}
			}
		}()
		pruned, err := a.Prune(t.Context(), now)
		close(stop)
		<-done
		if err != nil {
			t.Fatal(err)
		}
		closeIt(t, a)
		if after := size(t, url); after > before*2/3 {
			t.Errorf("%d bytes before, %d after %+v", before, after, pruned)
		}
	})
}

// size is what a database takes on disk.
func size(t *testing.T, url string) (bytes int64) {
	t.Helper()
	if !strings.HasPrefix(url, "postgres:") {
		info, err := os.Stat(url)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	query := `SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE nspname = 'public' AND relkind = 'r' AND relname NOT IN ('result')` // its rows are used again, not given back
	if err := database(t, url).QueryRow(query).Scan(&bytes); err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestPruneNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		pruned, err := a.Prune(t.Context(), now)
		if diff := cmp.Diff(archive.Pruned{}, pruned); diff != "" || err != nil {
			t.Errorf("an empty archive: %v, %s", err, diff)
		}
	})
}
