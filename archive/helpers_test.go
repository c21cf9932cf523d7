package archive_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/postgrestest"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// database opens the database of an archive beside it.
func database(t *testing.T, url string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(url, "postgres:") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// holdUp locks an archive's tables until release is called.
func holdUp(t *testing.T, url string) (release func()) {
	t.Helper()
	db := database(t, url)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	statements := []string{"BEGIN IMMEDIATE"}
	if strings.HasPrefix(url, "postgres:") {
		statements = []string{"BEGIN", "LOCK TABLE result IN EXCLUSIVE MODE"}
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
}

// childID is an ID from two numbers, of a time near now.
func childID(a, b uint64) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(now))
	binary.BigEndian.PutUint64(id[8:], a)
	binary.BigEndian.PutUint16(id[6:], uint16(b))
	return id.String()
}

func sameSeries(want, got *archive.Series) bool { return cmp.Equal(want, got, rounding) }

func startServer(ctx context.Context) (*postgrestest.Server, error) {
	return postgrestest.Start(ctx, "fsync=off", "full_page_writes=off")
}
