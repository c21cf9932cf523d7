package archive_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// spans are what a matrix is asked for: whole days, hours, and ends that nothing fits.
var spans = []struct{ from, to time.Time }{
	{now.Add(-31 * time.Hour), now.Add(time.Hour)},
	{now.Truncate(oneDay).Add(-oneDay), now.Truncate(oneDay)},
	{now.Add(-time.Hour), now},
	{now.Add(-7*time.Hour - 5*time.Minute), now.Add(-35 * time.Minute)},
	{now.Add(-26*time.Hour - 7*time.Minute - 3*time.Second), now.Add(-time.Hour + 1)},
	{now.Add(-1000 * oneDay), now.Add(-999 * oneDay)},
}

// checkMatrix holds a matrix, and what Series says of some of its pairs, against the Results that were put.
func checkMatrix(t *testing.T, a archive.Archive, results []*measure.Result) {
	t.Helper()
	quantiles := []float64{0.05, 0.5, 0.95}
	pairs, err := a.Pairs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for match, metrics := range map[string][]measure.Metric{"rtt_mean_seconds": {measure.RTTMean},
		"jitter_seconds": {measure.Jitter}, "rtt_m*": {measure.RTTMean, measure.RTTMin}, "none": nil} {
		points := map[archive.Pair][]archive.Point{}
		for _, p := range pairs {
			for _, metric := range metrics {
				points[p] = append(points[p], valuesOf(results, func(r *measure.Result) bool {
					return r.Target.Name == p.Target && r.Source.Name == p.Source
				}, metric)...)
			}
		}
		for _, span := range spans {
			want := []archive.Cell{}
			for i, p := range pairs {
				all := seriesOf(points[p], span.from, span.to, 0, quantiles)
				for _, b := range all {
					want = append(want, archive.Cell{Pair: p, Merged: b.Merged})
				}
				if i%17 > 0 || len(metrics) != 1 {
					continue
				}
				s, err := a.Series(t.Context(), archive.SeriesQuery{Match: archive.Match{Source: p.Source, Target: p.Target,
					Metric: match}, From: span.from, To: span.to, Quantiles: quantiles})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(all, s.Buckets, rounding); diff != "" {
					t.Errorf("%s of %v in %v: series (-want +got):\n%s", match, p, span, diff)
				}
			}
			for source, others := range map[string]func(archive.Cell) bool{
				"":    func(archive.Cell) bool { return false },
				"h1*": func(c archive.Cell) bool { return !strings.HasPrefix(c.Source, "h1") },
			} {
				got, err := a.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Source: source, Metric: match},
					From: span.from, To: span.to, Quantiles: quantiles})
				want := slices.DeleteFunc(slices.Clone(want), others)
				if diff := cmp.Diff(want, got, rounding); diff != "" || err != nil {
					t.Errorf("%s from %q in %v: error %v; matrix (-want +got):\n%s", match, source, span, err, diff)
				}
			}
		}
	}
}

// mesh is history of so many pairs that their rows are read as neighbours, some with streams of several tests, of which a
// few come long after the others.
func mesh(seed uint64, n int) []*measure.Result {
	all := history(seed, n)
	for i, r := range all {
		r.Source.Name, r.Target.Name = fmt.Sprintf("h%d", i%13), fmt.Sprintf("h%d", i%12)
	}
	return all
}

// A matrix must be what the series of each pair are, wherever the values are: in memory, half moved, moved in many
// generations, read again after a restart, replaced, backed up and restored.
func TestMatrix(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		results := mesh(5, 400)
		small := func(o *archive.Options) { o.MoveValues = 300 }
		a := open(t, url, small)
		for i, some := range slices.Collect(slices.Chunk(results, 130)) {
			put(t, a, some...)
			if i == 0 {
				checkMatrix(t, a, some)
			}
		}
		checkMatrix(t, a, results)
		closeIt(t, a)
		a = open(t, url, small)
		for _, i := range []int{3, 4, 100, 250} { // of one metric no value remains
			results[i].Metrics = map[measure.Metric]float64{measure.RTTMean: 7, measure.SentPackets: 10}
			results[i].Status, results[i].Error = measure.StatusOK, nil
			if err := a.Update(t.Context(), results[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
		checkMatrix(t, a, results)
		backup := filepath.Join(t.TempDir(), "backup")
		if err := a.Backup(t.Context(), backup); err != nil {
			t.Fatal(err)
		}
		restored := open(t, filepath.Join(t.TempDir(), "restored.db"))
		if err := restored.Restore(t.Context(), backup); err != nil {
			t.Fatal(err)
		}
		checkMatrix(t, restored, results)
	})
}

// An archive from before the rows of a metric were neighbours opens, answers as it did, and goes on.
func TestMatrixOfOlderArchive(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		results := mesh(6, 200)
		small := func(o *archive.Options) { o.MoveValues = 300 }
		a := open(t, url, small)
		put(t, a, results[:120]...)
		closeIt(t, a)
		db := database(t, url)
		for _, s := range []string{"UPDATE rollup SET series = -1 - (((series & 4294967295) << 16) | (series >> 32))",
			"UPDATE rollup SET series = -1 - series", "DELETE FROM goose_db_version WHERE version_id > 1"} {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		a = open(t, url, small)
		checkMatrix(t, a, results[:120])
		put(t, a, results[120:]...)
		closeIt(t, a)
		checkMatrix(t, open(t, url, small), results)
	})
}

