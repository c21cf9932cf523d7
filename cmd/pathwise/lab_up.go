package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/topology"
)

func labUp(s *session, name *string) *cobra.Command {
	var device, start string
	c := &cobra.Command{
		Use: "up FILE | --topology NAME", Short: "Stand a lab up and leave it running", Args: cobra.MaximumNArgs(1),
		Long: "Stand up the lab that a file describes, or one of those that come with Pathwise (`pathwise lab topologies`), and\n" +
			"leave it running until `pathwise lab down`.",
		Example: "  pathwise lab up path.yaml\n  pathwise lab up --topology dumbbell",
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := readLab(args, start)
			if err != nil {
				return err
			}
			if err := lab.DeviceKind(device).Validate(); err != nil {
				return badFlag("device", err)
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
	c.Flags().StringVar(&start, "topology", "", "a network that comes with Pathwise, by name")
	c.Flags().StringVar(&device, "device", "", "what host interfaces are made of: veth or tun (default veth)")
	return c
}

// readLab reads the lab file that a call names, or the one of a topology.
func readLab(files []string, name string) (*lab.Spec, error) {
	switch {
	case len(files) == 1 && name != "":
		return nil, badFlag("topology", fmt.Errorf("%q: beside the file %s; want one of the two", name, files[0]))
	case len(files) == 0 && name == "":
		return nil, input.Errorf("lab file: none; want FILE or --topology NAME")
	case name != "":
		text, err := topology.Read(name)
		if err != nil {
			return nil, badFlag("topology", err)
		}
		return lab.ParseSpec(name, text)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return nil, input.Errorf("lab file: %w", err)
	}
	return lab.ParseSpec(files[0], text)
}
