package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/quantity"

	"github.com/pathwise-net/pathwise/config/psconfig"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/terminal"
)

func meshExport(s *session) *cobra.Command {
	var format string
	var wide bool
	q := map[string]*string{}
	c := &cobra.Command{
		Use: "export", Short: "Write results as JSON lines or CSV", Args: cobra.NoArgs,
		Long: "Print the results of the mesh, newest first: whole, one JSON document a line, or one line of CSV a value,\n" +
			"or with --wide one a result. Names are patterns (*), times RFC 3339 or how long ago (-2h).",
		Example: "  pathwise mesh export --from -1h > results.jsonl\n  pathwise mesh export --format csv --wide --source ucl --tool bulk",
	}
	mesh := controllerFlag(c.Flags())
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	c.Flags().BoolVar(&wide, "wide", false, "of csv: a line a result and a column a metric")
	for _, f := range []struct{ name, usage string }{
		{"source", "only from these hosts"}, {"target", "only to these hosts"}, {"tool", "only of these tools"},
		{"test", "only of these tests"},
		{"subject", "only of these interfaces, flows, classes, hops or devices, KIND/NAME; * for all, those of none by default"},
		{"from", "not before"}, {"to", "before"},
	} {
		q[f.name] = c.Flags().String(f.name, "", f.usage)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if !slices.Contains([]string{"jsonl", "csv"}, format) {
			return badFlag("format", fmt.Errorf("%q: want jsonl or csv", format))
		}
		if wide && format != "csv" {
			return badFlag("wide", fmt.Errorf("goes with --format csv, not %s", format))
		}
		for _, flag := range []string{"from", "to"} {
			if _, err := quantity.ParseMoment(*q[flag]); *q[flag] != "" && err != nil {
				return badFlag(flag, fmt.Errorf("%q: %w", *q[flag], err))
			}
		}
		query := url.Values{"format": {format}, "wide": {strconv.FormatBool(wide)}}
		for name, value := range q {
			query.Set(name, *value)
		}
		if !terminal.Is(s.out) { // else the lines themselves show that something happens
			defer s.ticking("exporting")()
		}
		body, err := mesh.call(c.Context(), http.MethodGet, "results", query, nil)
		if err != nil {
			return err
		}
		defer body.Close()
		if _, err := io.Copy(s.out, body); err != nil {
			return fmt.Errorf("export: what was printed is not all: %w", err)
		}
		return nil
	}
	return c
}

func meshBackup(s *session) *cobra.Command {
	var passphraseFile string
	var archiveOnly bool
	c := &cobra.Command{
		Use: "backup FILE", Short: "Write a backup of the controller while it goes on", Args: cobra.ExactArgs(1),
		Long: "Write all that a controller needs to go on elsewhere to a new file: archive, keys, accounts, plan, the mesh file and its\n" +
			"history. `pathwise mesh restore` reads it. Whoever reads it is the controller: encrypt it, or keep it as well as one.",
		Example: "  pathwise mesh backup /backup/mesh.backup --passphrase-file /root/passphrase\n" +
			"  pathwise mesh backup /backup/mesh.jsonl.zst --archive-only",
	}
	c.Flags().StringVar(&passphraseFile, "passphrase-file", "", "the file with the passphrase that encrypts the backup")
	c.Flags().BoolVar(&archiveOnly, "archive-only", false, "without keys, accounts, plan and mesh files; never encrypted")
	mesh := controllerFlag(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		path, err := filepath.Abs(args[0])
		if err != nil {
			return input.Errorf("%w", err)
		}
		passphrase, err := readPassphrase(passphraseFile)
		if err != nil {
			return err
		}
		if passphrase != "" && archiveOnly {
			return input.Errorf("--archive-only: such a backup is not encrypted; leave one of the two out")
		}
		want := map[string]any{"path": path}
		if passphrase != "" {
			want["passphrase"] = passphrase
		}
		if archiveOnly {
			want["archive_only"] = true
		}
		stop := s.ticking("backing up to " + path)
		body, err := mesh.call(c.Context(), http.MethodPost, "backup", nil, want)
		stop()
		if err != nil {
			return err
		}
		defer body.Close()
		doc := map[string]string{"schema": "pathwise.backup/1", "path": path}
		return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, path) })
	}
	return c
}

func meshImport(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "import TEMPLATE", Short: "Turn a perfSONAR pSConfig template into a mesh file", Args: cobra.ExactArgs(1),
		Long: "Print the mesh file that does what a pSConfig template (JSON) asks for; what cannot be carried over is named on\n" +
			"standard error, and in comments at the top of the file.",
		Example: "  pathwise mesh import psconfig.json > mesh.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return input.Errorf("%w", err)
			}
			defer f.Close()
			text, err := io.ReadAll(io.LimitReader(f, psconfig.MaxBytes+1))
			if err != nil {
				return fmt.Errorf("read template: %w", err)
			}
			mesh, notes, err := psconfig.Import(text)
			if err != nil {
				return input.Errorf("%s: %w", args[0], err)
			}
			for _, n := range notes {
				fmt.Fprintf(s.err, "note: %s\n", n)
			}
			doc := map[string]any{"schema": "pathwise.import/1", "mesh": string(mesh), "notes": notes}
			return s.emit(doc, func(w io.Writer) { _, _ = w.Write(mesh) })
		},
	}
}
