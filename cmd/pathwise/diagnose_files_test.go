package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// slowFile is a file that gives a megabit each 50 ms, as a disk of 20 Mbit/s does, until the test ends.
func slowFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slow")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0) // which waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for part := make([]byte, 125_000); ; <-tick.C {
			if _, err := file.Write(part); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { file.Close(); <-ended })
	return path
}

// A file that is read at 20 Mbit/s is told apart from a path of 100, with both rates, and what the path moves without it is predicted.
func TestDiagnoseSlowFile(t *testing.T) {
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 100mbit, delay: 5ms}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	var out bytes.Buffer
	onHost(t, l, "bob", &out, lab.Self(), "diagnose", "carol", "--file", slowFile(t), "-t", "2", "--cc", "cubic", "--json")
	var d diagnose.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "disk-limited" })
	if i != 0 || d.Verdict != "disk-limited" {
		t.Fatalf("verdict %s, %+v", d.Verdict, d.Findings)
	}
	f := d.Findings[i]
	if f.Severity != measure.Problem || f.Where != "sender bob" || f.Way != measure.Forward {
		t.Errorf("%+v", f)
	}
	if f.Predicted == nil || math.Abs(f.Predicted.BitsPerSecond/93e6-1) > 0.15 {
		t.Errorf("predicted %+v, and the path carries 93 Mbit/s", f.Predicted)
	}
	moved := 0.
	for _, e := range f.Evidence {
		if strings.Contains(e.Means, "transfer of a file") {
			moved = e.Value
		}
	}
	if math.Abs(moved/20e6-1) > 0.25 {
		t.Errorf("the file moved at %v, and is read at 20 Mbit/s: %+v", moved, f.Evidence)
	}
}
