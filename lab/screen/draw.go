package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

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
func (m model) View() tea.View {
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
func (m model) lines() []string {
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

func (m model) head() []string {
	t := m.past.last()
	lines := []string{fmt.Sprintf("lab %s, up for %s, emulator late by %s at p99", m.state.Name, quantity.FormatSeconds(t.Seconds),
		quantity.FormatSeconds(t.Emulator.LateP99))}
	if t.Emulator.Bottleneck {
		lines = append(lines, bottleneckMark+": "+t.Emulator.Why)
	}
	return append(lines, "")
}

// about says what the selected link is.
func (m model) about(l int) []string {
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
func (m model) flows(width int) []string {
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
		rate := "-" // a flow of fewer than two packets has none
		if f.RateBitsPerSecond > 0 {
			rate = quantity.FormatRate(f.RateBitsPerSecond)
		}
		lines = append(lines, fmt.Sprintf("  %-*s %11s %9d %8s %8s %8s", wide, clip(f.NameWith(names), wide), rate, f.Packets,
			shareText(f.LossRatio), quantity.FormatSeconds(f.DelaySeconds.Median), quantity.FormatSeconds(f.DelaySeconds.P99)))
	}
	return lines
}

func (m model) foot() []string {
	switch {
	case m.editing:
		l := m.state.Links[m.selected/2]
		return []string{"set " + l.Between[0] + " " + l.Between[1] + " " + m.input + "_",
			"enter set   esc leave   such as forward.loss=1%"}
	case m.help:
		return append([]string{m.message}, keyHelp...)
	}
	return []string{m.message, "up/down select  d/D delay  l/L loss  r/R rate  b/B buffer  x down  ? all  q quit"}
}
