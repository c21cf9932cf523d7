package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/web"
)

func meshRun(s *session) *cobra.Command {
	var set []string
	var patience string
	var over hostFlags
	c := &cobra.Command{
		Use: "run SOURCE TARGET TOOL", Short: "Measure between two hosts of the mesh, now", Args: cobra.ExactArgs(3),
		Long: "Have one host of the mesh measure to another, as soon as that disturbs no other test, and show what happens. TOOL is\n" +
			"one of the mesh file, or a kind of probe such as ping or throughput. Ctrl-C calls the test back.\n\n" +
			"Without --controller it asks the controller on this machine, as its owner. One elsewhere wants a token, which its owner\n" +
			"makes with `pathwise mesh token`, and lets you have what the mesh file says under controller.callers.",
		Example: "  pathwise mesh run ucl ral bulk\n  pathwise mesh run ucl ral throughput --set duration=5s --set cc=cubic\n" +
			"  pathwise mesh run ucl ral rtt --json\n" +
			"  pathwise mesh run ucl ral rtt --controller https://mesh.example.org:8080 --token-file ~/mesh.token",
	}
	mesh := controllerFlag(c.Flags())
	mesh.remoteFlags(c.Flags())
	mesh.tokenFlag(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		wait, err := quantity.ParseDuration(patience)
		if err != nil {
			return badFlag("wait", err)
		}
		request := web.RunRequest{Source: args[0], Target: args[1], Tool: args[2], PatienceSeconds: wait.Seconds()}
		if request.Parameters, err = readParameters(set); err != nil {
			return badFlag("set", err)
		}
		text := probe.WriteText
		if s.live() && !(over.four && over.six) { // which shows it all
			text = func(io.Writer, *measure.Result) {}
		}
		return s.measureTasks(c.Context(), []measure.Task{{Target: args[1]}}, over.families(), text,
			func(_ measure.Task, family sock.Family) (*measure.Result, error) {
				if family != "" {
					request.Parameters["family"] = string(family)
				}
				return s.runOnMesh(c.Context(), mesh, request)
			})
	}
	over.add(c.Flags())
	c.Flags().StringArrayVar(&set, "set", nil, "a parameter of the tool, as name=value; may be repeated")
	c.Flags().StringVar(&patience, "wait", "1m", "how long the test may wait until both ends are free")
	return c
}

// runOnMesh has the controller make a test, and shows it until it is over. The Result is nil if there is none.
func (s *session) runOnMesh(ctx context.Context, mesh *controller, request web.RunRequest) (*measure.Result, error) {
	answer, err := mesh.call(ctx, http.MethodPost, "runs", nil, request)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	r, err := s.follow(ctx, answer, request)
	switch {
	case ctx.Err() != nil:
		return nil, errCalledBack
	case err == nil && r.Error != nil:
		err = errors.New(*r.Error)
	}
	return r, err
}

// readParameters reads name=value. Values stay text, which every parameter may be given as.
func readParameters(set []string) (map[string]any, error) {
	all := map[string]any{}
	for _, text := range set {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%q: want name=value, such as duration=5s", text)
		}
		all[name] = value
	}
	return all, nil
}

// errCalledBack says that this process was told to end before the test was over.
var errCalledBack = errors.New("interrupted; the hosts are told to end the test")

// errBrokenOff says that the controller went away in the middle of a run.
var errBrokenOff = errors.New("the controller went away before the test was over; its result will be in the archive")

// follow shows what a run does until it is over: on a terminal as a drawing.
func (s *session) follow(ctx context.Context, answer io.Reader, request web.RunRequest) (*measure.Result, error) {
	if s.live() {
		what := fmt.Sprintf("%s from %s to %s", request.Tool, request.Source, request.Target)
		return s.watchMesh(ctx, answer, what, measure.Task{Target: request.Target})
	}
	waiting := func(begins time.Time) {
		if wait := time.Until(begins); wait > time.Second {
			s.progress("begins in %s", wait.Round(time.Second))
		}
	}
	r, err := followRun(answer, waiting, s.show)
	s.progress("")
	return r, err
}

// followRun reads what a run tells until it is over: when it is to begin, and what happens on its way.
func followRun(answer io.Reader, waiting func(begins time.Time), show func(*fleet.Progress)) (*measure.Result, error) {
	lines := json.NewDecoder(answer)
	for {
		var l web.RunLine
		if err := lines.Decode(&l); err != nil {
			return nil, errBrokenOff
		}
		switch {
		case l.Error != "":
			return nil, errors.New(l.Error)
		case l.Begins != nil:
			waiting(*l.Begins)
		case l.Progress != nil && l.Progress.Result != nil:
			return l.Progress.Result, nil
		case l.Progress != nil:
			show(readable(l.Progress))
		}
	}
}

// readable takes out of the texts of what a run shows what a terminal would obey: an agent on another machine wrote them.
func readable(p *fleet.Progress) *fleet.Progress {
	p.Line = printable(p.Line)
	if p.Rounds != nil {
		p.Rounds.Loss.Verdict = printable(p.Rounds.Loss.Verdict)
	}
	if p.Echo != nil {
		p.Echo.From, p.Echo.Error = printable(p.Echo.From), printable(p.Echo.Error)
	}
	return p
}

// printable is a text without what a terminal would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// show prints one thing that a run shows on its way.
func (s *session) show(p *fleet.Progress) {
	s.progress("")
	switch {
	case p.Interval != nil:
		s.say("%s", probe.IntervalLine(*p.Interval))
	case p.Echo != nil:
		s.say("%s", probe.EchoLine(*p.Echo))
	case p.Rounds != nil:
		s.say("%s", probe.RoundsLine(*p.Rounds))
	case p.Line != "":
		s.say("%s", p.Line)
	}
}
