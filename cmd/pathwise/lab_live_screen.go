package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/quantity"
)

// Terminal attributes (ECMA-48 SGR) and what stands for a terminal that has not said how large it is.
const (
	inverse, alarm, plain = "\x1b[7m", "\x1b[1;31m", "\x1b[m"
	usualWidth            = 120
	usualHeight           = 40
)

// View draws the screen: the lines, with the selected one and warnings made to stand out.
func (m liveModel) View() tea.View {
	lines := m.lines()
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, selectedMark):
			lines[i] = inverse + line + plain
		case strings.HasPrefix(line, bottleneckMark):
			lines[i] = alarm + line + plain
		}
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	return v
}

const (
	selectedMark   = "> "
	bottleneckMark = "The emulator was the bottleneck"
)

// lines is the screen as plain text, no wider and no longer than the terminal:
//
//	lab, for how long, what of the emulator
//	a table of directions, around the selected one
//	what the selected link is
//	a table of flows, as many as there is room for
//	the last change or the line being edited; the keys
func (m liveModel) lines() []string {
	width, height := m.width, m.height
	if width == 0 || height == 0 {
		width, height = usualWidth, usualHeight
	}
	if m.state == nil {
		return []string{"asking the lab…"}
	}
	head, foot := m.head(), append([]string{""}, m.foot()...)
	var selected []string
	if len(m.state.Links) > 0 {
		selected = m.about(m.selected / 2)
	}
	directions := m.directions(width)
	room := height - len(head) - len(selected) - len(foot)
	flows := m.flows(width)
	table := around(directions, m.selected, max(2, min(len(directions), room-min(len(flows), 4))))
	lines := slices.Concat(head, table, selected)
	lines = append(lines, flows[:min(len(flows), max(0, height-len(lines)-len(foot)))]...)
	lines = append(lines, foot...)
	for i, line := range lines {
		lines[i] = clip(line, width)
	}
	return lines[:min(len(lines), height)]
}

// clip cuts a line at the terminal's edge.
func clip(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width])
}

func (m liveModel) head() []string {
	t := m.past.last()
	lines := []string{fmt.Sprintf("lab %s, up for %s, emulator late by %s at p99", m.state.Name, quantity.FormatSeconds(t.Seconds),
		quantity.FormatSeconds(t.Emulator.LateP99))}
	if t.Emulator.Bottleneck {
		lines = append(lines, bottleneckMark+": "+t.Emulator.Why)
	}
	return append(lines, "")
}

// column is one of the table of directions. Where the terminal is narrow those of the highest rank go first.
type column struct {
	title string
	width int
	rank  int
	cell  func(l *lab.LinkTruth, shape link.Shape, p passing) string
}

var liveColumns = []column{
	{"rate", 11, 2, func(_ *lab.LinkTruth, s link.Shape, _ passing) string { return rateText(s) }},
	{"now", 11, 0, func(_ *lab.LinkTruth, _ link.Shape, p passing) string { return quantity.FormatRate(p.bits) }},
	{"load", 8, 4, func(_ *lab.LinkTruth, s link.Shape, p passing) string { return bar(p.load, s.Rate != nil) }},
	{"packets/s", 9, 0, func(_ *lab.LinkTruth, _ link.Shape, p passing) string { return fmt.Sprintf("%.0f", p.packets) }},
	{"queue/max", 11, 0, func(l *lab.LinkTruth, _ link.Shape, _ passing) string {
		return fmt.Sprintf("%d/%d", l.Queue.Packets, l.Queue.MaxPackets)
	}},
	{"loss 5s", 8, 0, func(_ *lab.LinkTruth, _ link.Shape, p passing) string { return shareText(p.lossNow) }},
	{"in all", 8, 1, func(_ *lab.LinkTruth, _ link.Shape, p passing) string { return shareText(p.lossAll) }},
	{"delay", 8, 0, func(l *lab.LinkTruth, _ link.Shape, _ passing) string {
		return quantity.FormatSeconds(l.DelaySeconds.Median)
	}},
	{"late p99", 8, 3, func(l *lab.LinkTruth, _ link.Shape, _ passing) string {
		return quantity.FormatSeconds(l.EmulatorLateSeconds)
	}},
}

// shareText prints a share in eight places at most.
func shareText(share float64) string {
	figures := 3
	if share < 1e-5 {
		figures = 1 // and an exponent
	}
	return strconv.FormatFloat(100*share, 'g', figures, 64) + " %"
}

func rateText(s link.Shape) string {
	switch {
	case s.Down != nil && bool(*s.Down):
		return "down"
	case s.Rate != nil:
		return quantity.FormatRate(float64(*s.Rate))
	case s.Trace != nil:
		return "trace"
	}
	return "no limit"
}

