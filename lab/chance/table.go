package chance

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// ReadTable reads measured values into a Table: a number of milliseconds on each line, in any order. Blank lines are
// skipped. Errors are *document.Error with the line; the caller adds the file's name.
func ReadTable(r io.Reader) ([]notation.Delay, error) {
	const most = float64(notation.MaxDelay) / 1e6
	var table []notation.Delay
	lines := bufio.NewScanner(r)
	for line := 1; lines.Scan() && len(table) <= maxTable; line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= most) {
			return nil, &document.Error{Line: line, Column: 1, Problem: fmt.Sprintf("%.40q: want milliseconds, 0 to %.0f", text, most)}
		}
		table = append(table, notation.Delay(math.Round(v*1e6)))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	if n := len(table); n < 2 || n > maxTable {
		return nil, document.Errorf("%d values; want 2 to %d, one a line", n, maxTable)
	}
	slices.Sort(table)
	return table, nil
}
