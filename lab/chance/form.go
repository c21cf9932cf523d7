package chance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// mapping collects the entries of a YAML mapping in flow style.
type mapping []string

// add appends an entry if it is set; value is anything that prints as the lab file has it.
func (m *mapping) add(key string, value any, set bool) {
	if set {
		*m = append(*m, fmt.Sprintf("%s: %v", key, value))
	}
}

func (m mapping) String() string { return "{" + strings.Join(m, ", ") + "}" }

// decimal prints a number without an exponent.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// checkRatio refuses what is no ratio, NaN included, which only a program or JSON can set.
func checkRatio(key string, r notation.Ratio) error {
	if r >= 0 && r <= 1 {
		return nil
	}
	return document.Errorf("%s: %v: want a ratio from 0 to 1, or 0%% to 100%%", key, float64(r))
}

// checkCorrelation refuses 1 as well: then the first packet would decide for all.
func checkCorrelation(r notation.Ratio) error {
	if r >= 0 && r < 1 {
		return nil
	}
	return document.Errorf("correlation: %v: want a ratio from 0 to less than 1, such as 25%%", float64(r))
}

func checkSpan(key string, s notation.Span) error {
	if s >= 0 && s <= longest {
		return nil
	}
	return document.Errorf("%s: %v: want a time of at most a year (8760h)", key, s)
}

func checkDelay(key string, d notation.Delay) error {
	if d >= 0 && d <= notation.Delay(notation.MaxDelay) {
		return nil
	}
	return document.Errorf("%s: %v: want a time of at most 1h", key, d)
}

// list prints a YAML list in flow style.
func list[T fmt.Stringer](entries []T) string {
	var texts []string
	for _, e := range entries {
		texts = append(texts, e.String())
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
