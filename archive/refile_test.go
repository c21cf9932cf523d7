package archive_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/pressly/goose/v3"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// keptFile is a file that an earlier build wrote, unpacked.
func keptFile(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", name+".db.zst"))
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
	path := filepath.Join(t.TempDir(), name+".db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// keptPostgres fills a database with the tables of an earlier build, of this version, and what is in its file.
func keptPostgres(t *testing.T, url, name string, version int64) {
	t.Helper()
	to, from := database(t, url), database(t, keptFile(t, name))
	provider, err := goose.NewProvider(goose.DialectPostgres, to, os.DirFS(filepath.Join("migrations", "postgres")),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
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
			keptPostgres(t, url, "schema1", 3)
		} else {
			url = keptFile(t, "schema1")
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

// expectSchema2 holds an archive that was refiled against one in which the same is filed today.
func expectSchema2(t *testing.T, a archive.Archive) {
	t.Helper()
	expectDrawn(t, a)
	want := map[string]float64{
		"a b bulk throughput_bits_per_second": 100e6, "b a bulk throughput_bits_per_second": 200e6, "a c bulk throughput_bits_per_second": 300e6,
		"b a pull throughput_bits_per_second": 200e6, "a b pull throughput_bits_per_second": 400e6, "c a pull throughput_bits_per_second": 600e6,
		"a b duplex throughput_bits_per_second": 300e6, "b a duplex throughput_bits_per_second": 600e6, "a c duplex throughput_bits_per_second": 900e6,
		"a b duplex reverse_throughput_bits_per_second": 300e6 + 1, "b a duplex reverse_throughput_bits_per_second": 600e6 + 1,
		"a c duplex reverse_throughput_bits_per_second": 900e6 + 1,
	}
	if diff := cmp.Diff(want, oldValues(t, a), rounding); diff != "" {
		t.Errorf("old values (-want +got):\n%s", diff)
	}
}

// longAgo parts what is old in the kept files, of which only rollups are left, from what is of the last three hours.
var longAgo = now.Add(-24 * time.Hour)

// expectDrawn holds each Result of the kept files, and all that is drawn of what is not old, against an archive in which they are
// filed today. It returns that.
func expectDrawn(t *testing.T, a archive.Archive) (fresh archive.Archive) {
	t.Helper()
	fresh = open(t, filepath.Join(t.TempDir(), "fresh.db"))
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
	if diff := cmp.Diff(pictures(t, fresh, longAgo), pictures(t, a, longAgo), rounding); diff != "" {
		t.Errorf("what is drawn (-want +got):\n%s", diff)
	}
	return fresh
}

// oldValues are those of what is old, by source, target, tool and metric.
func oldValues(t *testing.T, a archive.Archive) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	keys, err := a.Keys(t.Context(), archive.Match{Metric: "*throughput_bits_per_second"})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		s, err := a.Series(t.Context(), archive.SeriesQuery{Match: k.Exactly(), From: longAgo.AddDate(-1, 0, 0), To: longAgo})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range s.Buckets {
			values[fmt.Sprintf("%s %s %s %s", k.Source, k.Target, k.Tool, k.Metric)] = b.Mean
		}
	}
	return values
}
