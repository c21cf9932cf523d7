package main

import (
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

// Time counts as ours in whatever process below this one it was used, and where the network's threads used it; as nobody's where
// another thread of the kernel did; and else as the others'.
func TestShare(t *testing.T) {
	stat := func(pid, parent int, own uint, waited int) procfs.ProcStat {
		return procfs.ProcStat{PID: pid, PPID: parent, UTime: own, STime: own, CUTime: waited}
	}
	stats := map[int]procfs.ProcStat{}
	for _, s := range []procfs.ProcStat{
		stat(1, 0, 100, 50),  // init, which has waited for some
		stat(2, 0, 10, 0),    // kthreadd
		stat(16, 2, 1000, 0), // a thread of the kernel
		{PID: 17, PPID: 2, Comm: "ksoftirqd/0", STime: 100},
		stat(40, 1, 7, 0),     // who started us
		stat(50, 40, 200, 30), // us
		stat(51, 50, 400, 0),  // an engine
		stat(52, 51, 1, 5),    // a tool below it
		stat(60, 40, 5, 0),    // beside us
		stat(70, 69, 3, 0),    // its parent ended before it was looked at
	} {
		stats[s.PID] = s
	}
	ours, others := share(stats, 50)
	if math.Abs(ours-13.37) > 1e-9 || math.Abs(others-2.80) > 1e-9 {
		t.Errorf("ours %v, others %v; want 13.37 and 2.80", ours, others)
	}
}

// What others take is the larger of two ways to count it, and what was stolen comes on top.
func TestOthersSince(t *testing.T) {
	for _, c := range []struct {
		after machine
		want  float64
	}{
		{machine{all: 200}, 0},
		{machine{all: 200, busy: 100, ours: 100}, 0},
		{machine{all: 200, busy: 96, ours: 100}, 0}, // ticks that missed some of ours
		{machine{all: 200, busy: 100, ours: 98}, 0.01},
		{machine{all: 200, busy: 98, ours: 98, others: 4}, 0.02},
		{machine{all: 200, busy: 100, ours: 98, others: 4}, 0.02},
		{machine{all: 200, busy: 100, ours: 100, stolen: 2}, 0.01},
		{machine{all: 200, busy: 90, ours: 80, others: 1, stolen: 10}, 0.1},
		{machine{}, 0}, // no time has passed
	} {
		if got := c.after.othersSince(machine{}); got != c.want {
			t.Errorf("%+v: %v, want %v", c.after, got, c.want)
		}
	}
}

// A program of somebody else's is seen while it runs; what we run ourselves is not taken for it.
func TestReadMachineTellsOursFromOthers(t *testing.T) {
	before, err := readMachine()
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done").Run(); err != nil {
		t.Fatal(err)
	}
	after, err := readMachine()
	if err != nil {
		t.Fatal(err)
	}
	if used := after.ours - before.ours; used < 0.05 { // the loop takes some 0.2 s
		t.Errorf("%.3f s of ours while a child computed", used)
	}
	if after.all <= before.all || after.others < before.others-0.05 { // an orphan's time may be lost with it
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// Only a quiet machine's ratios may be published, and the command says so of others'.
func TestDescribeOthers(t *testing.T) {
	for share, want := range map[float64]string{
		0: "others took 0.0 %", 0.0099: "others took 1.0 %", 0.01: "NOT TO BE PUBLISHED: others took 1.0 %", 0.5: "NOT TO BE PUBLISHED: others took 50.0 %",
	} {
		if got := describeOthers(share); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q, want %q…", share, got, want)
		}
	}
}
