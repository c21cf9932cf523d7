package archivebench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/postgrestest"
)

// values is how many values the benchmarks of filling file: 4 million, or as many as ARCHIVE_VALUES says.
func values() int {
	n, _ := strconv.Atoi(os.Getenv("ARCHIVE_VALUES"))
	return n
}

func BenchmarkFillSQLite(b *testing.B) {
	for b.Loop() {
		path := os.Getenv("ARCHIVE_PATH")
		if path == "" {
			path = filepath.Join(b.TempDir(), "archive.db")
		}
		fill(b, path, archive.Options{})
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%d MB", info.Size()>>20)
	}
}

func BenchmarkFillPostgres(b *testing.B) {
	server, err := postgrestest.Start(context.Background(), ServerOptions...)
	if errors.Is(err, postgrestest.ErrNone) {
		b.Skip(err)
	} else if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	for b.Loop() {
		url, err := server.Create(context.Background(), "archive"+strconv.Itoa(b.N))
		if err != nil {
			b.Fatal(err)
		}
		o := archive.Options{}
		if os.Getenv("ARCHIVE_ONLY_VALUES") != "" {
			o.Retention = []archive.Rule{{Results: archive.Never}}
		}
		before, _ := server.CPU()
		fill(b, url, o)
		after, _ := server.CPU()
		b.Logf("server: %v of processor time", after-before)
	}
}

func fill(b *testing.B, url string, o archive.Options) {
	a, err := archive.Open(context.Background(), url, o)
	if err != nil {
		b.Fatal(err)
	}
	before := ownCPU()
	f, err := Fill(context.Background(), a, Load{Values: values()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(f.ValuesPerSecond, "values/s")
	b.Logf("%+v; client: %v of processor time", f, ownCPU()-before)
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