// bar draws a share in eight places.
func bar(share float64, known bool) string {
	const places = 8
	if !known {
		return strings.Repeat(" ", places)
	}
	full := int(min(share, 1)*places + 0.5)
	return strings.Repeat("#", full) + strings.Repeat(".", places-full)
}

// columnsFor leaves out what a terminal has no room for beside names of a width.
func columnsFor(width, names int) []column {
	columns := slices.Clone(liveColumns)
	for {
		total, least := len(selectedMark)+names, -1
		for i, c := range columns {
			total += 1 + c.width
			if c.rank > 0 && (least < 0 || c.rank > columns[least].rank) {
				least = i
			}
		}
		if total <= width || least < 0 {
			return columns
		}
		columns = slices.Delete(columns, least, least+1)
	}
}

// directions is the table: a heading, and a line for each direction.
func (m liveModel) directions(width int) []string {
	t := m.past.last()
	names := make([]string, len(t.Links))
	longest, least := len("direction"), 0
	for _, c := range columnsFor(0, 0) { // those that no terminal is too narrow for
		least += 1 + c.width
	}
	// A name is worth more than a column, up to 28 places, which leave room for all columns in 120.
	most := min(28, max(16, width-len(selectedMark)-least))
	for i := range t.Links {
		from, to := t.Links[i].Ends()
		names[i] = clip(from+" > "+to, most)
		longest = max(longest, len(names[i]))
	}
	columns := columnsFor(width, longest)
	heading := fmt.Sprintf("  %-*s", longest, "direction")
	for _, c := range columns {
		heading += fmt.Sprintf(" %*s", c.width, c.title)
	}
	lines := []string{heading}
	for i := range t.Links {
		mark := "  "
		if i == m.selected {
			mark = selectedMark
		}
		line := mark + fmt.Sprintf("%-*s", longest, names[i])
		shape := m.shapeOf(i)
		p := m.past.now(i, shape)
		for _, c := range columns {
			line += fmt.Sprintf(" %*s", c.width, c.cell(&t.Links[i], shape, p))
		}
		lines = append(lines, line)
	}
	return lines
}

// around keeps the heading of a table and the lines about the selected one, size lines in all.
func around(table []string, selected, size int) []string {
	if size >= len(table) {
		return table
	}
	rows := size - 1
	from := min(max(0, selected-rows/2), len(table)-1-rows)
	return slices.Concat(table[:1], table[1+from:1+from+rows])
}

// about says what the selected link is.
func (m liveModel) about(l int) []string {
	s := m.state.Links[l]
	keys := "keys change " + s.Between[m.selected%2] + " > " + s.Between[1-m.selected%2]
	if m.both {
		keys = "keys change both ways"
	}
	return []string{"",
		fmt.Sprintf("link %s - %s: %s", s.Between[0], s.Between[1], keys),
		"  forward " + s.Forward.String(), "  reverse " + s.Reverse.String()}
}

// flows is the table of flows that sent packets lately, the fastest first.
func (m liveModel) flows(width int) []string {
	t, names := m.past.last(), m.state.NodeNames()
	flows := slices.Clone(t.Flows)
	slices.SortStableFunc(flows, func(a, b record.FlowTruth) int { return cmp.Compare(b.RateBitsPerSecond, a.RateBitsPerSecond) })
	if len(flows) == 0 {
		return []string{"", fmt.Sprintf("no packets in the last %v", flowSpan)}
	}
	const numbers = 11 + 1 + 9 + 3*(1+8)
	wide := min(40, max(16, width-len(selectedMark)-1-numbers))
	lines := []string{"", fmt.Sprintf("  %-*s %11s %9s %8s %8s %8s", wide, fmt.Sprintf("flow, last %v", flowSpan), "rate", "packets",
		"loss", "median", "p99")}
	for i := range flows {
		f := &flows[i]
		lines = append(lines, fmt.Sprintf("  %-*s %11s %9d %8s %8s %8s", wide, clip(f.NameWith(names), wide),
			rateOrDash(f.RateBitsPerSecond), f.Packets, shareText(f.LossRatio),
			quantity.FormatSeconds(f.DelaySeconds.Median), quantity.FormatSeconds(f.DelaySeconds.P99)))
	}
	return lines
}

func (m liveModel) foot() []string {
	switch {
	case m.editing:
		l := m.state.Links[m.selected/2]
		return []string{"set " + l.Between[0] + " " + l.Between[1] + " " + m.input + "_",
			"enter set   esc leave   such as forward.loss=1%"}
	case m.help:
		return append([]string{m.message}, liveKeys...)
	}
	return []string{m.message, "up/down select  d/D delay  l/L loss  r/R rate  b/B buffer  x down  ? all  q quit"}
}
