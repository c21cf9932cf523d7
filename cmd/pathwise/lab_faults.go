package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab/faults"
	"github.com/pathwise-net/pathwise/lab/topology"
)

func labFaults(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "faults [NAME]", Short: "List the library of faults, or print the case of one", Args: cobra.MaximumNArgs(1),
		Long: "List the faults that Pathwise knows how to play, with the finding that a diagnosis should come to, or print the case\n" +
			"of one: its lab, its steps, its true cause and the condition under which it binds. `pathwise lab run NAME` plays it, and\n" +
			"`pathwise lab up --fault NAME` stands it up and leaves it.",
		Example: "  pathwise lab faults\n  pathwise lab faults random-loss\n  pathwise lab run random-loss",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				text, err := faults.Read(args[0])
				if err != nil {
					return input.Errorf("%w", err)
				}
				doc := map[string]any{"schema": "pathwise.lab.fault/1", "fault": args[0], "yaml": string(text)}
				return s.emit(doc, func(w io.Writer) { _, _ = w.Write(text) })
			}
			return s.listFaults()
		},
	}
}

func (s *session) listFaults() error {
	all := faults.List()
	rows := [][]string{{"fault", "finding", "title"}}
	for i := range all {
		e := &all[i]
		finding := cmp.Or(e.Finding, "-")
		rows = append(rows, []string{e.Name, finding, e.Title})
	}
	doc := map[string]any{"schema": "pathwise.lab.faults/1", "faults": all}
	return s.emit(doc, func(w io.Writer) { printTable(w, rows, 1, 2) })
}

func labTopologies(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "topologies [NAME]", Short: "List the networks to start from, or print the lab file of one", Args: cobra.MaximumNArgs(1),
		Long:    "List the lab files that come with Pathwise, or print one, to be copied and changed.",
		Example: "  pathwise lab topologies\n  pathwise lab topologies dumbbell > mine.yaml\n  pathwise lab up --topology dumbbell",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				text, err := topology.Read(args[0])
				if err != nil {
					return err
				}
				doc := map[string]any{"schema": "pathwise.lab.topology/1", "topology": args[0], "yaml": string(text)}
				return s.emit(doc, func(w io.Writer) { _, _ = w.Write(text) })
			}
			entries := topology.List()
			listed := []map[string]string{}
			for _, e := range entries {
				listed = append(listed, map[string]string{"topology": e.Name, "title": e.Title})
			}
			doc := map[string]any{"schema": "pathwise.lab.topologies/1", "topologies": listed}
			return s.emit(doc, func(w io.Writer) {
				var rows [][]string
				for _, e := range entries {
					rows = append(rows, []string{e.Name, e.Title})
				}
				printTable(w, rows, 1)
			})
		},
	}
}
