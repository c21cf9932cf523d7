package chart

import "strings"

// Width is where explanations of many words end: terminals are mostly wider than that.
const Width = 100

// Fold breaks a text between words into lines of at most width, each after the indent.
func Fold(text, indent string, width int) string {
	var lines []string
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width && line != indent {
			lines = append(lines, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
