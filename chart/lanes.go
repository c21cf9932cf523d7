// Package chart draws for the terminal: lanes, one for each host, with time to the right, lines over two axes, and paragraphs of text.
//
// It draws what it is given to a writer, from its arguments alone. It plans nothing, measures nothing, and does not ask
// what terminal there is: the caller says how wide it is, and whether it knows more than ASCII.
package chart

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Lane is one host's line.
type Lane struct {
	Name   string
	Blocks []Block // in any order
}

// Block is one run, as its host sees it.
type Block struct {
	Start, End time.Time
	Tool       string
	Exclusive  bool // drawn as the letter of its tool for as long as it takes; others as a dot where they begin
	Target     bool // this host is its target: a small letter; its source has a capital
}

// Window is what of the lanes is drawn, and how.
type Window struct {
	From, Until time.Time      // Until after From
	Width       int            // columns of the whole drawing; below MinWidth: MinWidth
	ASCII       bool           // use nothing beyond ASCII
	Location    *time.Location // of the times above the lanes; nil: UTC
}

// MinWidth is the narrowest drawing that still shows something beside names and frame.
const MinWidth = 40

// maxName is how much of a name is shown: the column of names takes no more than half of the narrowest drawing.
const maxName = 16

// signs are what a drawing is made of besides letters.
type signs struct {
	frame, light, lights, several, cut string
}

var (
	unicodeSigns = signs{frame: "│", light: "·", lights: ":", several: "▒", cut: "…"}
	asciiSigns   = signs{frame: "|", light: ".", lights: ":", several: "#", cut: "~"}
)

// Lanes draws one line a lane below a line of times, and a legend. A column is a stretch of time; one in which a lane
// has several exclusive runs of different tools shows that, one with several of one tool shows the tool.
func Lanes(w io.Writer, lanes []Lane, win Window) error {
	if !win.Until.After(win.From) {
		return fmt.Errorf("draw lanes: until %v is not after from %v", win.Until, win.From)
	}
	s := unicodeSigns
	if win.ASCII {
		s = asciiSigns
	}
	name := 0
	for _, l := range lanes {
		name = max(name, min(maxName, utf8.RuneCountInString(l.Name)))
	}
	columns := max(win.Width, MinWidth) - name - 3 // a space and two frames
	letters := assign(lanes)
	if win.ASCII {
		lanes = slices.Clone(lanes)
		for i := range lanes {
			lanes[i].Name = ascii(lanes[i].Name)
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%*s  %s\n", name, "", axis(win, columns))
	seen := shown{tools: map[string]bool{}}
	for _, l := range lanes {
		fmt.Fprintf(out, "%s %s%s%s\n", pad(l.Name, name, s.cut), s.frame, line(l, win, columns, letters, s, &seen), s.frame)
	}
	legend(out, letters, s, &seen)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("draw lanes: %w", err)
	}
	return nil
}

// assign gives each tool that runs alone a letter: the first of its name that is free, or else of the alphabet. With
// more tools than letters the rest share '?'.
func assign(lanes []Lane) map[string]rune {
	var tools []string
	for _, l := range lanes {
		for _, b := range l.Blocks {
			if b.Exclusive {
				tools = append(tools, b.Tool)
			}
		}
	}
	slices.Sort(tools)
	letters, taken := map[string]rune{}, map[rune]bool{}
	for _, tool := range slices.Compact(tools) {
		letters[tool] = '?'
		for _, r := range strings.ToLower(tool) + "abcdefghijklmnopqrstuvwxyz" {
			if r < utf8.RuneSelf && unicode.IsLetter(r) && !taken[r] {
				letters[tool], taken[r] = r, true
				break
			}
		}
	}
	return letters
}

// column is what falls into one column of a lane.
type column struct {
	tool    string // exclusive; "" if there is none
	target  bool
	several bool // exclusive tools
	lights  int
}

// shown is what a drawing holds, for its legend.
type shown struct {
	tools                  map[string]bool
	light, lights, several bool
}

// line draws a lane, and notes what it needed for that.
func line(l Lane, win Window, columns int, letters map[string]rune, s signs, seen *shown) string {
	cells := make([]column, columns)
	for _, b := range l.Blocks {
		first, last := place(b, win, columns)
		for i := max(first, 0); i <= min(last, columns-1); i++ {
			cells[i].add(b)
		}
	}
	var text strings.Builder
	for _, c := range cells {
		text.WriteString(c.sign(letters, s, seen))
	}
	return text.String()
}

// place is the first and the last column of a block: outside of the drawing if it is.
func place(b Block, win Window, columns int) (first, last int) {
	scale := float64(columns) / float64(win.Until.Sub(win.From))
	if !b.Start.Before(win.Until) || b.Exclusive && !b.End.After(win.From) || !b.Exclusive && b.Start.Before(win.From) {
		return 0, -1
	}
	first = int(float64(b.Start.Sub(win.From)) * scale)
	if !b.Exclusive {
		return first, first
	}
	last = int(float64(b.End.Sub(win.From)-1) * scale)
	return first, max(first, last)
}

func (c *column) add(b Block) {
	switch {
	case !b.Exclusive:
		c.lights++
	case c.tool == "":
		c.tool, c.target = b.Tool, b.Target
	case c.tool != b.Tool:
		c.several = true
	}
}

// sign is how the column is drawn.
func (c *column) sign(letters map[string]rune, s signs, seen *shown) string {
	switch {
	case c.several:
		seen.several = true
		return s.several
	case c.tool != "":
		seen.tools[c.tool] = true
		if c.target {
			return string(letters[c.tool])
		}
		return string(unicode.ToUpper(letters[c.tool]))
	case c.lights > 1:
		seen.lights = true
		return s.lights
	case c.lights == 1:
		seen.light = true
		return s.light
	}
	return " "
}

// pad makes a name as wide as the column of names.
func pad(name string, width int, cut string) string {
	runes := []rune(name)
	if len(runes) > width {
		return string(runes[:width-1]) + cut
	}
	return name + strings.Repeat(" ", width-len(runes))
}

// ascii puts a question mark for what ASCII does not have.
func ascii(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, name)
}

// legend says what the signs mean that were drawn.
func legend(out io.Writer, letters map[string]rune, s signs, seen *shown) {
	var parts []string
	for tool := range seen.tools {
		r := letters[tool]
		parts = append(parts, fmt.Sprintf("%c%c %s", unicode.ToUpper(r), r, tool))
	}
	slices.Sort(parts)
	if len(parts) > 0 {
		parts[0] = "alone (source, target): " + parts[0]
	}
	for _, p := range []struct {
		there bool
		text  string
	}{
		{seen.several, s.several + " several tools"}, {seen.light, s.light + " light run begins"},
		{seen.lights, s.lights + " several light runs"},
	} {
		if p.there {
			parts = append(parts, p.text)
		}
	}
	if len(parts) > 0 {
		fmt.Fprintln(out, strings.Join(parts, "   "))
	}
}
