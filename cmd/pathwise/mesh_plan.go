package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/schedule"
)

func meshPlan(s *session) *cobra.Command {
	var list bool
	var length, from, data string
	var seed uint64
	c := &cobra.Command{
		Use: "plan FILE", Short: "Show when a mesh file's tests will run", Args: cobra.ExactArgs(1),
		Long: "Plan the next hours of a mesh without starting anything, and show what comes of it: how long one cycle of the tests\n" +
			"that need both ends alone takes, and the least that it could take. --list names every run.",
		Example: "  pathwise mesh plan mesh.yaml\n  pathwise mesh plan mesh.yaml --length 24h --json\n  pathwise mesh plan mesh.yaml --list",
		RunE: func(_ *cobra.Command, args []string) error {
			span, err := parsePositive(length)
			if err != nil {
				return badFlag("length", err)
			}
			begin := time.Now().UTC().Truncate(time.Second)
			if from != "" {
				if begin, err = time.Parse(time.RFC3339, from); err != nil {
					return badFlag("from", fmt.Errorf("%q: want a time such as 2026-11-20T10:00:00Z", from))
				}
			}
			m, err := s.loadMesh(args[0])
			if err != nil {
				return err
			}
			measured, err := s.measuredRates(data, m)
			if err != nil {
				return err
			}
			started := time.Now()
			p, err := control.NewPreview(m, seed, measured)
			if err != nil {
				return err
			}
			doc := newPlanned(p, begin, begin.Add(span), list)
			doc.PlanningSeconds = time.Since(started).Seconds()
			return s.emit(doc, func(w io.Writer) {
				printPlanned(w, &doc)
				s.drawPlanned(w, p, &doc)
			})
		},
	}
	flags := c.Flags()
	flags.BoolVar(&list, "list", false, "name every run")
	flags.StringVar(&length, "length", "1h", "how much to plan")
	flags.StringVar(&from, "from", "", "from when on (default: now)")
	flags.Uint64Var(&seed, "seed", 1, "another seed gives another order")
	dataFlag(c, &data)
	return c
}

// planned is `mesh plan --json`.
type planned struct {
	schedule.Summary
	List []control.PlannedRun `json:"list,omitempty"`
}

func newPlanned(p *control.Preview, from, until time.Time, list bool) planned {
	doc := planned{Summary: p.Summarize(from, until)}
	if list {
		for r := range p.Named(from, until) {
			doc.List = append(doc.List, r)
		}
	}
	return doc
}

func printPlanned(w io.Writer, doc *planned) {
	rows := [][]string{{"test", "pairs", "every", "runs/day", "bytes/day"}}
	for _, t := range doc.Load.Tests {
		rows = append(rows, []string{t.Test, fmt.Sprint(t.Pairs), quantity.FormatSeconds(t.PeriodSeconds), countText(t.RunsPerDay),
			quantity.FormatSize(int64(t.BytesPerDay))})
	}
	printTable(w, rows)
	fmt.Fprintln(w)
	if len(doc.List) > 0 {
		rows := [][]string{{"begins", "takes", "test", "source", "target", ""}}
		for _, r := range doc.List {
			alone := ""
			if r.Exclusive {
				alone = "alone"
			}
			rows = append(rows, []string{r.Start.Format(time.TimeOnly), quantity.FormatSeconds(r.End.Sub(r.Start).Seconds()), r.Test,
				r.Source, r.Target, alone})
		}
		printTable(w, rows, 2, 3, 4, 5)
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s to %s: %d runs of %d hosts, %d of them alone on both interfaces; %d conflicts\n",
		doc.From.Format(time.TimeOnly), doc.Until.Format(time.TimeOnly), doc.Runs, doc.Hosts, doc.ExclusiveRuns, doc.Conflicts)
	if doc.CycleSeconds > 0 {
		fmt.Fprintf(w, "one cycle of the tests that run alone takes %s; none can take less than %s\n",
			quantity.FormatSeconds(doc.CycleSeconds), quantity.FormatSeconds(doc.LowerBoundSeconds))
	}
	for _, f := range doc.Findings {
		fmt.Fprintln(w, "note: "+f.String())
	}
}

// A drawing is for the eye: drawnHosts fit a screen, and drawnWidth is that of a terminal that is no longer 80 columns.
const (
	drawnHosts = 40
	drawnWidth = 120
)

// drawPlanned draws a line a host, if they fit.
func (s *session) drawPlanned(w io.Writer, p *control.Preview, doc *planned) {
	if doc.Hosts > drawnHosts || doc.Runs == 0 {
		return
	}
	lanes := map[string]*chart.Lane{}
	var names []string
	add := func(host string, b chart.Block) {
		if lanes[host] == nil {
			lanes[host] = &chart.Lane{Name: host}
			names = append(names, host)
		}
		lanes[host].Blocks = append(lanes[host].Blocks, b)
	}
	for r := range p.Named(doc.From, doc.Until) {
		b := chart.Block{Start: r.Start, End: r.End, Tool: r.Tool, Exclusive: r.Exclusive}
		add(r.Source, b)
		if b.Target = true; r.Target != r.Source {
			add(r.Target, b)
		}
	}
	slices.Sort(names)
	var all []chart.Lane
	for _, name := range names {
		all = append(all, *lanes[name])
	}
	fmt.Fprintln(w)
	win := chart.Window{From: doc.From, Until: doc.Until, Width: drawnWidth}
	if s.live() {
		win.Width, win.ASCII = s.screen().Width(), s.screen().ASCII
	}
	_ = chart.Lanes(w, all, win) // w's own error shows in emit
}
