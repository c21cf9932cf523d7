package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/scenario"
)

// recorded is where the recordings of all cases are kept.
const recorded = "../../diagnose/testdata/faults"

// Each case that can be played says where its fault is diagnosed, and its recording says the same of it as the case. There are no
// others, and each is small enough to be read in a moment.
func TestCasesAreRecorded(t *testing.T) {
	wanted := map[string]bool{}
	for _, pattern := range []string{"../../lab/faults/*.yaml", "../../diagnose/testdata/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no cases, %v", pattern, err)
		}
		for _, file := range files {
			c, err := readCase(file)
			if err != nil {
				t.Fatal(err)
			}
			if c.Skip != "" {
				continue
			}
			wanted[c.Name+".json.gz"] = true
			if !slices.ContainsFunc(c.Steps, func(s scenario.Step) bool { return s.Diagnose != nil }) {
				t.Errorf("%s: no step says where it is diagnosed", file)
			}
			r := readHeading(t, c.Name+".json.gz")
			if r.Schema != diagnose.RecordingSchema || r.Fault != c.Name || r.Finding != c.Finding || !slices.Equal(r.Family, c.Family) {
				t.Errorf("%s: recorded as %s %q, family %v; want %q, %v: record it again",
					c.Name, r.Fault, r.Finding, r.Family, c.Finding, c.Family)
			}
			if len(r.Results) == 0 {
				t.Errorf("%s: its recording has no Results", c.Name)
			}
		}
	}
	files, err := os.ReadDir(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Size() > mostKept || !wanted[file.Name()] {
			t.Errorf("%s: of no case, or of more than %d bytes (%v)", file.Name(), mostKept, err)
		}
	}
}

// mostKept is the size of a recording in bytes, so that all of them are small beside the source.
const mostKept = 64 << 10

// heading is a recording whose Results are not read: those that replay it, in package diagnose, do.
type heading struct {
	diagnose.Recording
	Results []json.RawMessage `json:"results"`
}

func readHeading(t *testing.T, name string) (r heading) {
	t.Helper()
	if err := document.ReadPacked(filepath.Join(recorded, name), diagnose.MostBytes, &r); err != nil {
		t.Errorf("%v: make it with `pathwise lab record`", err)
	}
	return r
}
