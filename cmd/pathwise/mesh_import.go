package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/config"
)

// maxTemplate is the largest pSConfig template that is read: those of the largest communities are a few hundred kB.
const maxTemplate = 16 << 20

func meshImport(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "import TEMPLATE", Short: "Turn a perfSONAR pSConfig template into a mesh file", Args: cobra.ExactArgs(1),
		Long: "Print the mesh file that does what a pSConfig template (JSON) asks for; what cannot be carried over is named on\n" +
			"standard error, and as comments.",
		Example: "  pathwise mesh import psconfig.json > mesh.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return &badCall{err}
			}
			defer f.Close()
			text, err := io.ReadAll(io.LimitReader(f, maxTemplate))
			if err != nil {
				return fmt.Errorf("read template: %w", err)
			}
			mesh, notes, err := config.FromPSConfig(text)
			if err != nil {
				return &badCall{fmt.Errorf("%s: %w", args[0], err)}
			}
			for _, n := range notes {
				fmt.Fprintf(s.err, "note: %s\n", n)
			}
			doc := map[string]any{"schema": "pathwise.import/1", "mesh": string(mesh), "notes": notes}
			return s.emit(doc, func(w io.Writer) { _, _ = w.Write(mesh) })
		},
	}
}
