package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/casebook"
	"github.com/pathwise-net/pathwise/lab/faults"
	"github.com/pathwise-net/pathwise/lab/scenario"
	"github.com/pathwise-net/pathwise/quantity"
)

func labRun(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "run CASE.yaml | NAME", Short: "Play a case: a lab, steps in it, and whether all was as expected", Args: cobra.ExactArgs(1),
		Long: "Stand up the lab of a case (a file, or a fault of `pathwise lab faults`), play its steps, say what was seen and give a\n" +
			"verdict: pass, fail, or skip where it cannot be played here. The lab is the case's own and goes when it ends. A case\n" +
			"that fails ends with exit status 1; one that is skipped with 0.",
		Example: "  pathwise lab run random-loss\n  pathwise lab run case.yaml --json",
		RunE: func(c *cobra.Command, args []string) error {
			played, err := readCase(args[0])
			if err != nil {
				return err
			}
			return s.play(c.Context(), played)
		},
	}
}

// readCase reads a case's file, or one of the library or the casebook where the name is no path and there is no such file.
func readCase(path string) (*scenario.Case, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(path, "/.") {
		if text, err = faults.Read(path); err != nil {
			if told, none := casebook.Read(path); none == nil {
				return scenario.Parse(path, told)
			}
			return nil, input.Errorf("%w", err)
		}
		return scenario.Parse(path, text)
	}
	if err != nil {
		return nil, input.Errorf("case file: %w", err)
	}
	return scenario.Parse(path, text)
}

// mostDiagnosis is how many bytes the document of a diagnosis may have: with its samples it has some millions.
const mostDiagnosis = 64 << 20

// play plays a case. What a case that was cut short had seen by then is printed too.
func (s *session) play(ctx context.Context, c *scenario.Case) error {
	var diagnoses []*diagnose.Diagnosis
	var names []string
	measured := func(as string, text []byte) {
		var d diagnose.Diagnosis
		if document.JSON(text, mostDiagnosis, &d) == nil && d.Schema == diagnose.Schema {
			diagnoses, names = append(diagnoses, &d), append(names, as)
		}
	}
	r, err := scenario.Run(ctx, c, scenario.Options{Self: []string{lab.Self()}, Progress: s.progress, Measured: measured})
	s.progress("")
	if r != nil && r.Verdict != "" {
		err = errors.Join(err, s.emit(r, func(w io.Writer) {
			printCase(w, r)
			for i, d := range diagnoses {
				fmt.Fprintf(w, "\nThe diagnosis %q:\n", names[i])
				s.printDiagnosis(w, d)
			}
		}))
	}
	if err == nil && r.Verdict == scenario.Fail {
		return exitStatus(exitFailed) // the report says why
	}
	return err
}

func printCase(w io.Writer, r *scenario.Report) {
	fmt.Fprintf(w, "%s: %s\n", r.Name, r.Title)
	var rows [][]string
	for i, step := range r.Steps {
		outcome := "ok"
		if !step.OK {
			outcome = "FAILED"
		}
		took := quantity.FormatSeconds(step.Seconds)
		rows = append(rows, []string{fmt.Sprintf("%3d", i+1), outcome, took, step.Kind, step.What})
		if step.Seen != "" {
			rows = append(rows, []string{"", "", "", "", "  " + step.Seen})
		}
	}
	printTable(w, rows, 1, 3, 4)
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note: "+note)
	}
	if r.Cause != "" {
		fmt.Fprintln(w, "cause: "+r.Cause)
	}
	verdict := r.Verdict
	if r.Why != "" {
		verdict += ": " + r.Why
	}
	fmt.Fprintf(w, "verdict: %s\n", verdict)
}
