package archive_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
)

// Rows of rollups are numbered anew where a new number is another row's old one, and the log says so; in an empty archive
// there is nothing to do.
func TestRowsNumberedAnew(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, url)
		put(t, a, ping("a", "b", now, 1))
		closeIt(t, a)
		db := database(t, url)
		execute := func(statements ...string) {
			t.Helper()
			for _, s := range statements {
				if _, err := db.ExecContext(t.Context(), s); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
		}
		const toFirst = "DELETE FROM goose_db_version WHERE version_id > 1"
		var start int64
		if err := db.QueryRowContext(t.Context(), "SELECT max(start) FROM rollup WHERE level = 0").Scan(&start); err != nil {
			t.Fatal(err)
		}
		execute("DELETE FROM rollup", toFirst)
		const one, two, three = 1<<32 | 2<<16 | 3, 3<<32 | 1<<16 | 2, 2<<32 | 3<<16 | 1 // each becomes the next one
		for _, old := range []int64{one, two, three} {
			execute(fmt.Sprintf("INSERT INTO rollup SELECT 0, %d, %d, CAST('%d' AS %s) FROM stream", start, old, old,
				bytesOf(url)))
		}
		db.Close()
		var log bytes.Buffer
		closeIt(t, open(t, url, func(o *archive.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }))
		if !contains(log.String(), "bringing the archive up to date") {
			t.Errorf("the log says %q", log.String())
		}
		db = database(t, url)
		was := map[int64]string{} // by the new number
		rows, err := db.QueryContext(t.Context(), "SELECT series, data FROM rollup")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var series int64
			var data []byte
			if err := rows.Scan(&series, &data); err != nil {
				t.Fatal(err)
			}
			was[series] = string(data)
		}
		want := map[int64]string{two: fmt.Sprint(one), three: fmt.Sprint(two), one: fmt.Sprint(three)}
		if diff := cmp.Diff(want, was); diff != "" || rows.Err() != nil {
			t.Errorf("error %v; what each was (-want +got):\n%s", rows.Err(), diff)
		}
		execute("DELETE FROM rollup", toFirst)
		db.Close()
		closeIt(t, open(t, url))
	})
}

// Tables of a layout that no release had are refused, before anything is filed into them.
func TestLayoutBetweenReleases(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		closeIt(t, open(t, url))
		db := database(t, url)
		if _, err := db.ExecContext(t.Context(), "INSERT INTO state VALUES ('across', 0)"); err != nil {
			t.Fatal(err)
		}
		db.Close()
		_, err := archive.Open(t.Context(), url, archive.Options{Now: func() time.Time { return now }})
		if err == nil || !contains(err.Error(), "between two releases: restore a backup, or begin anew") {
			t.Errorf("error %v", err)
		}
	})
}

// bytesOf is the type of bytes in the database at a URL.
func bytesOf(url string) string {
	if contains(url, "postgres:") {
		return "BYTEA"
	}
	return "BLOB"
}
