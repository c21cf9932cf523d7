package agent

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// TestAlone has an agent's process work on one processor, but while a test that may fill a link is under way. It changes the
// process as a whole, so no other test runs meanwhile.
func TestAlone(t *testing.T) {
	processors, percent, limit := runtime.GOMAXPROCS(0), debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	p, err := policy.Parse("agent.yaml", []byte("limits: {memory: 48MB, cpus: 3}"))
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(4)
	prober := &fakeProber{takes: time.Minute}
	a := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1", Prober: prober.new, Policy: p, Alone: true})
	if got := debug.SetMemoryLimit(-1); got != 48e6 || debug.SetGCPercent(garbage) != garbage {
		t.Errorf("a limit of %d bytes, want 48 MB", got)
	}
	on := func(want int) {
		t.Helper()
		eventually(t, fmt.Sprintf("it works on %d", want), func() bool { return runtime.GOMAXPROCS(0) == want })
	}
	on(1)
	light, heavy := newRun(1, time.Now()), exclusive(newRun(2, time.Now()))
	o := opening(3, freePort(t))
	for _, step := range []struct {
		order fleet.Order
		want  int
	}{
		{fleet.Order{Run: &light}, 1}, {fleet.Order{Run: &heavy}, 3}, {fleet.Order{Open: &o}, 3},
		{fleet.Order{Cancel: heavy.ID}, 3}, {fleet.Order{Cancel: o.Run}, 1},
	} {
		if err := a.Order(t.Context(), step.order); err != nil {
			t.Fatal(err)
		}
		if step.order.Run != nil {
			eventually(t, "it runs", func() bool { return slices.Contains(a.status().Running, step.order.Run.ID) })
		}
		on(step.want)
	}
}

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
