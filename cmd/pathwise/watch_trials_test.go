package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// Each trial of a search is a line on the terminal as it ends, and a point of the drawing below.
func TestTrialsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	screen := terminal.Sized(&out, 80, 24)
	w := newThroughputWatch(screen, measure.Task{Kind: "throughput", Target: "carol", Parameters: map[string]any{"reverse": true}})
	live := screen.Start(w.view)
	tell := w.equip(t.Context(), 0, probe.Options{}, live).Trial
	tell(measure.Trial{BitsPerSecond: 1e7, ReceivedBitsPerSecond: 1e7})
	tell(measure.Trial{BitsPerSecond: 2e7, ReceivedBitsPerSecond: 1.5e7, LossRatio: 0.25, Failure: "25 % lost"})
	view := strings.Join(w.view(80), "\n")
	live.End(false)
	for _, want := range []string{"passed, 0.00 % lost", "failed: 25 % lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the terminal has %q, want %q in it", out.String(), want)
		}
	}
	if !strings.Contains(view, "reverse") || !strings.Contains(view, "15.0 Mbit/s") {
		t.Errorf("the drawing is %q", view)
	}
}
