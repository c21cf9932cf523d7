package diagnose

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the table of truth and verdict anew")

func readRecording(t *testing.T, path string) *Recording {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var r Recording
	if err := json.NewDecoder(packed).Decode(&r); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &r
}

// table is where the verdicts of all recordings stand: what is named right there may not be lost.
const table = "testdata/faults.txt"

// verdicts replays all recordings, on all processors. A row is: fault, its finding, the verdict of today's rules, how that stands to
// the truth.
func verdicts(t *testing.T) (rows []string) {
	t.Helper()
	paths, err := filepath.Glob("testdata/faults/*.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	rows = make([]string, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() {
			r := readRecording(t, path)
			d := Diagnose(r.Results)
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
// -update writes the table, which a reader of a change then sees.
func TestFaultsReplayed(t *testing.T) {
	rows := verdicts(t)
	for _, row := range rows {
		if strings.HasSuffix(row, " "+string(Wrong)) {
			t.Errorf("a wrong cause: %s", row)
		}
	}
	got := strings.Join(rows, "\n") + "\n"
	if testing.Verbose() {
		t.Log("\n" + got)
	}
	if *update {
		if err := os.WriteFile(table, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range strings.Split(strings.TrimSpace(string(want)), "\n") {
		if !strings.Contains(got, row+"\n") {
			t.Errorf("the table says:\n%s\nwhich is not so any more (-update writes it anew)", row)
		}
	}
	if strings.Count(got, "\n") != strings.Count(string(want), "\n") {
		t.Errorf("%d recordings, %d rows in %s", strings.Count(got, "\n"), strings.Count(string(want), "\n"), table)
	}
}
