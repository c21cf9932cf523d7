package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// Each way has its row from the first packet on, and what is lost is told.
func TestOWDWatch(t *testing.T) {
	w := newOWDWatch(terminal.Sized(io.Discard, 80, 24), measure.Task{Target: "carol"})
	w.ASCII, w.Palette = true, terminal.Palette{}
	live := w.Start(w.view)
	defer live.End(false)
	echo := w.equip(t.Context(), 0, probe.Options{}, live).Echo
	seconds := func(v float64) *float64 { return &v }
	shown := func() (cells [][]string) {
		for _, line := range w.view(80) {
			cells = append(cells, strings.Fields(line))
		}
		return cells
	}
	head := strings.Fields("last least median p95 most recent")
	words := strings.Fields
	if diff := cmp.Diff([][]string{head, words("forward - - - - -"), words("reverse - - - - -"), words("round trip - - - - -"),
		words("measuring carol… 0 sent, 0 lost")}, shown()); diff != "" {
		t.Errorf("before the first packet (-want +got):\n%s", diff)
	}
	echo(measure.Echo{ForwardSeconds: seconds(0.02), ReverseSeconds: seconds(0.005), RTTSeconds: seconds(0.025)})
	got := shown()
	for i, want := range []string{"forward 20.0 ms 20.0 ms 20.0 ms 20.0 ms 20.0 ms", "reverse 5.00 ms 5.00 ms 5.00 ms 5.00 ms 5.00 ms",
		"round trip 25.0 ms 25.0 ms 25.0 ms 25.0 ms 25.0 ms"} {
		if line := strings.Join(got[i+1], " "); !strings.HasPrefix(line, want) {
			t.Errorf("after a packet: %q, want %q", line, want)
		}
	}
	echo(measure.Echo{Seq: 1})
	got = shown()
	if line := strings.Join(got[1], " "); !strings.HasPrefix(line, "forward lost 20.0 ms") || strings.Join(got[4], " ") != "measuring carol… 2 sent, 1 lost" {
		t.Errorf("after a loss: %q", got)
	}
}
