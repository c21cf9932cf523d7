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

// Fitted is Table in at most width columns: while it is wider, columns are left out, in the order of spare. It may be wider without all of
// those.
func Fitted(rows [][]string, width int, spare []int, left ...int) []string {
	lines := Table(rows, left...)
	for len(spare) > 0 && slices.ContainsFunc(lines, func(line string) bool { return ansi.StringWidth(line) > width }) {
		out := spare[0]
		rows, spare, left = without(rows, out), shifted(spare[1:], out), shifted(left, out)
		lines = Table(rows, left...)
	}
	return lines
}

// without is rows without a column.
func without(rows [][]string, column int) [][]string {
	fewer := slices.Clone(rows)
	for i, row := range fewer {
		if column < len(row) {
			fewer[i] = slices.Delete(slices.Clone(row), column, column+1)
		}
	}
	return fewer
}

// shifted are columns by their numbers once another is left out.
func shifted(columns []int, out int) (after []int) {
	for _, c := range columns {
		switch {
		case c < out:
			after = append(after, c)
		case c > out:
			after = append(after, c-1)
		}
	}
	return after
}
