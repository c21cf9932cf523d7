package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/stat"
	"github.com/pathwise-net/pathwise/terminal"
)

// The size of what is drawn of pings.
const (
	pingBins   = 8    // rows of the histogram: with lines of replies above it on a terminal of 24
	pingRecent = 20   // letters of a target's sparkline, beside its figures on a terminal of 80
	pingKept   = 5000 // round trips that are drawn, the latest: their median takes less than a millisecond to find
	barWidth   = 60   // columns of a histogram, on whatever terminal: longer bars say no more
)

// slowReply times the median so far is a round trip worth a look.
const slowReply = 2

// pingWatch shows a line for each reply of one target with a histogram below, or a table of several targets.
type pingWatch struct {
	*terminal.Screen
	targets []*pingTarget
}

// pingTarget is what is known of one target so far.
type pingTarget struct {
	name       string
	over       sock.Family // that it is measured over; "": what its addresses allow
	sent, lost int
	rtts       []float64 // the latest, in order; NaN: lost
	usual      float64   // their median when it was drawn last; 0: it was not
	why        string    // it could not be measured; "": it could
	result     *measure.Result
}

func newPingWatch(screen *terminal.Screen, tasks []measure.Task) *pingWatch {
	p := &pingWatch{Screen: screen}
	for _, task := range tasks {
		t := &pingTarget{name: task.Target}
		if family, named := task.Parameters["family"].(string); named {
			t.over = sock.Family(family)
		}
		p.targets = append(p.targets, t)
	}
	return p
}

func (p *pingWatch) equip(_ context.Context, i int, o probe.Options, live *terminal.Live) probe.Options {
	o.Echo = func(e measure.Echo) {
		line := ""
		live.Change(func() { line = p.line(p.targets[i], e); p.targets[i].add(e) })
		if len(p.targets) == 1 {
			live.Print(line)
		}
	}
	return o
}

// add takes the fate of a request into account.
func (t *pingTarget) add(e measure.Echo) {
	t.sent++
	rtt := math.NaN()
	if e.RTTSeconds != nil {
		rtt = *e.RTTSeconds
	} else {
		t.lost++
	}
	t.rtts = append(t.rtts[max(0, len(t.rtts)-pingKept+1):], rtt)
}

// answered are the round trips that are known, the shortest first.
func (t *pingTarget) answered() []float64 {
	known := slices.DeleteFunc(slices.Clone(t.rtts), math.IsNaN)
	slices.Sort(known)
	return known
}

// line is a reply as it is told on the way: lost ones and slow ones stand out.
func (p *pingWatch) line(t *pingTarget, e measure.Echo) string {
	text := probe.EchoLine(e)
	switch {
	case e.RTTSeconds == nil:
		return p.Bad(text)
	case t.usual > 0 && *e.RTTSeconds > slowReply*t.usual:
		return p.Warn(text)
	}
	return text
}

func (p *pingWatch) view(columns int) []string {
	if len(p.targets) > 1 {
		return p.table()
	}
	t := p.targets[0]
	if t.sent == 0 {
		return []string{p.Faint("pinging " + t.name + "…")}
	}
	known := t.answered()
	now := fmt.Sprintf("%s: %d sent, %s", t.name, t.sent, p.lossText(t))
	if len(known) > 0 {
		t.usual = stat.Median(known)
		now += ", median " + p.Strong(quantity.FormatSeconds(t.usual))
	}
	return append(append([]string{""}, p.histogram(known, columns)...), now)
}

func (p *pingWatch) lossText(t *pingTarget) string {
	text := fmt.Sprintf("%d lost", t.lost)
	if t.lost > 0 {
		return p.Bad(text)
	}
	return text
}

func (p *pingWatch) histogram(rtts []float64, columns int) []string {
	h := chart.Histogram{Values: rtts, Text: limitText, Bar: p.Accent, ASCII: p.ASCII}
	return h.Draw(min(columns, barWidth), pingBins)
}

