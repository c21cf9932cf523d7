package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab/workload"
)

// labAct is what the hosts of a lab run where the fault is in a program. It is hidden since only cases are meant to use it.
func labAct(s *session) *cobra.Command {
	var roles []string
	for _, r := range workload.Roles() {
		roles = append(roles, "  "+r.Name+strings.Repeat(" ", max(0, 9-len(r.Name)))+r.Summary)
	}
	return &cobra.Command{
		Use: "act ROLE [ARGUMENTS]", Short: "Be an application that uses the network badly, or well, to order", Hidden: true,
		Long: "Play an application until it is done or told to end, and print what it did as one JSON document. Roles:\n\n" +
			strings.Join(roles, "\n"),
		Example:            "  pathwise lab exec carol -- pathwise lab act sink",
		DisableFlagParsing: true, // a role has flags of its own
		Args:               cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "-h" || args[0] == "--help" {
				return c.Help()
			}
			return workload.Run(c.Context(), args[0], args[1:], s.out)
		},
	}
}
