package export

import (
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// help is the HELP text of a metric: what it means, or, of a program that is not ours, what it is called.
func help(m measure.Metric) string {
	if d, ours := m.Definition(); ours {
		return d.Help
	}
	unit := m.Unit()
	text := "Measured by a tool of the site: " + strings.ReplaceAll(strings.TrimSuffix(string(m), "_"+unit), "_", " ")
	if unit == "count" {
		return text + "."
	}
	return text + ", in " + strings.ReplaceAll(unit, "_", " ") + "."
}