// An answer is remembered until something changes in its span.
func TestMatrixRemembers(t *testing.T) {
	clock := now
	a := open(t, t.TempDir()+"/archive.db", func(o *archive.Options) { o.Now = func() time.Time { return clock } })
	ask := func(from, to time.Time) []archive.Cell {
		t.Helper()
		cells, err := a.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Metric: "rtt_mean_seconds"}, From: from,
			To: to})
		if err != nil {
			t.Fatal(err)
		}
		return cells
	}
	today := now.Truncate(oneDay)
	put(t, a, ping("a", "b", today.Add(-time.Hour), 1), ping("a", "b", now, 1))
	past, present := ask(today.Add(-oneDay), today), ask(today, today.Add(oneDay))
	put(t, a, ping("a", "b", now, 3))
	if _, err := a.Prune(t.Context(), now); err != nil { // what is expired was not in it
		t.Fatal(err)
	}
	same := func(a, b []archive.Cell) bool { return &a[0] == &b[0] }
	if !same(past, ask(today.Add(-oneDay), today)) {
		t.Error("a past day in which nothing changed was drawn again")
	}
	if got := ask(today, today.Add(oneDay)); same(present, got) || got[0].Count != 2 {
		t.Errorf("an answer that is out of date was given again: %+v", got)
	}
	put(t, a, ping("a", "b", today.Add(-2*time.Hour), 5)) // late
	if got := ask(today.Add(-oneDay), today); got[0].Max != 5 {
		t.Errorf("what came late is not in %+v", got)
	}
	if _, err := a.Prune(t.Context(), now.Add(5000*oneDay)); err != nil {
		t.Fatal(err)
	}
	clock = now.Add(5000 * oneDay)
	if got := ask(today, today.Add(oneDay)); len(got) != 1 || got[0].Count != 2 {
		t.Errorf("of a day that is kept for good there is %+v", got)
	}
}

// Many who ask at once get one answer, and who has had enough does not spoil it for the others.
func TestMatrixShared(t *testing.T) {
	a := open(t, t.TempDir()+"/archive.db")
	put(t, a, mesh(7, 300)...)
	q := archive.MatrixQuery{From: now.Add(-oneDay), To: now, Quantiles: []float64{0.5}}
	want, err := a.Matrix(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	first := map[int]*archive.Cell{} // of the answer to each question
	for n := range 20 {
		group.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if n%2 == 0 {
				cancel()
			}
			mine := q
			mine.Quantiles = []float64{0.5, float64(n/4) / 10}
			got, err := a.Matrix(ctx, mine)
			if n%2 == 0 && errors.Is(err, context.Canceled) {
				return
			}
			if err != nil || len(got) != len(want) || got[3].Quantiles[0] != want[3].Quantiles[0] {
				t.Errorf("error %v, %d cells of %d", err, len(got), len(want))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if one := first[n/4]; one != nil && one != &got[0] {
				t.Errorf("question %d was answered twice", n/4)
			}
			first[n/4] = &got[0]
		})
	}
	group.Wait()
}

func TestMatrixRefuses(t *testing.T) {
	a := open(t, t.TempDir()+"/archive.db")
	for _, q := range []archive.MatrixQuery{
		{To: now},
		{From: now, To: now},
		{From: now.Add(-time.Hour), To: now, Quantiles: []float64{95}},
		{From: now.Add(-time.Hour), To: now, Match: archive.Match{Source: "["}},
	} {
		_, err := a.Matrix(t.Context(), q)
		if bad, ok := err.(interface{ BadInput() bool }); !ok || !bad.BadInput() {
			t.Errorf("%+v: error %v, which is not the caller's", q, err)
		}
	}
}
