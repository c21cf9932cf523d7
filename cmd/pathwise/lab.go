package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
)

// defaultLab is the name of a lab that nobody named.
const defaultLab = "default"

func labCommand(s *session) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "lab", Short: "Emulate a network on this machine",
		Long: "A lab is hosts (network namespaces), routers and links on this machine, described by a YAML file. It needs no\n" +
			"root where user namespaces are open. docs/lab-file.md has all of what a file may say.",
		Example: "  pathwise lab up path.yaml\n  pathwise lab exec bob -- ping -c 3 carol\n  pathwise lab set london geneva loss=1%\n" +
			"  pathwise lab truth\n  pathwise lab down",
	}
	c.PersistentFlags().StringVar(&name, "name", defaultLab, "which lab, where several run")
	c.AddCommand(labUp(s, &name), labExec(s, &name), labSet(s, &name), labRoute(s, &name), labShow(s, &name), labTruth(s, &name),
		labCapture(s, &name), labDown(s, &name)) // of a lab that runs
	c.AddCommand(labTopologies(s), labFaults(s), labRun(s), labCasebook(s), labRecord(s), labAccuracy(s), labFrom(s), labGateway(s),
		labAct(s), labMeasure(s)) // of none, or one of their own
	return c
}

func labDown(s *session, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "End the lab and everything in it", Args: cobra.NoArgs, Example: "  pathwise lab down",
		RunE: func(*cobra.Command, []string) error {
			if err := (&lab.Lab{Name: *name}).Down(); err != nil {
				return err
			}
			return s.emit(map[string]string{"schema": "pathwise.lab.down/1", "name": *name}, func(io.Writer) {})
		},
	}
}
