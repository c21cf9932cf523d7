package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab/accuracy"
)

// A sample is played as it was planned: its fault binds, its advice is followed as it was printed, and its record is judged and played
// no more.
func TestAccuracySample(t *testing.T) {
	t.Parallel()
	carrying(t)
	dir := filepath.Join(t.TempDir(), "samples")
	const sample = "no-window-scaling-000"
	play := func() string {
		out, err := selfProcess(t, "lab", "accuracy", "play", "--dir", dir, "--only", sample, "--each", "1").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if out := play(); !strings.Contains(out, "1 played, 0 left") {
		t.Fatal(out)
	}
	r, err := accuracy.Read(filepath.Join(dir, sample+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != "" || r.Emulator.Bottleneck && r.Tries < 3 || !r.Bound() || r.Verdict != "no-window-scaling" || r.Seconds <= 0 || r.Load.Busy <= 0 {
		r.Results = nil
		t.Errorf("the record is %+v", r)
	}
	if a := r.Advice; a == nil || a.How != accuracy.ByCommand || a.Predicted <= 0 || a.Reached <= 0 { // how near they are depends on this machine
		t.Errorf("the advice was followed: %+v", a)
	}
	if out := play(); !strings.Contains(out, "0 played, 0 left") {
		t.Error(out)
	}
	text, err := selfProcess(t, "lab", "accuracy", "judge", "--dir", dir, "--json").Output()
	var f accuracy.Figures
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil || f.Schema != accuracy.FiguresSchema || f.States[accuracy.Counts] != 1 || f.Right.Hit != 1 {
		t.Errorf("%v: judged %+v", err, f)
	}
}
