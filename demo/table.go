package demo

import (
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/quantity"
)

// The columns of the table, of a terminal of 80.
const (
	tableWidth = 79
	faultWidth = 24
)

// Print writes a table of rounds, with the cause that was found in each, and what was advised.
func (c *Case) Print(w io.Writer, rounds []Round) {
	const row = "%-*s %9s %12s %12s %12s\n"
	fmt.Fprintf(w, "\n"+row, faultWidth, "fault", "50 MB in", "achieved", "predicted", "reached")
	extrapolated := false
	for _, r := range rounds {
		took := quantity.FormatSeconds(r.TransferSeconds)
		if r.Extrapolated {
			took, extrapolated = took+"*", true
		}
		name, rest, folded := strings.Cut(chart.Fold(r.Fault, "", faultWidth), "\n")
		fmt.Fprintf(w, row, faultWidth, name, took, quantity.FormatRate(r.Achieved), quantity.FormatKnownRate(r.Predicted), quantity.FormatKnownRate(r.Reached))
		if folded {
			fmt.Fprintln(w, rest)
		}
		found := r.Verdict
		if r.Expected > 0 {
			found += "; the path carries " + quantity.FormatRate(r.Expected)
		}
		explain(w, "found", found)
		if len(r.Advice) > 0 {
			explain(w, "advice", r.Advice[0])
		}
	}
	if extrapolated {
		fmt.Fprintf(w, "* worked out from the first %v\n", patience)
	}
}

// explain writes a line of a round, or several, behind its name.
func explain(w io.Writer, name, text string) {
	const indent = "          "
	fmt.Fprintf(w, "  %-8s%s\n", name, strings.TrimPrefix(chart.Fold(text, indent, tableWidth), indent))
}
