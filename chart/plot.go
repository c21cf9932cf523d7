package chart

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Plot is lines over two axes with numbers.
type Plot struct {
	X, Y   Scale
	Lines  []Line // the first is drawn above the others
	Mark   Point  // drawn as an O
	Marked string // what the mark is of, for the legend
}

// Scale says what one direction of a plot means. One that is not logarithmic has its zero, as lengths are compared.
type Scale struct {
	Label string
	Log   bool
	Text  func(v float64) string // a value of the axis
}

// Line is points by rising x that are joined by straight lines on the axes.
type Line struct {
	Label  string
	Points []Point
}

// Point is x and y.
type Point [2]float64

// strokes are what lines are made of, in their order.
const strokes = "*+x"

// around is how many lines of text there are beside curves and legend: the label of y, the axis and its numbers.
const around = 3

// Draw returns the plot as lines of text, height of them and each of at most width columns. Its first is the label of y, its last ones
// are the legend, which takes as many as it needs. Lines are drawn in ASCII.
func (p Plot) Draw(width, height int) []string {
	x, y := p.reach(0, p.X.Log), p.reach(1, p.Y.Log)
	high, low := p.Y.Text(y.to), p.Y.Text(y.from)
	left := max(utf8.RuneCountInString(high), utf8.RuneCountInString(low))
	legend := p.legend(left+2, width)
	g := newGrid(width-left-2, height-around-len(legend))
	for i := len(p.Lines) - 1; i >= 0; i-- {
		points := p.Lines[i].Points
		for n, at := range points {
			g.segment(x, y, points[max(0, n-1)], at, strokes[i%len(strokes)])
		}
	}
	g.segment(x, y, p.Mark, p.Mark, 'O')
	lines := []string{cut(strings.Repeat(" ", left+2)+p.Y.Label, width)}
	for row, text := range g {
		name := ""
		switch row {
		case 0:
			name = high
		case len(g) - 1:
			name = low
		}
		lines = append(lines, strings.TrimRight(padLeft(name, left)+" |"+string(text), " "))
	}
	lines = append(lines, strings.Repeat(" ", left+1)+"+"+strings.Repeat("-", len(g[0])), strings.Repeat(" ", left+2)+p.numbers(x, len(g[0])))
	return append(lines, legend...)
}

// numbers is the line below the x axis: its ends, and its label between them.
func (p Plot) numbers(x reach, columns int) string {
	from, to := p.X.Text(x.from), p.X.Text(x.to)
	room := columns - utf8.RuneCountInString(from) - utf8.RuneCountInString(to) - 2
	label := cut(p.X.Label, max(0, room))
	before := (room - utf8.RuneCountInString(label)) / 2
	return from + " " + padRight(strings.Repeat(" ", max(0, before))+label, room) + " " + to
}

// legend says what each stroke is, with as many of them in a line of text as it has room for after the indent.
func (p Plot) legend(indent, width int) []string {
	var lines []string
	line := ""
	add := func(part string) {
		if line != "" && indent+utf8.RuneCountInString(line)+2+utf8.RuneCountInString(part) > width {
			lines = append(lines, line)
			line = ""
		}
		if line == "" {
			line = cut(part, max(0, width-indent))
			return
		}
		line += "  " + part
	}
	for i, l := range p.Lines {
		add(string(strokes[i%len(strokes)]) + " " + l.Label)
	}
	add("O " + p.Marked)
	lines = append(lines, line)
	for i := range lines {
		lines[i] = strings.Repeat(" ", indent) + lines[i]
	}
	return lines
}

// reach is what one axis covers.
type reach struct {
	from, to float64
	log      bool
}

// reach is the least reach of an axis that has all points of the plot.
func (p Plot) reach(axis int, log bool) reach {
	r := reach{math.Inf(1), math.Inf(-1), log}
	if !log {
		r.from = 0
	}
	add := func(at Point) {
		if v := at[axis]; !log || v > 0 {
			r.from, r.to = min(r.from, v), max(r.to, v)
		}
	}
	add(p.Mark)
	for _, l := range p.Lines {
		for _, at := range l.Points {
			add(at)
		}
	}
	if !(r.to > r.from) { // nothing to tell apart
		r.to = r.from + 1
	}
	return r
}

// place is where a value lies on an axis of so many cells; false: nowhere.
func (r reach) place(v float64, cells int) (float64, bool) {
	share := (v - r.from) / (r.to - r.from)
	if r.log {
		share = math.Log(v/r.from) / math.Log(r.to/r.from)
	}
	return share * float64(cells-1), !math.IsNaN(share) && !math.IsInf(share, 0)
}

// grid is rows of cells, the highest first.
type grid [][]byte

func newGrid(columns, rows int) grid {
	g := make(grid, max(rows, 1))
	for i := range g {
		g[i] = []byte(strings.Repeat(" ", max(columns, 1)))
	}
	return g
}

// segment draws a straight line.
func (g grid) segment(x, y reach, from, to Point, stroke byte) {
	var ends [2]Point // in cells
	for i, at := range []Point{from, to} {
		column, there := x.place(at[0], len(g[0]))
		row, also := y.place(at[1], len(g))
		if !there || !also {
			return
		}
		ends[i] = Point{column, row}
	}
	steps := 2*int(max(math.Abs(ends[1][0]-ends[0][0]), math.Abs(ends[1][1]-ends[0][1]))) + 1
	for i := range steps + 1 {
		share := float64(i) / float64(steps)
		column := int(math.Round(ends[0][0] + share*(ends[1][0]-ends[0][0])))
		row := len(g) - 1 - int(math.Round(ends[0][1]+share*(ends[1][1]-ends[0][1])))
		if row >= 0 && row < len(g) && column >= 0 && column < len(g[0]) {
			g[row][column] = stroke
		}
	}
}

// cut is at most so many letters of a text.
func cut(text string, width int) string {
	letters := []rune(text)
	return string(letters[:min(len(letters), width)])
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}

func padRight(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
