package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/archive"
)

func meshRestore(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE ARCHIVE", Short: "Read a backup into a new archive", Args: cobra.ExactArgs(2),
		Long: "Read what `pathwise mesh backup` wrote into a new archive: the file of one, or postgres://… It is how an archive\n" +
			"moves from one kind to the other, too.",
		Example: "  pathwise mesh restore mesh.jsonl.zst /var/lib/pathwise/archive.sqlite\n" +
			"  pathwise mesh restore mesh.jsonl.zst postgres://pathwise@db.example.org/pathwise",
		RunE: func(c *cobra.Command, args []string) error {
			store, err := archive.Open(c.Context(), args[1], archive.Options{Log: s.serverLog()})
			if err != nil {
				return err
			}
			defer store.Close()
			if err := store.Restore(c.Context(), args[0]); err != nil {
				return err
			}
			doc := map[string]any{"schema": "pathwise.restore/1", "streams": store.Stats().Streams}
			return s.emit(doc, func(w io.Writer) { fmt.Fprintf(w, "restored %d streams\n", store.Stats().Streams) })
		},
	}
}
