package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

func diagnoseCommand(s *session) *cobra.Command {
	var common transferFlags
	var failOn string
	c := &cobra.Command{
		Use: "diagnose HOST[:PORT]", Short: "Say why the path to HOST is slow, and what to change", Args: cobra.ExactArgs(1),
		Long: "Measure the path to HOST, where `pathwise respond` runs: round trips, the route, the narrowest link's capacity and a\n" +
			"transfer each way; then name the cause if it is slow, with its evidence, what to change, and the speed to expect.\n" +
			"An iperf3 server will do at the far end; less can be told then.",
		Example: "  pathwise diagnose carol\n  pathwise diagnose carol -t 5 --cc cubic --json\n  tar c data | pathwise diagnose carol --input -",
		RunE: func(c *cobra.Command, args []string) error {
			config, done, err := common.config(s)
			defer done()
			if err != nil {
				return err
			}
			if err := checkFailOn(failOn); err != nil {
				return err
			}
			host, err := readHost(c, args[0], &common.port)
			if err != nil {
				return err
			}
			family, err := common.over.family("a diagnosis is of one path, and ping, trace and throughput compare the families")
			if err != nil {
				return err
			}
			if err := (&probe.Throughput{Target: host, Port: common.port, Config: config}).Validate(); err != nil {
				return err
			}
			v := survey{session: s, target: host, family: family, port: common.port, transfer: config}
			results, err := v.run(c.Context())
			s.progress("")
			if err != nil && !diagnose.Measured(results) {
				return err // nothing can be said about the path, so nothing is
			}
			d := diagnose.Diagnose(results)
			err = errors.Join(err, s.emit(d, func(w io.Writer) { printDiagnosis(w, d) }))
			if err == nil && isBad(d, failOn) {
				return errBadOutcome
			}
			return err
		},
	}
	common.add(c, "8s")
	addFailOn(c.Flags(), &failOn)
	return c
}

func addFailOn(flags *pflag.FlagSet, severity *string) {
	flags.StringVar(severity, "fail-on", "", "exit with status 3 if there is a finding of this severity: warning or problem")
}

// checkFailOn says whether --fail-on names a severity that makes a path unhealthy.
func checkFailOn(severity string) error {
	if severity != "" && severity != "problem" && severity != "warning" {
		return badFlag("fail-on", fmt.Errorf("%q: want warning or problem", severity))
	}
	return nil
}

func isBad(d *diagnose.Diagnosis, failOn string) bool {
	for _, f := range d.Findings {
		if failOn != "" && (f.Severity == measure.Problem || string(f.Severity) == failOn) {
			return true
		}
	}
	return false
}

// width is where explanations are folded.
const width = 100

func printDiagnosis(w io.Writer, d *diagnose.Diagnosis) {
	fmt.Fprintf(w, "verdict    %s\n", d.Verdict)
	if d.ExpectedBitsPerSecond > 0 {
		fmt.Fprintf(w, "expected   %s\n", quantity.FormatRate(d.ExpectedBitsPerSecond))
	}
	if d.AchievedBitsPerSecond > 0 {
		fmt.Fprintf(w, "achieved   %s\n", quantity.FormatRate(d.AchievedBitsPerSecond))
	}
	for _, f := range d.Findings {
		printFinding(w, &f)
	}
	for _, r := range d.Results {
		printNotes(w, r)
	}
}

func printFinding(w io.Writer, f *measure.Finding) {
	fmt.Fprintf(w, "\n%s: %s (%s; confidence %.0f %%)\n", f.Severity, f.ID, f.Where, 100*f.Confidence)
	fmt.Fprintln(w, fold(f.Explanation, "  "))
	for _, e := range f.Evidence {
		fmt.Fprintf(w, "  - %-28s %-14s %s\n", e.Metric, evidenceValue(e), e.Means)
	}
	for _, a := range f.Advice {
		if a.Command != "" {
			fmt.Fprintf(w, "  > on %s: %s\n%s\n", a.Host, a.Command, fold(a.Why, "      "))
		} else {
			fmt.Fprintf(w, "  > %s:\n%s\n", a.Host, fold(a.Why, "      "))
		}
	}
	if p := f.Predicted; p != nil {
		fmt.Fprintf(w, "  = then expect %s\n%s\n", quantity.FormatRate(p.BitsPerSecond), fold(p.Basis, "      "))
	}
}

func evidenceValue(e measure.Evidence) string {
	switch e.Unit {
	case "ratio":
		return quantity.FormatRatio(e.Value)
	case "bytes":
		return quantity.FormatSize(int64(e.Value))
	case "bit/s":
		return quantity.FormatRate(e.Value)
	case "s":
		return quantity.FormatSeconds(e.Value)
	}
	return fmt.Sprintf("%.6g %s", e.Value, e.Unit)
}

// fold breaks text into indented lines of at most width.
func fold(text, indent string) string {
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
