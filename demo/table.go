package demo

import (
	"fmt"
	"io"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/quantity"
)

// Print writes a table of rounds, and what was advised in each.
func (c *Case) Print(w io.Writer, rounds []Round) {
	const row = "%-34s %11s %11s %9s  %-22s %11s %11s\n"
	fmt.Fprintf(w, "\n"+row, "fault", "expected", "achieved", "50 MB in", "cause found", "predicted", "reached")
	extrapolated := false
	for _, r := range rounds {
		took := quantity.FormatSeconds(r.TransferSeconds)
		if r.Extrapolated {
			took, extrapolated = took+"*", true
		}
		fmt.Fprintf(w, row, r.Fault, quantity.FormatKnownRate(r.Expected), quantity.FormatRate(r.Achieved), took, r.Verdict,
			quantity.FormatKnownRate(r.Predicted), quantity.FormatKnownRate(r.Reached))
	}
	fmt.Fprintln(w)
	for _, r := range rounds {
		if len(r.Advice) > 0 {
			fmt.Fprintf(w, "%s:\n%s\n", r.Verdict, chart.Fold("advice: "+r.Advice[0], "  ", chart.Width))
		}
	}
	if extrapolated {
		fmt.Fprintf(w, "* worked out from the first %v\n", patience)
	}
}