// limitText is a limit of a range of round trips, in as many digits as tell it from those that are a step away.
func limitText(seconds, step float64) string {
	text := quantity.FormatSeconds(seconds)
	digits, unit, _ := strings.Cut(text, " ")
	scale := map[string]float64{"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}[unit]
	if seconds == 0 || scale == 0 {
		return text
	}
	_, decimals, _ := strings.Cut(digits, ".")
	if needed := int(math.Ceil(-math.Log10(step/scale) - 1e-9)); needed > len(decimals) {
		return strconv.FormatFloat(seconds/scale, 'f', needed, 64) + " " + unit
	}
	return text
}

// table has a row for each target.
func (p *pingWatch) table() []string {
	var rows []pingFigures
	for _, t := range p.targets {
		row := pingFigures{name: p.Clipped(t.name, maxHostShown-p.overWidth()) + p.overText(t), sent: t.sent, lost: t.lost, why: t.why,
			latest: t.rtts[max(0, len(t.rtts)-pingRecent):]}
		if known := t.answered(); len(known) > 0 {
			row.best, row.median, row.worst = known[0], stat.Median(known), known[len(known)-1]
		}
		rows = append(rows, row)
	}
	return pingTable(p.Screen, rows)
}

// pingFigures are those of a target in a table.
type pingFigures struct {
	name                string
	sent, lost          int
	best, median, worst float64   // s; 0: none was answered
	latest              []float64 // round trips, at most pingRecent of them; NaN: lost
	why                 string    // it could not be measured; "": it could
}

// pingTable has a row for each target.
func pingTable(screen *terminal.Screen, all []pingFigures) []string {
	head := []string{"host", "sent", "lost", "last", "best", "median", "worst", "recent"}
	for i := range head {
		head[i] = screen.Strong(head[i])
	}
	rows := [][]string{head}
	for _, t := range all {
		row := []string{t.name, fmt.Sprint(t.sent), fmt.Sprint(t.lost), "-", "-", "-", "-", ""}
		if t.lost > 0 {
			row[2] = screen.Bad(row[2])
		}
		if t.best > 0 {
			row[3] = screen.Bad("lost")
			if last := t.latest[len(t.latest)-1]; !math.IsNaN(last) {
				row[3] = quantity.FormatSeconds(last)
			}
			row[4], row[6] = quantity.FormatSeconds(t.best), quantity.FormatSeconds(t.worst)
			row[5] = screen.Strong(quantity.FormatSeconds(t.median))
			row[7] = screen.Accent(chart.Sparkline(t.latest, t.best, pingRecent, screen.ASCII))
		}
		if t.why != "" {
			row[7] = screen.Bad(t.why)
		}
		rows = append(rows, row)
	}
	return chart.Table(rows, 7)
}

// maxHostShown is how much of a host's name a table has: with it, one of figures fits 80 columns.
const maxHostShown = 16

func (p *pingWatch) finished(i int, r *measure.Result, err error) {
	p.targets[i].result = r
	if err != nil && p.targets[i].sent == 0 { // else it was ended, and what came before is shown
		p.targets[i].why = "not measured"
	}
	if input.Bad(err) {
		p.targets[i].result = nil
	}
}

func (p *pingWatch) outcome(w io.Writer, columns int) {
	if len(p.targets) > 1 {
		fmt.Fprintln(w, strings.Join(p.table(), "\n"))
	} else if lines := p.histogram(p.targets[0].answered(), columns); len(lines) > 0 {
		fmt.Fprintln(w, "\n"+strings.Join(lines, "\n"))
	}
	fmt.Fprintln(w)
	for _, t := range p.targets {
		if t.result != nil && len(t.result.Metrics) > 0 {
			fmt.Fprintln(w, chart.Fold(pingSentence(t.result), "", columns-1))
		}
	}
	for i := 0; p.compares() && i+1 < len(p.targets); i += 2 {
		fmt.Fprintln(w, comparison(p.targets[i], p.targets[i+1]))
	}
}

// leastOfP95 is how many round trips are told with a 95th percentile, which of fewer is the largest.
const leastOfP95 = 20

// pingSentence says what came of a ping.
func pingSentence(r *measure.Result) string {
	m := r.Metrics
	sent, received := int(m[measure.SentPackets]), int(m[measure.ReceivedPackets])
	who := r.Target.Name
	if r.Target.Address != "" && r.Target.Address != who {
		who += " (" + r.Target.Address + ")"
	}
	if received == 0 {
		return fmt.Sprintf("%s answered none of %d.", who, sent)
	}
	text := fmt.Sprintf("%s answered all %d.", who, sent)
	if received < sent {
		low, high := stat.Wilson(sent-received, sent)
		text = fmt.Sprintf("%s answered %d of %d: %s %% lost (%s to %s %%, at 95 %%).", who, received, sent,
			twoDigits(float64(sent-received)/float64(sent)), twoDigits(low), twoDigits(high))
	}
	for _, extra := range []struct {
		metric measure.Metric
		what   string
	}{{measure.DuplicatePackets, "came twice"}, {measure.ReorderedPackets, "came out of order"}} {
		if n := m[extra.metric]; n > 0 {
			text += fmt.Sprintf(" %.0f %s.", n, extra.what)
		}
	}
	text += fmt.Sprintf(" A round trip took %s as a rule, %s at best; ", quantity.FormatSeconds(m[measure.RTTMedian]), quantity.FormatSeconds(m[measure.RTTMin]))
	if received >= leastOfP95 {
		text += fmt.Sprintf("95 %% took up to %s, ", quantity.FormatSeconds(m[measure.RTTP95]))
	}
	return text + "the slowest " + quantity.FormatSeconds(m[measure.RTTMax]) + "."
}

// twoDigits is a ratio in percent, without the sign: more digits some dozens of packets do not deserve.
func twoDigits(ratio float64) string {
	if ratio >= 0.995 {
		return "100"
	}
	return strconv.FormatFloat(100*ratio, 'g', 2, 64)
}
