package screen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/quantity"
)

// column is one of the table of directions. Where the terminal is narrow those of the highest rank go first.
type column struct {
	title string
	width int
	rank  int
	cell  func(l *lab.LinkTruth, shape link.Shape, p passing) string
}

var allColumns = []column{
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
	columns := slices.Clone(allColumns)
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
func (m model) directions(width int) []string {
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

// shapeOf reads the shape of a direction.
func (m *model) shapeOf(direction int) (shape link.Shape) {
	l := m.state.Links[direction/2]
	text := l.Forward.Shape
	if direction%2 == 1 {
		text = l.Reverse.Shape
	}
	if text != "" {
		_ = notation.Unmarshal([]byte(text), &shape) // what a shape prints it reads; if not, it shows as none
	}
	return shape
}
