package main

import (
	_ "embed"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// licences are those of the modules in this binary. TestLicences says when they are not, and writes them anew.
//
//go:embed licences.txt
var licences string

func versionCommand(s *session) *cobra.Command {
	var showLicences bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version of this binary, or the licences of what is in it", Args: cobra.NoArgs,
		Example: "  pathwise version\n  pathwise version --licences",
		RunE: func(*cobra.Command, []string) error {
			doc := map[string]string{"schema": "pathwise.version/1", "version": version()}
			if showLicences {
				doc["licences"] = licences
				return s.emit(doc, func(w io.Writer) { fmt.Fprint(w, licences) })
			}
			return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, "pathwise", version()) })
		},
	}
	c.Flags().BoolVar(&showLicences, "licences", false, "print the licences of the modules in this binary, and of Go")
	return c
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
