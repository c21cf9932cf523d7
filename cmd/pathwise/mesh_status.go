package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/web"
)

func meshStatus(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Who is there, what runs, and what was missed and why", Args: cobra.NoArgs,
		Example: "  pathwise mesh status\n  pathwise mesh status --json",
	}
	mesh := controllerFlag(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		var status web.Status
		if err := mesh.get(c.Context(), "status", nil, &status); err != nil {
			return err
		}
		return s.emit(status, func(w io.Writer) { printStatus(w, &status, time.Now()) })
	}
	return c
}

func printStatus(w io.Writer, status *web.Status, now time.Time) {
	rows := [][]string{{"host", "state", "reached", "heard", "running", "waiting results", "version", "clock"}}
	for _, h := range status.Hosts {
		rows = append(rows, hostRow(h, now))
	}
	printTable(w, rows, 1, 2, 6, 7)
	for _, h := range status.Hosts {
		if h.Status == nil {
			continue
		}
		for _, lack := range h.Status.Lacks {
			fmt.Fprintf(w, "%s cannot: %s: %s\n", h.Name, lack.What, lack.Why)
		}
	}
	fmt.Fprintf(w, "\nplan %d until %s: %d runs, %d results awaited, %d tests on demand\n", status.Plan,
		status.Until.Format(time.TimeOnly), status.Runs, status.Awaited, status.OnDemand)
	for _, warning := range status.Warnings {
		fmt.Fprintln(w, "note: "+warning)
	}
	if status.Trouble != "" {
		fmt.Fprintf(w, "note: the mesh file as it stands is not in force: %s\n", status.Trouble)
	}
	for _, m := range status.Missed {
		fmt.Fprintf(w, "missed %s %s from %s to %s: %s\n", m.Start.Format(time.DateTime), m.Tool, m.Source, m.Target, m.Why)
	}
}

func hostRow(h control.Host, now time.Time) []string {
	row := []string{h.Name, string(h.State), h.Reach, "-", "-", "-", "-", "-"}
	if h.Heard != nil {
		row[3] = quantity.FormatSeconds(max(0, now.Sub(*h.Heard).Seconds())) + " ago"
	}
	if st := h.Status; st != nil {
		row[4], row[5], row[6] = fmt.Sprint(len(st.Running)), fmt.Sprint(st.Spooled), st.Version
		row[7] = "not synchronised"
		if st.Clock.Synchronized {
			row[7] = "within " + quantity.FormatSeconds(st.Clock.ErrorSeconds)
		}
	}
	return row
}
