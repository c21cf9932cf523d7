package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
	"github.com/pathwise-net/pathwise/terminal"
)

// owdWatch shows what each way takes, from the first packet on.
type owdWatch struct {
	*terminal.Screen
	target     string
	sent, lost int
	rows       [3]owdRow
	result     *measure.Result
}

// owdRow is one of the ways, or the round trip.
type owdRow struct {
	name   string
	last   float64
	all    stat.Sketch
	recent []float64 // the last pingRecent; NaN: lost
}

func newOWDWatch(screen *terminal.Screen, task measure.Task) *owdWatch {
	return &owdWatch{Screen: screen, target: task.Target, rows: [3]owdRow{{name: measure.Forward}, {name: measure.Reverse}, {name: "round trip"}}}
}

func (w *owdWatch) equip(_ context.Context, _ int, o probe.Options, live *terminal.Live) probe.Options {
	o.Echo = func(e measure.Echo) { live.Change(func() { w.add(e) }) }
	return o
}

func (w *owdWatch) add(e measure.Echo) {
	w.sent++
	if e.RTTSeconds == nil && e.ForwardSeconds == nil && e.ReverseSeconds == nil {
		w.lost++
	}
	for i, v := range []*float64{e.ForwardSeconds, e.ReverseSeconds, e.RTTSeconds} {
		row := &w.rows[i]
		if e.Way != "" && e.Way != row.name {
			continue
		}
		row.last = math.NaN()
		if v != nil {
			row.last = *v
			row.all.Add(*v)
		}
		row.recent = append(row.recent[max(0, len(row.recent)-pingRecent+1):], row.last)
	}
}

func (w *owdWatch) view(int) []string {
	lost := fmt.Sprintf("%d lost", w.lost)
	if w.lost > 0 {
		lost = w.Bad(lost)
	}
	return append(w.table(), w.Faint("measuring "+w.target+"… ")+fmt.Sprintf("%d sent, %s", w.sent, lost))
}

// table has a row for each way, and one for both.
func (w *owdWatch) table() []string {
	head := []string{"", "last", "least", "median", "p95", "most", "recent"}
	for i := range head {
		head[i] = w.Strong(head[i])
	}
	rows := [][]string{head}
	for i := range w.rows {
		r := &w.rows[i]
		row := []string{r.name, "-", "-", "-", "-", "-", ""}
		if r.all.Count() > 0 {
			row[1] = w.Bad("lost")
			if !math.IsNaN(r.last) {
				row[1] = quantity.FormatSeconds(r.last)
			}
			for j, v := range []float64{r.all.Min(), r.all.Median(), r.all.Quantile(0.95), r.all.Max()} {
				row[2+j] = quantity.FormatSeconds(v)
			}
			row[3] = w.Strong(row[3])
			row[6] = w.Accent(chart.Sparkline(r.recent, r.all.Min(), pingRecent, w.ASCII))
		}
		rows = append(rows, row)
	}
	return chart.Table(rows, 0, 6)
}

func (w *owdWatch) finished(_ int, r *measure.Result, _ error) { w.result = r }

func (w *owdWatch) outcome(out io.Writer, _ int) {
	if w.result != nil && len(w.result.Metrics) > 0 {
		k, _ := probe.KindOf("owd")
		k.Text(out, w.result)
	}
}
