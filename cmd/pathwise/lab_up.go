package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
)

func labUp(s *session, name *string) *cobra.Command {
	var device string
	c := &cobra.Command{
		Use: "up FILE", Short: "Stand a lab up and leave it running", Args: cobra.ExactArgs(1),
		Example: "  pathwise lab up path.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return &badCall{fmt.Errorf("lab file: %w", err)}
			}
			spec, err := lab.ParseSpec(args[0], text)
			if err != nil {
				return err
			}
			s.progress("standing up %d hosts…", len(spec.Hosts))
			l, err := lab.Start(c.Context(), spec, lab.Options{Name: *name, Detached: true, Device: lab.DeviceKind(device)})
			s.progress("")
			if err != nil {
				return err
			}
			return s.showLab(l)
		},
	}
	c.Flags().StringVar(&device, "device", "", "what host interfaces are made of: veth or tun (default veth)")
	return c
}
