package archive_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/pressly/goose/v3"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// schema1File is the file that the build before wrote, unpacked.
func schema1File(t *testing.T) string {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", "schema1.db.zst"))
	if err != nil {
		t.Fatal(err)
	}
	unpacker, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacker.Close()
	data, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "schema1.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// schema1Postgres fills a database with the tables of the build before, and what is in its file.
func schema1Postgres(t *testing.T, url string) {
	t.Helper()
	to, from := database(t, url), database(t, schema1File(t))
	provider, err := goose.NewProvider(goose.DialectPostgres, to, os.DirFS(filepath.Join("migrations", "postgres")),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	const before = 3 // the newest that the build before had
	if _, err := provider.UpTo(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := to.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for table, column := range map[string]string{"block": "day", "points": "slot / 72"} {
		for _, day := range numbers(t, from, "SELECT DISTINCT "+column+" FROM "+table) {
			first, last, name := day, day+1, time.Unix(day*24*3600, 0).UTC().Format("20060102")
			if table == "points" {
				first, last = day*72, (day+1)*72
			}
			run(fmt.Sprintf("CREATE TABLE %s_%s PARTITION OF %s FOR VALUES FROM (%d) TO (%d)", table, name, table, first, last))
		}
	}
	const day = 24 * 3600
	for level, span := range []int64{day, 8 * day, 128 * day, 4096 * day} {
		for _, part := range numbers(t, from, fmt.Sprintf("SELECT DISTINCT start / %d FROM rollup WHERE level = %d", span, level)) {
			run(fmt.Sprintf("CREATE TABLE rollup_%d_%s PARTITION OF rollup FOR VALUES FROM (%d, %d) TO (%d, %d)",
				int64(archive.Levels[level]/time.Second), time.Unix(part*span, 0).UTC().Format("20060102"), level, part*span, level, (part+1)*span))
		}
	}
	run("DELETE FROM state")
	for _, table := range []string{"state", "metric", "stream", "block", "result", "journal", "points", "rollup", "miss"} {
		copyTable(t, to, from, table)
	}
}

func numbers(t *testing.T, db *sql.DB, query string) (all []int64) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func copyTable(t *testing.T, to, from *sql.DB, table string) {
	t.Helper()
	rows, err := from.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, places, marks := make([]any, len(columns)), make([]any, len(columns)), make([]string, len(columns))
	for i := range values {
		places[i], marks[i] = &values[i], fmt.Sprintf("$%d", i+1)
	}
	query := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), strings.Join(marks, ", "))
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		if _, err := to.ExecContext(t.Context(), query, values...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

// schema2Results are the same Results as they would be measured today.
func schema2Results() []*measure.Result {
	all := schema1Results()
	steps, diagnosis := map[any]string{}, ""
	for _, r := range all {
		if r.Kind == "diagnosis" {
			diagnosis = r.ID
			names := []string{"ping", "trace", "capacity", "transfer", "paced", "capacity-reverse", "transfer-reverse", "paced-reverse"}
			for i, id := range r.Parameters["results"].([]any) {
				steps[id] = names[i]
			}
		}
	}
	for _, r := range all {
		r.Way, r.Role = measure.WayOf(r.Kind, r.Parameters), measure.RoleOf(r.Test)
		if step := steps[r.ID]; step != "" {
			r.Role = measure.DiagnosisRole(diagnosis, step)
		}
		if r.Tool == "pull" {
			r.Way = measure.Reverse // of the failed one, too, which does not say so
		}
	}
	return all
}

// An archive of the build before, of either backend, and a backup of one, are opened as if their Results had been filed
// today: each Result, series, gap and miss. What is so old that only rollups are left is where its stream went as a whole.
func TestSchema1(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		if strings.HasPrefix(url, "postgres:") {
			schema1Postgres(t, url)
		} else {
			url = schema1File(t)
		}
		closeIt(t, open(t, url)) // the second time there is nothing to do
		expectSchema2(t, open(t, url))
	})
}

func TestSchema1Backup(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		if err := a.Restore(t.Context(), filepath.Join("testdata", "schema1.backup")); err != nil {
			t.Fatal(err)
		}
		expectSchema2(t, a)
		closeIt(t, a)
		expectSchema2(t, open(t, url))
	})
}

