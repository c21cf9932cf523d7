package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/twin"
	"github.com/pathwise-net/pathwise/measure"
)

func labFrom(s *session) *cobra.Command {
	var path string
	var check bool
	c := &cobra.Command{
		Use: "from RESULT.json…", Short: "Write the lab file that a measured path looks like", Args: cobra.MinimumNArgs(1),
		Long: "Make the twin of a path out of what --json of ping, trace, throughput or diagnose printed, all of one path: a lab file\n" +
			"whose comments say what was measured and what is assumed. --check stands the twin up, repeats the measurements on it\n" +
			"and compares, in place of printing the file; it ends with exit status 1 if the twin differs by more than it may.",
		Example: "  pathwise ping 127.0.0.1 -c 3 -i 0.1 --json > ping.json\n  pathwise lab from ping.json -o twin.yaml --check\n" +
			"  pathwise lab up twin.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			t, err := readTwin(args)
			if err != nil {
				return err
			}
			if path != "" {
				if err := os.WriteFile(path, t.YAML(), 0o666); err != nil {
					return badFlag("output", err)
				}
			}
			if check {
				return s.checkTwin(c.Context(), t, path)
			}
			return s.emit(twinDocument(t, path, nil), func(w io.Writer) {
				if path == "" {
					_, _ = w.Write(t.YAML())
				}
			})
		},
	}
	c.Flags().StringVarP(&path, "output", "o", "", "write the lab file here instead of to standard output")
	c.Flags().BoolVar(&check, "check", false, "measure the twin and compare it with the results that it was made from")
	return c
}

func readTwin(paths []string) (*twin.Twin, error) {
	var results []*measure.Result
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, input.Errorf("result file: %w", err)
		}
		read, err := twin.Read(path, text)
		if err != nil {
			return nil, err
		}
		results = append(results, read...)
	}
	t, err := twin.FromResults(results)
	if errors.Is(err, twin.ErrNothing) {
		return nil, input.Errorf("%w", err)
	}
	return t, err
}

func (s *session) checkTwin(ctx context.Context, t *twin.Twin, path string) error {
	report, err := twin.Check(ctx, t, twin.Options{Self: []string{lab.Self()}, Progress: s.progress})
	s.progress("")
	if err != nil {
		return err
	}
	if err := s.emit(twinDocument(t, path, report), func(w io.Writer) { _ = report.Print(w) }); err != nil {
		return err
	}
	if !report.OK {
		return exitStatus(exitFailed) // the table says where
	}
	return nil
}

func twinDocument(t *twin.Twin, path string, check *twin.Report) map[string]any {
	doc := map[string]any{"schema": "pathwise.lab.from/1", "yaml": string(t.YAML())}
	if path != "" {
		doc["file"] = path
	}
	if check != nil {
		doc["check"] = check
	}
	return doc
}
