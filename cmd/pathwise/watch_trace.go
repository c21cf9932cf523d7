package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
)

// traceWatch shows a row for each hop as soon as it is known, with the names of those that have some.
type traceWatch struct {
	*terminal.Screen
	target string
	names  *hopNames
	hops   []measure.Hop
	result *measure.Result
	live   *terminal.Live
}

func newTraceWatch(screen *terminal.Screen, task measure.Task, find nameFinder) *traceWatch {
	return &traceWatch{Screen: screen, target: task.Target, names: newHopNames(find)}
}

func (t *traceWatch) equip(ctx context.Context, _ int, o probe.Options, live *terminal.Live) probe.Options {
	t.live = live
	o.Hop = func(h measure.Hop) { live.Change(func() { t.add(ctx, h) }) }
	return o
}

// add takes a hop into account, and looks for the names of those who answered, while the command runs.
func (t *traceWatch) add(ctx context.Context, h measure.Hop) {
	if n := len(t.hops); n > 0 && h.TTL <= t.hops[n-1].TTL {
		t.hops = nil // another address of the target is tried
	}
	t.hops = append(t.hops, h)
	for _, address := range h.Addresses {
		t.names.begin(ctx, address, func() { t.live.Change(func() {}) }) // which draws it
	}
}

func (t *traceWatch) view(columns int) []string {
	return append(t.table(columns), t.Faint("tracing "+t.target+"…"))
}

// table has a row for each hop.
func (t *traceWatch) table(columns int) []string {
	if len(t.hops) == 0 {
		return nil
	}
	const beside = 53 // columns that the figures and their bar take
	rows := [][]string{{t.Strong("hop"), t.Strong("host"), t.Strong("answers"), t.Strong("least"), ""}}
	longest := 0.
	for _, h := range t.hops {
		if least, any := h.Least(); any {
			longest = max(longest, least)
		}
	}
	for _, h := range t.hops {
		row := []string{fmt.Sprintf("%3d", h.TTL), t.Faint("nobody answers"), fmt.Sprintf("%d of %d", answers(h), len(h.RTTSeconds)), "-", ""}
		if len(h.Addresses) > 0 {
			row[1] = t.who(h.Addresses, max(maxHostShown, columns-beside))
		}
		if answers(h) < len(h.RTTSeconds) && answers(h) > 0 {
			row[2] = t.Warn(row[2])
		}
		if least, any := h.Least(); any {
			row[3], row[4] = quantity.FormatSeconds(least), t.bar(least/longest)
		}
		if h.Reply != "" {
			row[4] += " " + h.Reply
		}
		for _, told := range probe.HopTells(h) {
			row[4] += " " + told
		}
		rows = append(rows, row)
	}
	return chart.Table(rows, 1, 4)
}

// hopBar is how long the bar of the farthest hop is.
const hopBar = 10

func (t *traceWatch) bar(share float64) string {
	block := "█"
	if t.ASCII {
		block = "#"
	}
	return t.Accent(strings.Repeat(block, max(1, int(share*hopBar+0.5))))
}

func answers(h measure.Hop) (n int) {
	for _, v := range h.RTTSeconds {
		if v != nil {
			n++
		}
	}
	return n
}

// who are those who answered, by name where they have one, and by address where there is room for both.
func (t *traceWatch) who(addresses []string, width int) string {
	var full, short []string
	for _, address := range addresses {
		name := t.names.of(address)
		if name == "" || name == address {
			full, short = append(full, address), append(short, address)
			continue
		}
		full, short = append(full, name+" ("+address+")"), append(short, name)
	}
	if text := strings.Join(full, " "); len(text) <= width {
		return text
	}
	return t.Clipped(strings.Join(short, " "), width)
}

func (t *traceWatch) finished(_ int, r *measure.Result, _ error) { t.result = r }

// outcome waits for the last names.
func (t *traceWatch) outcome(w io.Writer, columns int) {
	t.names.wait()
	if t.result == nil {
		return
	}
	if s := t.result.Samples; s.Return != nil || s.Middleboxes != nil || s.Rounds != nil || s.Paths != nil { // of which the hops alone say little
		k, _ := probe.KindOf("trace")
		k.Text(w, t.result)
		return
	}
	t.hops = probe.Straight(t.result.Samples.Hops, t.result.Samples.Route)
	fmt.Fprintf(w, "route to %s (%s)\n", t.result.Target.Name, t.result.Target.Address)
	for _, line := range slices.Concat(t.table(columns), probe.WholeLines(t.result), probe.KnownLines(t.result.Samples.Addresses)) {
		fmt.Fprintln(w, line)
	}
}
