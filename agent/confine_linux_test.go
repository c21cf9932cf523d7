package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// TestProgramsAreConfined has a program print its limits once it has run for a moment.
func TestProgramsAreConfined(t *testing.T) {
	p, err := policy.Parse("agent.yaml", []byte("limits: {programs: {memory: 512MiB, cpu: 7s, files: 50, nice: 9}}\n"+
		"classes: {a: {programs: [/bin/sh, /usr/bin/sh]}}\ndefault: a"))
	if err != nil {
		t.Fatal(err)
	}
	a := run(t, Config{Dir: t.TempDir(), Policy: p})
	r := newRun(1, time.Now())
	r.Task = measure.Task{Kind: "command", Target: "127.0.0.1",
		Parameters: map[string]any{"argv": []string{"sh", "-c", "sleep 0.5; ulimit -v; ulimit -t; ulimit -n; nice"}}}
	if err := a.Order(t.Context(), fleet.Order{Run: &r}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a Result", func() bool { return a.link.outcome(1) != "" })
	var memory, cpu, files, nice int
	out := a.link.result(1).Samples.Output
	if out == nil {
		t.Fatal(a.link.outcome(1))
	}
	_, _ = fmt.Sscan(strings.ReplaceAll(out.Stdout, "\n", " "), &memory, &cpu, &files, &nice)
	if diff := cmp.Diff([]int{512 << 10, 7, 50}, []int{memory, cpu, files}); diff != "" || nice < 9 {
		t.Errorf("niceness %d; memory, processor time, files (-want +got):\n%s", nice, diff)
	}
}
