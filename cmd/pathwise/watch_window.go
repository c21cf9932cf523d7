package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// windowWatch shows a line for each window of packets in flight, and below it how the rate grows with them.
type windowWatch struct {
	*terminal.Screen
	target     string
	sent, lost int
	windows    []measure.WindowSample
}

func newWindowWatch(screen *terminal.Screen, task measure.Task) *windowWatch {
	return &windowWatch{Screen: screen, target: task.Target}
}

func (v *windowWatch) equip(_ context.Context, _ int, o probe.Options, live *terminal.Live) probe.Options {
	o.Echo = func(e measure.Echo) {
		live.Change(func() {
			v.sent++
			if e.RTTSeconds == nil {
				v.lost++
			}
		})
	}
	o.Window = func(s measure.WindowSample) {
		var lines []string
		live.Change(func() { lines = v.lines(s) })
		for _, line := range lines {
			live.Print(line)
		}
	}
	return o
}

// windowRow is a window's line, and the heading of all.
const windowRow = "%9s  %8s  %8s  %12s  %10s  %10s"

// lines takes a window into account and returns what is printed of it.
func (v *windowWatch) lines(s measure.WindowSample) (lines []string) {
	if len(v.windows) == 0 {
		lines = []string{v.Strong(fmt.Sprintf(windowRow, "in flight", "sent", "lost", "rate", "least", "median"))}
	}
	v.windows = append(v.windows, s)
	var cells []any
	for _, cell := range probe.WindowCells(s) {
		cells = append(cells, cell)
	}
	line := fmt.Sprintf(windowRow, cells...)
	if s.Lost > 0 {
		line = v.Warn(line)
	}
	return append(lines, line)
}

// view is the drawing of the rate so far, and what goes on.
func (v *windowWatch) view(int) (lines []string) {
	if len(v.windows) > 1 {
		lines = append(append(lines, ""), probe.WindowDrawing(v.windows)...)
	}
	return append(lines, v.Faint(fmt.Sprintf("%s: %d packets sent, %d lost…", v.target, v.sent, v.lost)))
}

func (v *windowWatch) finished(int, *measure.Result, error) {}

func (v *windowWatch) outcome(w io.Writer, _ int) {
	if len(v.windows) > 0 {
		fmt.Fprintln(w, "\n"+strings.Join(probe.WindowDrawing(v.windows), "\n"))
	}
	fmt.Fprintln(w)
}