func expectSchema2(t *testing.T, a archive.Archive) {
	t.Helper()
	long := now.Add(-24 * time.Hour) // what is younger is of the last three hours
	fresh := open(t, filepath.Join(t.TempDir(), "fresh.db"))
	for _, r := range schema2Results() {
		got, err := a.Result(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("Result (-want +got):\n%s", diff)
		}
	}
	put(t, fresh, schema2Results()...)
	misses := schema1Misses()
	misses[1].Way, misses[2].Way = measure.Reverse, measure.Both
	if err := fresh.PutMisses(t.Context(), misses); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pictures(t, fresh, long), pictures(t, a, long), rounding); diff != "" {
		t.Errorf("what is drawn (-want +got):\n%s", diff)
	}
	want := map[string]float64{ // what is old
		"a b bulk throughput_bits_per_second": 100e6, "b a bulk throughput_bits_per_second": 200e6, "a c bulk throughput_bits_per_second": 300e6,
		"b a pull throughput_bits_per_second": 200e6, "a b pull throughput_bits_per_second": 400e6, "c a pull throughput_bits_per_second": 600e6,
		"a b duplex throughput_bits_per_second": 300e6, "b a duplex throughput_bits_per_second": 600e6, "a c duplex throughput_bits_per_second": 900e6,
		"a b duplex reverse_throughput_bits_per_second": 300e6 + 1, "b a duplex reverse_throughput_bits_per_second": 600e6 + 1,
		"a c duplex reverse_throughput_bits_per_second": 900e6 + 1,
	}
	got := map[string]float64{}
	keys, err := a.Keys(t.Context(), archive.Match{Metric: "*throughput_bits_per_second"})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		s, err := a.Series(t.Context(), archive.SeriesQuery{Match: k.Exactly(), From: long.AddDate(-1, 0, 0), To: long})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range s.Buckets {
			got[fmt.Sprintf("%s %s %s %s", k.Source, k.Target, k.Tool, k.Metric)] = b.Mean
		}
	}
	if diff := cmp.Diff(want, got, rounding); diff != "" {
		t.Errorf("old values (-want +got):\n%s", diff)
	}
}

// picture is all that an archive draws of a series since some time.
type picture struct {
	Points []archive.Point
	Whole  []archive.Bucket
	Gaps   []archive.Gap
	Cells  []archive.Cell
	Listed []string
	Misses []measure.Miss
}

// pictures are those of all series that have points.
func pictures(t *testing.T, a archive.Archive, since time.Time) map[archive.Key]picture {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	all, listed := map[archive.Key]picture{}, map[archive.Key]bool{}
	keys, err := a.Latest(t.Context(), archive.Match{})
	check(err)
	for _, latest := range keys {
		k, p := latest.Key, picture{}
		for point, err := range a.Points(t.Context(), k, since, time.Time{}) {
			check(err)
			p.Points = append(p.Points, point)
		}
		if len(p.Points) == 0 {
			continue
		}
		if last := p.Points[len(p.Points)-1]; !last.Time.Equal(latest.Time) {
			t.Errorf("%+v: latest %v, last point %v", k, latest.Point, last)
		}
		s, err := a.Series(t.Context(), archive.SeriesQuery{Match: k.Exactly(), From: now.Add(-4 * time.Hour), To: now, Quantiles: []float64{0.5}})
		check(err)
		p.Whole = s.Buckets
		p.Gaps, err = a.Gaps(t.Context(), archive.GapQuery{Match: k.Exactly(), From: now.Add(-2 * time.Hour), To: now, Longest: 2 * time.Hour})
		check(err)
		p.Cells, err = a.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Tool: k.Tool, Role: string(k.Role), Metric: string(k.Metric)},
			From: now.Add(-4 * time.Hour), To: now})
		check(err)
		stream := k
		if stream.Metric = ""; !listed[stream] {
			listed[stream] = true
			for r, err := range a.All(t.Context(), archive.ResultQuery{Source: k.Source, Target: k.Target, Tool: k.Tool, Role: string(k.Role), From: since}) {
				check(err)
				p.Listed = append(p.Listed, r.ID)
			}
			slices.Sort(p.Listed)
			p.Misses, err = a.Misses(t.Context(), archive.MissQuery{Source: k.Source, Target: k.Target, Tool: k.Tool})
			check(err)
		}
		all[k] = p
	}
	return all
}
