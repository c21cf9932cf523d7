package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/quantity"
)

// widest is the most that a value takes of a line of the table; the rest stands in --json.
const widest = 44

// printHost writes an audit: what it is of, a table for each area, and below it what is not as it should be. Quiet leaves out all that is,
// and what the audit is of.
func printHost(w io.Writer, r *host.Report, s *session) {
	if !s.quiet {
		fmt.Fprintf(w, "host       %s, Linux %s\n", r.Host, r.Kernel)
		if r.Interface != "" {
			fmt.Fprintf(w, "way        %s\n", strings.TrimSpace(r.Interface+" from "+cmp.Or(addressText(r), "no address")))
		}
		fmt.Fprintf(w, "rate       %s (%s)\n", quantity.FormatRate(r.Rate), r.RateFrom)
		fmt.Fprintf(w, "round trip %s (%s)\n", quantity.FormatSeconds(r.RTTSeconds), r.RTTFrom)
	}
	fmt.Fprintf(w, "verdict    %s: %s\n", r.Verdict, r.Summary())
	if what := r.Assumes(); what != "" && !s.quiet {
		fmt.Fprintf(w, "           for a %s that is assumed: --rate and --rtt say it, --to HOST finds it out\n", what)
	}
	for from := 0; from < len(r.Checks); {
		to := from
		for to < len(r.Checks) && r.Checks[to].Area == r.Checks[from].Area {
			to++
		}
		printArea(w, r.Checks[from:to], s)
		from = to
	}
	if s.verbose > 0 {
		for _, m := range r.Missing {
			fmt.Fprintln(w, "note:", m)
		}
	}
}

func addressText(r *host.Report) string {
	if !r.Source.IsValid() {
		return ""
	}
	return r.Source.String()
}

func printArea(w io.Writer, checks []host.Check, s *session) {
	rows := [][]string{{string(checks[0].Area), "", "value", "needed"}}
	var bad []host.Check
	for _, c := range checks {
		wrong := c.Status == host.Problem || c.Status == host.Warning
		if wrong {
			bad = append(bad, c)
		}
		if wrong || !s.quiet && c.Status == host.OK || s.verbose > 0 {
			rows = append(rows, []string{strings.TrimSpace(c.ID + " " + c.Subject), string(c.Status), s.screen().Clipped(c.Value, widest), s.screen().Clipped(c.Needed, widest)})
		}
	}
	if len(rows) == 1 {
		return
	}
	fmt.Fprintln(w)
	printTable(w, rows, 1, 2, 3)
	for _, c := range bad {
		printCheck(w, c)
	}
}

// printCheck says of what is wrong why that matters, by which formula, and what to do.
func printCheck(w io.Writer, c host.Check) {
	fmt.Fprintf(w, "\n%s: %s\n", c.Status, strings.TrimSpace(c.ID+" "+c.Subject))
	fmt.Fprintln(w, chart.Fold(c.Why, "  ", chart.Width))
	if c.Formula != "" {
		fmt.Fprintln(w, chart.Fold("formula: "+c.Formula+" ("+c.Source+")", "  ", chart.Width))
	}
	if c.Configured != "" {
		fmt.Fprintf(w, "  configured: %s in %s\n", c.Configured, c.File)
	}
	if c.Command != "" {
		fmt.Fprintf(w, "  > %s\n", c.Command)
	}
	if c.Keep != "" {
		fmt.Fprintf(w, "  > to make it stay: %s\n", c.Keep)
	}
}
