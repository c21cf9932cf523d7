package diagnose

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
)

var update = flag.Bool("update", false, "write the table of truth and verdict, and docs/diagnose.md with it, anew")

func readRecording(t *testing.T, path string) *Recording {
	t.Helper()
	var r Recording
	if err := document.ReadPacked(path, MostBytes, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// Truth is how a verdict stands to the fault that was played.
type Truth string

const (
	Right  Truth = "right"  // the fault's own finding
	Kin    Truth = "family" // one that says the same less exactly
	Missed Truth = "missed" // no cause was named
	Wrong  Truth = "wrong"  // a cause that the fault is not
)

// Judge says how the verdict of a diagnosis stands to the truth. A finding that makes nothing slow is among those of a healthy path.
func (r *Recording) Judge(d *Diagnosis) Truth {
	healthy := d.Verdict == Healthy || d.Verdict == Unknown
	holds := func(id string) bool {
		return d.Verdict == id || healthy && slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == id })
	}
	switch {
	case r.Finding != "" && holds(r.Finding):
		return Right
	case slices.ContainsFunc(r.Family, holds):
		return Kin
	case slices.ContainsFunc([]string{Healthy, Unknown, unexplained.ID}, holds):
		return Missed
	}
	return Wrong
}

// table is where the verdicts of all recordings stand: what is named right there may not be lost.
const table = "testdata/faults.txt"

// recordings is the folder of those that are replayed: the ones kept here, or fresh ones (`make truth-table`).
func recordings() (dir string, fresh bool) {
	if dir = os.Getenv("PATHWISE_TEST_RECORDINGS"); dir != "" {
		return dir, true
	}
	return "testdata/faults", false
}

// verdicts replays all recordings, on all processors. A row is: fault, its finding, the verdict of today's rules, how that stands to
// the truth.
func verdicts(t *testing.T, dir string) (rows []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	rows = make([]string, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() {
			r := readRecording(t, path)
			d := r.Diagnose()
			checkFindings(t, d)
			finding := r.Finding
			if finding == "" {
				finding = "-"
			}
			rows[i] = fmt.Sprintf("%-26s %-26s %-26s %s", r.Fault, finding, d.Verdict, r.Judge(d))
		})
	}
	all.Wait()
	return rows
}

// The rules name no wrong cause of any fault of the library, as it was recorded, and lose none that they named right.
// -update writes the table, which a reader of a change then sees. Fresh recordings must only name no wrong cause, and all be there.
func TestFaultsReplayed(t *testing.T) {
	dir, fresh := recordings()
	rows, counts := verdicts(t, dir), map[string]int{}
	for _, row := range rows {
		truth := row[strings.LastIndex(row, " ")+1:]
		if counts[truth]++; truth == string(Wrong) {
			t.Errorf("a wrong cause: %s", row)
		}
		if strings.HasPrefix(row, "healthy-") && truth != string(Right) {
			t.Errorf("nothing is wrong there: %s", row)
		}
	}
	got := strings.Join(rows, "\n") + "\n"
	if testing.Verbose() {
		t.Logf("\n%s%v", got, counts)
	}
	if *update && !fresh {
		if err := os.WriteFile(table, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range strings.Split(strings.TrimSpace(string(want)), "\n") {
		fault, _, _ := strings.Cut(row, " ")
		if there := strings.Contains("\n"+got, "\n"+fault+" "); fresh && !there {
			t.Errorf("%s: not recorded", fault)
		} else if !fresh && !strings.Contains(got, row+"\n") {
			t.Errorf("the table says:\n%s\nwhich is not so any more (-update writes it anew)", row)
		}
	}
	if strings.Count(got, "\n") != strings.Count(string(want), "\n") {
		t.Errorf("%d recordings, %d rows in %s", strings.Count(got, "\n"), strings.Count(string(want), "\n"), table)
	}
}
