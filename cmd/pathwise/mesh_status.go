package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
	"github.com/pathwise-net/pathwise/web"
)

func meshStatus(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Who is there, what runs, and what was missed and why", Args: cobra.NoArgs,
		Example: "  pathwise mesh status\n  pathwise mesh status --json\n  pathwise mesh status --controller http://127.0.0.1:8080",
	}
	mesh := controllerFlag(c.Flags())
	mesh.remoteFlags(c.Flags())
	mesh.tokenFlag(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		var status web.Status
		if err := mesh.get(c.Context(), "status", nil, &status); err != nil {
			return err
		}
		return s.emit(status, func(w io.Writer) { s.printStatus(w, &status, time.Now()) })
	}
	return c
}

func (s *session) printStatus(w io.Writer, status *web.Status, now time.Time) {
	rows := [][]string{{"host", "state", "reached", "heard", "running", "waiting results", "version", "clock"}}
	for _, h := range status.Hosts {
		row := hostRow(h, now)
		row[1] = s.marked(row[1], terminal.Palette.Good, h.State == control.Here)
		row[1] = s.marked(row[1], terminal.Palette.Bad, h.State == control.Away)
		rows = append(rows, row)
	}
	s.table(w, rows, []int{6, 2, 4}, 1, 2, 6, 7) // a narrow terminal has no room for versions, ways to reach hosts, and what runs
	printSome(w, lacking(status.Hosts), "things that hosts cannot")
	printSome(w, outOfDate(status.Hosts), "kinds of hosts out of date")
	fmt.Fprintf(w, "\nplan %d until %s: %d runs, %d results awaited, %d tests on demand\n", status.Plan,
		status.Until.Format(time.TimeOnly), status.Runs, status.Awaited, status.OnDemand)
	var notes []string
	for _, warning := range status.Warnings {
		notes = append(notes, "note: "+warning)
	}
	printSome(w, notes, "notes")
	if status.Unfiled != "" {
		fmt.Fprintf(w, "note: results cannot be filed now and wait where they are: %s\n", status.Unfiled)
	}
	if status.Unread != "" {
		fmt.Fprintf(w, "note: what was missed cannot be told: %s\n", status.Unread)
	}
	if status.Trouble != "" {
		fmt.Fprintf(w, "note: the mesh file as it stands is not in force: %s\n", status.Trouble)
	}
	for _, m := range status.Missed {
		fmt.Fprintf(w, "missed %s %s from %s to %s: %s\n", m.Start.Format(time.DateTime), m.Tool, m.Source, m.Target, m.Why)
	}
}

// lacking has a line for each thing that hosts cannot do, with all hosts that cannot for the same reason: most owners say the
// same of their hosts, or nothing.
func lacking(hosts []control.Host) []string {
	return together(hosts, " cannot: ", func(h control.Host) (all []string) {
		if h.Status != nil {
			for _, lack := range h.Status.Lacks {
				all = append(all, lack.What+": "+lack.Why)
			}
		}
		slices.Sort(all)
		return slices.Compact(all) // several kinds may lack the same
	})
}

// outOfDate has a line for all hosts whose agents do not know the same things that the controller does.
func outOfDate(hosts []control.Host) []string {
	return together(hosts, " out of date: ", func(h control.Host) []string {
		if len(h.NotUnderstood) == 0 {
			return nil
		}
		return []string{"put the controller's build there; the agent does not know " + some(h.NotUnderstood)}
	})
}

// together has a line for each text that there is of hosts, with the names of all that it is of.
func together(hosts []control.Host, between string, of func(control.Host) []string) (lines []string) {
	who := map[string][]string{}
	var order []string
	for _, h := range hosts {
		for _, text := range of(h) {
			if who[text] == nil {
				order = append(order, text)
			}
			who[text] = append(who[text], h.Name)
		}
	}
	for _, text := range order {
		lines = append(lines, some(who[text])+between+text)
	}
	return lines
}

// namesOnALine is how many names stand where all are meant: --json has them all.
const namesOnALine = 4

// some names the first of many, and how many more there are.
func some(names []string) string {
	if more := len(names) - namesOnALine; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesOnALine], ", "), more)
	}
	return strings.Join(names, ", ")
}

// shownOfEach is how many lines of a kind are shown: what fits a screen. A mesh of hundreds of hosts may have thousands.
const shownOfEach = 20

// printSome prints the first of many lines, and how many more there are.
func printSome(w io.Writer, lines []string, what string) {
	for _, line := range lines[:min(len(lines), shownOfEach)] {
		fmt.Fprintln(w, line)
	}
	if more := len(lines) - shownOfEach; more > 0 {
		fmt.Fprintf(w, "and %d more %s; --json has them all\n", more, what)
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
		if off := st.Clock.ErrorSeconds; off != nil {
			row[7] = "within " + quantity.FormatSeconds(*off)
		}
	}
	return row
}
