package probe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// The size of the drawing of a sweep.
const (
	sweepWidth  = 72
	sweepHeight = 18
)

// sweepLine is a run as it is told on the way: the last of runs.
func sweepLine(axes []sweepAxis, values []any, runs []sweepRun) string {
	last := runs[len(runs)-1]
	var at []string
	for i, a := range axes {
		at = append(at, a.name+" "+a.format(values[i]))
	}
	figures, failures := sweepOutcome(runs, last.point)
	came := quantity.FormatRate(last.value)
	if last.failure != "" {
		came = "failed: " + last.failure
	}
	return fmt.Sprintf("%-28s  run %d  %14s", strings.Join(at, "  "), len(figures)+failures, came)
}

// sweepText writes a sweep as a table and a drawing.
func sweepText(w io.Writer, s *measure.Sweep) {
	fmt.Fprintln(w, strings.Join(chart.Table(sweepTable(s)), "\n"))
	if lines := sweepDrawing(s); len(lines) > 0 {
		fmt.Fprintln(w, "\n"+strings.Join(lines, "\n"))
	}
	fmt.Fprintf(w, "\n%s, in an order drawn by the seed %d: %s\n", quantity.FormatCount(len(s.Order), "run"), s.Seed, sweepEnd(s))
}

// sweepEnd says how the sweep ended.
func sweepEnd(s *measure.Sweep) string {
	narrow := 0
	for _, p := range s.Points {
		if p.Narrow {
			narrow++
		}
	}
	known := fmt.Sprintf("%d of %s known within %.3g %%", narrow, quantity.FormatCount(len(s.Points), "point"), 100*s.Within)
	switch s.Ended {
	case measure.SweepBudget:
		return known + " when its time was spent"
	case measure.SweepBroken:
		return known + " when it was ended"
	}
	return known
}

// sweepTable has a row for each point. What no point has is left out.
func sweepTable(s *measure.Sweep) [][]string {
	has := func(m measure.Metric) bool {
		return slices.ContainsFunc(s.Points, func(p measure.SweepPoint) bool { _, there := p.Metrics[m]; return there })
	}
	windows := slices.ContainsFunc(s.Parameters, func(p measure.SweepParameter) bool { return p.Name == "window" }) &&
		slices.ContainsFunc(s.Points, func(p measure.SweepPoint) bool { return p.Window != nil })
	loss, resent := has(measure.LossRatio), has(measure.Retransmits)
	var heading []string
	for _, p := range s.Parameters {
		heading = append(heading, p.Name)
	}
	add := func(row []string, when bool, cells ...string) []string {
		if when {
			return append(row, cells...)
		}
		return row
	}
	heading = add(heading, windows, "usable", "allows")
	heading = append(heading, "runs", "mean", "low", "high")
	heading = add(add(heading, loss, "lost"), resent, "resent")
	rows := [][]string{heading}
	for _, p := range s.Points {
		row := sweepNames(s, p)
		usable, allows := "-", "-"
		if p.Window != nil {
			usable, allows = sizeText(p.Window.UsableBytes), quantity.FormatRate(p.Window.AllowsBitsPerSecond)
		}
		row = add(row, windows, usable, allows)
		if p.N == 0 {
			rows = append(rows, append(row, "0", "failed: "+p.Failure))
			continue
		}
		row = append(row, fmt.Sprint(p.N), quantity.Format(p.Mean, s.Unit), quantity.Format(p.Low, s.Unit), quantity.Format(p.High, s.Unit))
		row = add(row, loss, quantity.FormatRatio(p.Metrics[measure.LossRatio]))
		rows = append(rows, add(row, resent, fmt.Sprintf("%.0f", p.Metrics[measure.Retransmits])))
	}
	return rows
}

// sweepNames are the values of a point as people read them.
func sweepNames(s *measure.Sweep, p measure.SweepPoint) (names []string) {
	for i, v := range p.Values {
		names = append(names, sweepName(s.Parameters[i], v))
	}
	return names
}

func sweepName(p measure.SweepParameter, v any) string {
	if at := slices.IndexFunc(sweepSorts, func(sort sweepSort) bool { return sort.name == p.Name }); at >= 0 {
		return sweepSorts[at].format(v)
	}
	return fmt.Sprint(v)
}

// sweepDrawing draws the means over the last parameter that has numbers, a line for each value of the other; of words bars.
func sweepDrawing(s *measure.Sweep) []string {
	over := -1
	for i, p := range s.Parameters {
		if p.Unit != "" {
			over = i
		}
	}
	var best *measure.SweepPoint
	for i, p := range s.Points {
		if p.N > 0 && (best == nil || p.Mean > best.Mean) {
			best = &s.Points[i]
		}
	}
	switch {
	case best == nil:
		return nil
	case over < 0:
		return sweepBars(s, best.Mean)
	}
	x := s.Parameters[over]
	plot := chart.Plot{
		X: chart.Scale{Label: x.Name, Log: true, Text: func(v float64) string { return sweepName(x, v) }},
		Y: chart.Scale{Label: "throughput", Text: quantity.FormatRate}, Lines: sweepLines(s, over),
		Mark: chart.Point{best.Values[over].(float64), best.Mean}, Marked: "the highest",
	}
	if len(s.Parameters) == 1 {
		if allows := sweepAllows(s, best.Mean); len(allows) > 1 {
			plot.Lines = append(plot.Lines, chart.Line{Label: "usable window in a round trip", Points: allows})
		}
	}
	return plot.Draw(sweepWidth, sweepHeight)
}

// sweepLines are the means over a parameter, a line for each value of the other one, in the order of the parameter.
func sweepLines(s *measure.Sweep, over int) (lines []chart.Line) {
	for _, p := range s.Points {
		if p.N == 0 {
			continue
		}
		label := "mean"
		if len(p.Values) == 2 {
			label = s.Parameters[1-over].Name + " " + sweepName(s.Parameters[1-over], p.Values[1-over])
		}
		at := slices.IndexFunc(lines, func(l chart.Line) bool { return l.Label == label })
		if at < 0 {
			at, lines = len(lines), append(lines, chart.Line{Label: label})
		}
		lines[at].Points = append(lines[at].Points, chart.Point{p.Values[over].(float64), p.Mean})
	}
	for _, l := range lines {
		slices.SortFunc(l.Points, byFirst)
	}
	return lines
}

// byFirst orders points by where they are on the horizontal axis: a list of values may be in any order.
func byFirst(a, b chart.Point) int { return cmp.Compare(a[0], b[0]) }

// sweepAllows is what windows allow, where that is not far above what came.
func sweepAllows(s *measure.Sweep, best float64) (points []chart.Point) {
	const near = 1.2 // beyond it the line would press the others together
	for _, p := range s.Points {
		if v, is := p.Values[0].(float64); is && p.Window != nil && s.Parameters[0].Name == "window" && p.Window.AllowsBitsPerSecond <= near*best {
			points = append(points, chart.Point{v, p.Window.AllowsBitsPerSecond})
		}
	}
	slices.SortFunc(points, byFirst)
	return points
}

// sweepBars is a bar for each point.
func sweepBars(s *measure.Sweep, most float64) (lines []string) {
	const room = 40 // of the longest bar, which leaves some for names
	rows := [][]string{{"", ""}}
	for _, p := range s.Points {
		bar := 0
		if p.N > 0 && most > 0 {
			bar = int(room*p.Mean/most + 0.5)
		}
		rows = append(rows, []string{strings.Join(sweepNames(s, p), "  "), strings.Repeat("#", bar)})
	}
	return chart.Table(rows, 1)[1:]
}
