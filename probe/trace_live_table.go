package probe

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
)

// LiveTable says how what rounds of a trace came to is laid out: the columns of mtr, under mtr's names. Times are in milliseconds.
type LiveTable struct {
	Display LiveDisplay
	Who     func(address string) string // how an address is shown; nil: as it is
	Width   int                         // of the sparklines; 0: there are none
	ASCII   bool
	Below   func(address string) string // what stands in a line below one; nil, or "": there is none
}

// LiveDisplay is which figures stand beside the loss.
type LiveDisplay int

// The displays, which take turns at a key: of round trips, of how they differ from one to the next, and the latest of them as a drawing.
const (
	LiveFigures LiveDisplay = iota
	LiveJitter
	LiveRecent
	LiveDisplays // how many there are
)

// liveColumn is a figure of a hop; a nil value: there is none.
type liveColumn struct {
	title string
	value func(*measure.HopRounds) *float64
}

var (
	liveLast    = liveColumn{"Last", func(r *measure.HopRounds) *float64 { return r.Last }}
	liveColumns = map[LiveDisplay][]liveColumn{
		LiveFigures: {liveLast, {"Avg", func(r *measure.HopRounds) *float64 { return r.Mean }}, {"Best", func(r *measure.HopRounds) *float64 { return r.Best }},
			{"Wrst", func(r *measure.HopRounds) *float64 { return r.Worst }}, {"StDev", func(r *measure.HopRounds) *float64 { return r.Stddev }}},
		LiveJitter: {liveLast, {"Jttr", func(r *measure.HopRounds) *float64 { return r.JitterLast }}, {"Javg", func(r *measure.HopRounds) *float64 { return r.JitterMean }},
			{"Jmax", func(r *measure.HopRounds) *float64 { return r.JitterWorst }}, {"Jint", func(r *measure.HopRounds) *float64 { return r.JitterSmoothed }}},
		LiveRecent: {liveLast},
	}
)

// LiveLossColumn is the column of Rows that has the loss of a hop.
const LiveLossColumn = 2

// Rows are a heading and a row for each hop, with further rows for others that answer there. Hops and rounds are of the same TTLs.
func (t LiveTable) Rows(hops []measure.Hop, rounds []measure.HopRounds) [][]string {
	heading := []string{"hop", "host", "Loss%", "Snt"}
	for _, c := range liveColumns[t.Display] {
		heading = append(heading, c.title)
	}
	rows := [][]string{append(heading, "")}
	for i := range rounds {
		r := &rounds[i]
		ttl := fmt.Sprintf("%3d", r.TTL)
		if len(r.Routers) == 0 {
			rows = append(rows, t.row(ttl, r, t.beside(hops, i))...)
			continue
		}
		for k := range r.Routers {
			one := &r.Routers[k]
			rows = append(rows, t.row(ttl, &one.HopRounds, t.tells(hops, one.Told, one.Share))...)
			ttl = ""
		}
	}
	return rows
}

// row is a row of figures, with further rows for others that answer.
func (t LiveTable) row(ttl string, r *measure.HopRounds, beside string) (rows [][]string) {
	row := []string{ttl, "-", fmt.Sprintf("%.1f", 100*r.LossRatio), fmt.Sprint(r.Sent)}
	if len(r.From) > 0 {
		row[1] = t.who(r.From[0].Address)
	}
	for _, c := range liveColumns[t.Display] {
		row = append(row, milliseconds(c.value(r)))
	}
	rows = append(rows, append(row, beside))
	for _, other := range r.From[min(1, len(r.From)):] {
		also := make([]string, len(row)+1)
		also[1], also[3] = "  "+t.who(other.Address), fmt.Sprint(other.Packets)
		rows = append(rows, also)
	}
	return rows
}

// LiveFigureRows are what Rows has rows of figures of: each hop, or each router of one that flows pass at several.
func LiveFigureRows(rounds []measure.HopRounds) (rows []*measure.HopRounds) {
	for i := range rounds {
		r := &rounds[i]
		if len(r.Routers) == 0 {
			rows = append(rows, r)
		}
		for k := range r.Routers {
			rows = append(rows, &r.Routers[k].HopRounds)
		}
	}
	return rows
}

// Lay lays out what Rows returned of rounds, with the lines that stand below.
func (t LiveTable) Lay(rows [][]string, rounds []measure.HopRounds) (lines []string) {
	laid := chart.Table(rows, 1, len(rows[0])-1)
	lines, laid = append(lines, laid[0]), laid[1:]
	for _, r := range LiveFigureRows(rounds) {
		from := r.From
		for n := range max(1, len(from)) {
			lines, laid = append(lines, laid[0]), laid[1:]
			if t.Below == nil || n >= len(from) {
				continue
			}
			if text := t.Below(from[n].Address); text != "" {
				lines = append(lines, "     "+text)
			}
		}
	}
	return lines
}

func (t LiveTable) who(address string) string {
	if t.Who == nil {
		return address
	}
	return t.Who(address)
}

// beside is what stands behind the figures of a hop: its latest round trips, and what it told that the one before did not.
func (t LiveTable) beside(hops []measure.Hop, i int) string {
	if i >= len(hops) { // of a Result that was made elsewhere
		return ""
	}
	h := hops[i]
	if i > 0 {
		h = onlyNew(h, hops[i-1])
	}
	return t.tells(hops, h, 0)
}

// tells are the latest round trips of a hop, or of a router at it, in as much room as those of all hops take, what share of flows pass it, and what it told.
func (t LiveTable) tells(hops []measure.Hop, h measure.Hop, share float64) string {
	var parts []string
	if t.Width > 0 {
		longest := 0
		for i := range hops {
			longest = max(longest, len(hops[i].RTTSeconds))
		}
		parts = append(parts, fmt.Sprintf("%-*s", min(t.Width, longest), t.sparkline(h.RTTSeconds)))
	}
	if share > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% of flows", 100*share))
	}
	h.ReturnHops = 0 // which is of a trace by itself
	if h.Annotation != "" {
		parts = append(parts, h.Annotation)
	}
	return strings.Join(append(parts, HopTells(h)...), " ")
}

// sparkline draws the latest round trips.
func (t LiveTable) sparkline(trips []*float64) string {
	var recent []float64
	for _, v := range trips[max(0, len(trips)-t.Width):] {
		if v == nil {
			recent = append(recent, math.NaN())
		} else {
			recent = append(recent, *v)
		}
	}
	return chart.Sparkline(recent, 0, t.Width, t.ASCII)
}

// milliseconds prints a time as mtr does, in more digits where it is short.
func milliseconds(seconds *float64) string {
	switch {
	case seconds == nil:
		return "-"
	case *seconds < 0.1:
		return fmt.Sprintf("%.2f", 1e3**seconds)
	}
	return fmt.Sprintf("%.1f", 1e3**seconds)
}

// roundsText writes what rounds came to.
func roundsText(w io.Writer, r *measure.Result) {
	known := map[string]string{}
	for _, a := range r.Samples.Addresses {
		known[a.Address] = KnownText(a)
	}
	t := LiveTable{Below: func(address string) string { return known[address] }}
	for _, line := range t.Lay(t.Rows(r.Samples.Hops, r.Samples.Rounds.Hops), r.Samples.Rounds.Hops) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, r.Samples.Rounds.Loss.Verdict)
	if r.Samples.Paths != nil {
		fmt.Fprintln(w, graphOf(r.Samples.Paths).Summary()+".")
	}
}
