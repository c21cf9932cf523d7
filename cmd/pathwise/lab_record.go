package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/faults"
	"github.com/pathwise-net/pathwise/lab/scenario"
)

func labRecord(s *session) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "record [CASE.yaml | NAME]...", Short: "Keep the Results of a diagnosis of each fault",
		Long: "Play each case (a file, or a fault of `pathwise lab faults`; without any, all of these) up to where it says that the fault\n" +
			"can be diagnosed, diagnose it there, and write the Results into DIR/NAME.json.gz. Rules can be tried on them without a lab.",
		Example: "  pathwise lab record random-loss --dir recordings",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, one := range faults.List() {
					args = append(args, one.Name)
				}
			}
			var cases []*scenario.Case
			for _, name := range args {
				one, err := readCase(name)
				if err != nil {
					return err
				}
				cases = append(cases, one)
			}
			if err := os.MkdirAll(dir, 0o777); err != nil { // before minutes of diagnoses
				return badFlag("dir", err)
			}
			return s.record(c.Context(), cases, dir)
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "folder that is written to")
	return c
}

// record records each case; one that fails keeps no other from it.
func (s *session) record(ctx context.Context, cases []*scenario.Case, dir string) error {
	var failed []error
	for _, one := range cases {
		switch verdict, err := recordCase(ctx, one, scenario.Options{Self: []string{lab.Self()}, Progress: s.progress}, dir); {
		case ctx.Err() != nil:
			return err
		case err != nil:
			failed = append(failed, fmt.Errorf("record %s: %w", one.Name, err))
		default:
			s.progress("")
			fmt.Fprintf(s.out, "%-26s %s\n", one.Name, verdict)
		}
	}
	s.progress("")
	return errors.Join(failed...)
}

// recordCase plays a case up to its diagnosis, writes the Results, and returns what the diagnosis said of them, or why there is none.
func recordCase(ctx context.Context, c *scenario.Case, o scenario.Options, dir string) (verdict string, err error) {
	o.Diagnosed = func(text []byte) error {
		var d diagnose.Diagnosis
		if err := document.JSON(text, diagnose.MostBytes, &d); err != nil {
			return fmt.Errorf("read diagnosis: %w", err)
		}
		verdict = d.Verdict
		recording := diagnose.Recording{Schema: diagnose.RecordingSchema, Fault: c.Name, Finding: c.Finding, Family: c.Family}
		recording.Record(&d)
		if err := document.WritePacked(filepath.Join(dir, c.Name+".json.gz"), &recording); err != nil {
			return fmt.Errorf("write recording: %w", err)
		}
		return nil
	}
	r, err := scenario.Run(ctx, c, o)
	switch {
	case err != nil:
		return "", err
	case r.Verdict == scenario.Fail:
		return "", errors.New(r.Why)
	case r.Verdict == scenario.Skip:
		return "skipped: " + r.Why, nil
	case verdict == "":
		return "no diagnosis of its path shows it", nil
	}
	return verdict, nil
}
