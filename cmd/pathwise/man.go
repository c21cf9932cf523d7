package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes manual pages for who installs the program; who uses it reads them with man.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write a manual page of every command", Hidden: true, Args: cobra.ExactArgs(1),
		Long: "Write a manual page of every command to a folder, in section 1. `make install` puts them where man finds them. The date in\n" +
			"them is that of SOURCE_DATE_EPOCH, where it is set.",
		Example: "  pathwise man /usr/local/share/man/man1",
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("create folder: %w", err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Pathwise", Manual: "Pathwise"}, args[0]); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			return nil
		},
	}
}
