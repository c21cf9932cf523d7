package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// A step under way turns a spinner and shows its latest figure; when it ended, a line stays of it, and none of one that was left out.
func TestStepsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	s := &session{out: &out, seen: terminal.Sized(&out, 80, 24)}
	end := s.showSteps()
	steps := s.steps
	ended := s.beginStep("ping", "carol", "how long round trips take")
	var o probe.Options
	s.figures("ping", &o)
	var first, second string
	steps.live.Change(func() { first = strings.Join(steps.view(80), "\n") })
	o.Echo(measure.Echo{RTTSeconds: new(0.0123)})
	steps.live.Change(func() { second = strings.Join(steps.view(80), "\n") })
	if first[:10] == second[:10] || strings.Contains(first, "12.3 ms") || !strings.Contains(second, "12.3 ms") {
		t.Errorf("drawn %q, then %q", first, second)
	}
	ended(nil, nil)
	s.beginStep("trace", "carol", "")(&measure.Result{Metrics: map[measure.Metric]float64{measure.HopCount: 1}}, nil)
	end()
	written := ansi.Strip(out.String())
	if s.steps != nil || strings.Contains(written, "✓ ping") || !strings.Contains(written, "✓ trace carol                1 hop\r\n") {
		t.Errorf("written %q", written)
	}
}

// An explanation that has no room beside the step stands below it, whole; the rate of the last moments is not shown.
func TestStepsThatAreLong(t *testing.T) {
	var out bytes.Buffer
	s := &session{out: &out, seen: terminal.Sized(&out, 80, 24)}
	end := s.showSteps()
	defer end()
	steps := s.steps
	const why = "how fast data moves back, and what the kernels of both ends say of the connection meanwhile"
	ended := s.beginStep("transfer-reverse", "carol", why)
	defer ended(nil, nil)
	var o probe.Options
	s.figures("throughput", &o)
	o.Interval(measure.Interval{StartSeconds: 0, EndSeconds: 1, BitsPerSecond: 18.3e6})
	o.Interval(measure.Interval{StartSeconds: 1, EndSeconds: 1.1, BitsPerSecond: 5.14e6})
	var lines []string
	steps.live.Change(func() { lines = steps.view(80) })
	for i := range lines {
		if lines[i] = ansi.Strip(lines[i]); ansi.StringWidth(lines[i]) >= 80 {
			t.Errorf("too wide: %q", lines[i])
		}
	}
	if len(lines) != 3 || !strings.Contains(lines[0], "18.3 Mbit/s") || strings.Join(strings.Fields(lines[1]+" "+lines[2]), " ") != why {
		t.Errorf("%q", lines)
	}
}
