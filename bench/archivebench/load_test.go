package archivebench

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/archive"
)

// What is measured, in small: every value is filed, by several callers in parts that do not come out even.
func TestFill(t *testing.T) {
	t.Parallel()
	a, err := archive.Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"), archive.Options{MoveValues: 1500})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Fill(t.Context(), a, Load{Pairs: 100, Values: 6_000, Callers: 3, Batch: 77})
	if err != nil || f.Values != 6_000 || f.Results != 500 || f.ValuesPerSecond <= 0 {
		t.Errorf("%+v, error %v", f, err)
	}
	if s := a.Stats(); s.Filed != 500 || s.Streams != 100 {
		t.Errorf("%+v; want 500 filed of 100 streams", s)
	}
}

// A run says what each part came to, or why it was left out.
func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := &run{Options: Options{Dir: t.TempDir(), SQLitePoints: 6_000, PostgresPoints: 6_000, RRDTool: true},
		minutes: 600, out: &out, rates: map[string]float64{}}
	if err := r.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^SQLite: 6000 points in [\d.]+ s: [1-9]\d* points/s`,
		`(?m)^PostgreSQL: (6000 points in [\d.]+ s: [1-9]\d* points/s|left out: .*)`,
		`(?m)^rrdtool: (6000 points in [\d.]+ s: [1-9]\d* points/s|left out: .*)`,
		`(?m)^  [1-9][\d.]* bytes a point on disk; slowest call \d+ ms; peak memory [1-9]\d* MB$`,
		`(?m)^a year of one pair, 600 points`,
		`(?m)^  an hour a step +10 buckets +[\d.]+ ms$`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no line matches %s", want)
		}
	}
	t.Log(out.String())
}

// A mesh as an hour has it, for profiles: go test -bench Fill -cpuprofile.
func BenchmarkFill(b *testing.B) {
	for b.Loop() {
		a, err := archive.Open(b.Context(), filepath.Join(b.TempDir(), "archive.db"), archive.Options{})
		if err != nil {
			b.Fatal(err)
		}
		f, err := Fill(b.Context(), a, Load{Values: 1_000_000})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(f.ValuesPerSecond, "values/s")
	}
}
