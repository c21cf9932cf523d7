package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// fitted prints what print writes; on a terminal in lines that fit it.
func (s *session) fitted(print func(w io.Writer)) {
	if !s.live() {
		print(s.out)
		return
	}
	var text bytes.Buffer
	print(&text)
	_, _ = io.WriteString(s.out, folded(text.String(), s.screen().Width())) // out remembers what could not be written
}

// folded is a text whose lines have at most so many columns: what is longer goes on below, under the last column of text of its line. Words are
// not cut, and colours take no room.
func folded(text string, columns int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		plain := []rune(ansi.Strip(line))
		hang := hanging(string(plain), columns)
		for len(plain) > columns {
			at := breakAt(plain, hang, columns)
			if at == len(plain) {
				break
			}
			lines = append(lines, strings.TrimRight(ansi.Truncate(line, at, ""), " "))
			indent := strings.Repeat(" ", hang)
			line = indent + ansi.TruncateLeft(line, at+1, "")
			plain = append([]rune(indent), plain[at+1:]...)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// breakAt is where a line breaks: at the last space that leaves it so many columns at most, or else at the first one; its length where it has
// none behind what hangs.
func breakAt(line []rune, hang, columns int) int {
	for at := columns; at > hang; at-- {
		if line[at] == ' ' {
			return at
		}
	}
	for at := columns + 1; at < len(line); at++ {
		if line[at] == ' ' {
			return at
		}
	}
	return len(line)
}

var columnStart = regexp.MustCompile(`(?:^ *|\S {2,})\S`)

// hanging is where the last column of text in a line begins, at most at 3/5 of the width, so that there is room for words.
func hanging(line string, columns int) (hang int) {
	for _, at := range columnStart.FindAllStringIndex(line, -1) {
		if start := len([]rune(line[:at[1]])) - 1; start <= columns*3/5 {
			hang = start
		}
	}
	return hang
}
