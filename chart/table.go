package chart

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Table is rows, the first of which is the heading, as lines of columns two spaces apart. The first column and those in left stand at
// the left, numbers at the right. Cells may be coloured: what takes no room on a terminal takes none here.
func Table(rows [][]string, left ...int) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	lines := []string{}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if i == 0 || slices.Contains(left, i) {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}
