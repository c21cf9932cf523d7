package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/echo"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// targetsFlags are those of trace that hold where many targets are traced at once.
var targetsFlags = append([]string{"targets", "hop-rate", "proto", "max-ttl", "queries", "port", "timeout", "interval", "dscp", "ipv4", "ipv6", "json", "quiet", "verbose"}, knownNames...)

// addTargets has trace take several hosts, lists and prefixes of them.
func addTargets(c *cobra.Command, s *session, flags *parameterFlags) {
	if flags.kind.Name != "trace" {
		return
	}
	var file string
	var rate int
	c.Flags().StringVar(&file, "targets", "", "a file with a name, an address or a prefix a line, or - for standard input: trace all of them at once")
	c.Flags().IntVar(&rate, "hop-rate", probe.ManyHopRate, "of several hosts: packets a second to what is believed to be one router")
	c.Use += "…"
	c.Long += "\nSeveral hosts, a prefix such as 192.0.2.0/24 or --targets FILE are traced at once, and no router is asked too often (--hop-rate); --json prints a Result a line then."
	c.Example += "\n" + examples([]string{"trace carol dave erin", "trace --targets hosts.txt --json"})
	one, check := c.RunE, c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("targets") {
			return nil
		}
		return check(c, args[:min(1, len(args))])
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) <= 1 && !c.Flags().Changed("targets") && !slices.ContainsFunc(args, isPrefix) {
			if c.Flags().Changed("hop-rate") {
				return badFlag("hop-rate", fmt.Errorf("\"%d\": it is for several hosts; give more, or --targets", rate))
			}
			return one(c, args)
		}
		if rate < 1 || rate > probe.ManyFastest {
			return badFlag("hop-rate", fmt.Errorf("\"%d\": give a whole number from 1 to %d", rate, probe.ManyFastest))
		}
		m, err := newManyTraces(c, s, flags, file, args)
		if err != nil {
			return err
		}
		m.traces.HopRate = float64(rate)
		return m.run(c.Context())
	}
}

// manyTraces traces many targets at once.
type manyTraces struct {
	*session
	list   echo.Targets
	family sock.Family
	traces probe.ManyTraces

	done, reached, failed int // targets
	wrong                 []error

	telling sync.WaitGroup
	told    chan struct{} // closed when the Result before the next one is printed
}

func newManyTraces(c *cobra.Command, s *session, flags *parameterFlags, file string, args []string) (*manyTraces, error) {
	m := &manyTraces{session: s}
	if f := flagBeside(c.Flags(), targetsFlags...); f != nil {
		return nil, input.Errorf("--%s: not for several hosts; give one, or leave it out", f.Name)
	}
	parameters, options, err := flags.read(c, s)
	if err == nil {
		m.family, err = flags.over.family("many targets are traced over one of them")
	}
	if err == nil {
		err = m.gather(&m.list, c, file, args)
	}
	if err != nil {
		return nil, err
	}
	p, err := probe.New(measure.Task{Kind: "trace", Target: m.list.All[0].Name, Parameters: parameters}, options)
	if err != nil {
		return nil, err
	}
	m.traces = probe.ManyTraces{Trace: *p.(*probe.Trace)}
	return m, nil
}

// run traces all targets, and prints each when it is its turn.
func (m *manyTraces) run(ctx context.Context) error {
	m.traces.Target = m.list.All[0].Name
	if err := m.traces.Validate(); err != nil {
		return err
	}
	m.progress("looking up %s…", quantity.FormatCount(len(m.list.All), "target"))
	unresolved := m.list.Resolve(ctx, nil, m.family)
	for _, t := range m.list.All {
		m.traces.Targets = append(m.traces.Targets, probe.Target{Name: t.Name, Address: t.Address})
	}
	m.progress("")
	finished := m.finished
	if m.known != nil {
		finished = m.tellThen(ctx)
	}
	m.traces.Finished = finished
	err := m.traces.Do(ctx)
	m.telling.Wait()
	if err != nil {
		m.wrong = append([]error{fmt.Errorf("trace %d targets: %w", len(m.traces.Targets), err)}, m.wrong...)
	}
	for _, u := range unresolved {
		r := measure.NewResult("trace", time.Now())
		r.Target.Name = u.Name
		r.Fail(u.Err)
		m.finished(r, u.Err)
	}
	m.close()
	return firstOf(m.wrong, m.done > 1)
}

// tellThen looks up what is known of the addresses of a Result before it is printed, beside the tracing of others. Results keep their order. None waits longer than
// lookup.MostTime, so no more of them do than are traced meanwhile.
func (m *manyTraces) tellThen(ctx context.Context) func(*measure.Result, error) {
	m.told = make(chan struct{})
	close(m.told)
	return func(r *measure.Result, failed error) {
		before, done := m.told, make(chan struct{})
		m.told = done
		m.telling.Go(func() {
			defer close(done)
			m.known.tell(ctx, r)
			<-before
			m.finished(r, failed)
		})
	}
}

// finished prints a Result: on a line of its own under --json, else as that of one host.
func (m *manyTraces) finished(r *measure.Result, failed error) {
	m.measured(r)
	m.progress("")
	m.done++
	if failed != nil {
		m.failed++
		m.wrong = append(m.wrong, failed)
	} else if r.Samples.Route != nil && r.Samples.Route.Reached {
		m.reached++
	}
	var err error
	switch {
	case m.json:
		err = json.NewEncoder(m.out).Encode(r)
	case r.Status == measure.StatusFailed:
		_, err = fmt.Fprintf(m.out, "route to %s: %s\n\n", r.Target.Name, *r.Error)
	default:
		probe.WriteText(m.out, r)
		_, err = fmt.Fprintln(m.out)
	}
	if err != nil {
		m.wrong = append(m.wrong, fmt.Errorf("write outcome: %w", err))
	}
	if all := len(m.traces.Targets); m.done < all {
		m.progress("traced %d of %d", m.done, all)
	}
}

// close says how many targets did what.
func (m *manyTraces) close() {
	if m.json {
		return
	}
	text := fmt.Sprintf("%s: %d answered", quantity.FormatCount(m.done, "target"), m.reached)
	if silent := m.done - m.reached - m.failed; silent > 0 {
		text += fmt.Sprintf(", %d did not", silent)
	}
	if m.failed > 0 {
		text += fmt.Sprintf(", %d could not be traced", m.failed)
	}
	fmt.Fprintln(m.out, text+".")
	about := &measure.Result{}
	for _, r := range m.list.Repeats {
		about.Note(r.String())
	}
	probe.WriteNotes(m.out, about)
}
