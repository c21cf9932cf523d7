package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/quantity"
)

// truthFlags say what of the truth is wanted.
type truthFlags struct {
	from, to, flow  string
	links, flows    bool
	follow, perLink bool
}

func labTruth(s *session, name *string) *cobra.Command {
	var f truthFlags
	c := &cobra.Command{
		Use: "truth", Short: "Show what each link did to packets, and what became of each flow", Args: cobra.NoArgs,
		Long: "Show what the lab really did to packets: each direction of each link since the lab came up, and each flow, one way,\n" +
			"from host to host. --from and --to choose the packets of a flow by when they were sent, in time since the lab came\n" +
			"up; negative times count back from now. --follow prints what becomes of each packet as one JSON object a line,\n" +
			"until Ctrl-C: end to end, or with --per-link at each link that it comes to.",
		Example: "  pathwise lab truth --json\n  pathwise lab truth --flows --flow :5201 --from -10s\n" +
			"  pathwise lab truth --follow --per-link",
		RunE: func(c *cobra.Command, _ []string) error {
			l := &lab.Lab{Name: *name}
			window, err := f.window()
			switch {
			case err != nil:
				return err
			case f.follow && (f.from != "" || f.to != "" || f.links || f.flows):
				return badFlag("follow", errors.New("goes with --per-link and --flow; want it without --from, --to, --links and --flows"))
			case f.perLink && !f.follow:
				return badFlag("per-link", errors.New("belongs to --follow"))
			case f.follow:
				return s.followLab(c.Context(), l, f.flow, f.perLink)
			}
			return s.showTruth(l, window, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "", "flows: packets sent from this time on, such as 10s, or -5s for the last five seconds")
	flags.StringVar(&f.to, "to", "", "flows: packets sent before this time (default now)")
	flags.StringVar(&f.flow, "flow", "", "flows whose name contains this, such as :5201 or carol")
	flags.BoolVar(&f.links, "links", false, "links only")
	flags.BoolVar(&f.flows, "flows", false, "flows only")
	flags.BoolVar(&f.follow, "follow", false, "print what becomes of each packet, one JSON object a line, until Ctrl-C")
	flags.BoolVar(&f.perLink, "per-link", false, "with --follow: at each link, instead of end to end")
	return c
}

// window reads --from and --to.
func (f *truthFlags) window() (w lab.Window, err error) {
	if w.From, err = parseMoment(f.from); err != nil {
		return w, badFlag("from", err)
	}
	if w.To, err = parseMoment(f.to); err != nil {
		return w, badFlag("to", err)
	}
	sameSign := (w.From < 0) == (w.To < 0)
	switch {
	case f.to != "" && w.To == 0:
		return w, badFlag("to", fmt.Errorf("%q: want a time after the lab came up, such as 20s, or before now, such as -5s", f.to))
	case f.to != "" && sameSign && w.From >= w.To:
		return w, badFlag("to", fmt.Errorf("%q: want a time after --from %s", f.to, f.from))
	}
	return w, nil
}

// parseMoment reads a time since the lab came up, or, with a minus, before now; nothing is 0. It returns seconds.
func parseMoment(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	size, back := strings.CutPrefix(text, "-")
	d, err := quantity.ParseDuration(size)
	if err != nil {
		return 0, fmt.Errorf("%q: want a time such as 10s, or -5s for five seconds ago", text)
	}
	if back {
		return -d.Seconds(), nil
	}
	return d.Seconds(), nil
}

func (s *session) showTruth(l *lab.Lab, window lab.Window, f *truthFlags) error {
	truth, err := l.TruthOf(window)
	if err != nil {
		return err
	}
	state, err := l.State()
	if err != nil {
		return err
	}
	names := state.NodeNames()
	f.choose(truth, names)
	return s.emit(truth, func(w io.Writer) { s.printTruth(w, truth, names, window) })
}

// choose drops what was not asked for.
func (f *truthFlags) choose(t *lab.Truth, names map[string]string) {
	if f.flows && !f.links {
		t.Links, t.Routers = []lab.LinkTruth{}, []lab.RouterTruth{}
	}
	chosen := []record.FlowTruth{}
	for i := range t.Flows {
		wanted := strings.Contains(t.Flows[i].Name, f.flow) || strings.Contains(t.Flows[i].NameWith(names), f.flow)
		if wanted && (f.flows || !f.links) {
			chosen = append(chosen, t.Flows[i])
		}
	}
	t.Flows = chosen
}
