package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
)

// liveFlags are those of trace that hold with --live and --report, and liveOnly those that hold with them alone.
var (
	liveFlags = append([]string{"live", "report", everyFlag, "proto", "max-ttl", "port", "timeout", "interval", "dscp", "multipath", "confidence", "ipv4", "ipv6", "json", "quiet", "verbose"}, knownNames...)
	liveOnly  = []string{"count"}
)

// liveCall is a call of trace --live or --report.
type liveCall struct {
	live, report bool
	count        int
}

// reportRounds is how many rounds a report is of where nobody says: as many as of mtr -r.
const reportRounds = 10

// addLive has trace go on.
func addLive(c *cobra.Command, s *session, flags *parameterFlags) {
	if flags.kind.Name != "trace" {
		return
	}
	call := &liveCall{}
	c.Flags().BoolVar(&call.live, "live", false, "go on, a packet to each hop each second, and show loss and round trips of each; ? or h shows the keys")
	c.Flags().BoolVarP(&call.report, "report", "r", false, "as --live, for so many rounds (-c), and print one table at the end")
	c.Flags().IntVarP(&call.count, "count", "c", 0, "of --live and --report: rounds (default: --report 10, --live until q)")
	c.Long += "\n--live goes on and shows loss, round trips and jitter of each hop, as mtr does, and whether the path loses packets or a router merely answers " +
		"seldom; --report prints that once. Both send ICMP echo unless --proto says otherwise. With --multipath each router of all equal-cost paths has a row."
	c.Example += "\n" + examples([]string{"trace carol --live", "trace carol --report -c 100 --every 0.2s", "trace carol --report --json"})
	once := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		on := call.live || call.report
		if err := checkLiveFlags(c.Flags(), on); err != nil {
			return err
		}
		if !on {
			return once(c, args)
		}
		return call.run(c, s, flags, args)
	}
}

// checkLiveFlags refuses the flags that do not hold for a trace that goes on, or for it alone.
func checkLiveFlags(flags *pflag.FlagSet, on bool) error {
	switch f := flagUnfit(flags, on, liveFlags, liveOnly); {
	case f == nil:
		return nil
	case on:
		return input.Errorf("--%s: not for --live and --report, which send one packet to each hop a round; leave it out", f.Name)
	default:
		return badFlag(f.Name, fmt.Errorf("%q: it is for --live and --report; give one of them, too", f.Value))
	}
}

func (l *liveCall) run(c *cobra.Command, s *session, flags *parameterFlags, args []string) error {
	trace, err := l.trace(c, s, flags, args)
	if err != nil {
		return err
	}
	in, typed := s.in.(*os.File)
	if s.live() && !l.report && typed && terminal.Is(in) {
		return s.watchTrace(c.Context(), trace, in)
	}
	if trace.Rounds == 0 {
		trace.Rounds = reportRounds
	}
	s.progress("%s %s, %s…", map[bool]string{false: "tracing", true: "finding all paths, and tracing"}[trace.Multipath], trace.Target, quantity.FormatCount(trace.Rounds, "round"))
	stop := s.lookBeside(c.Context(), trace)
	r, err := s.do(c.Context(), trace)
	stop()
	s.progress("")
	return firstOf([]error{err, s.finish(r, err, probe.WriteText)}, !input.Bad(err))
}

// trace is what the call asks for.
func (l *liveCall) trace(c *cobra.Command, s *session, flags *parameterFlags, args []string) (*probe.LiveTrace, error) {
	every, err := readEvery(c.Flags(), 0, probe.LiveFastest)
	if err != nil {
		return nil, err
	}
	if c.Flags().Changed("count") && l.count < 1 {
		return nil, badFlag("count", errors.New(strconv.Quote(strconv.Itoa(l.count))+": give a whole number from 1"))
	}
	task, options, err := flags.oneTask(c, s, args, "a trace that goes on is of one")
	if err != nil {
		return nil, err
	}
	p, err := probe.New(task, options)
	if err != nil {
		return nil, err
	}
	trace := &probe.LiveTrace{Trace: *p.(*probe.Trace)}
	trace.Every, trace.Rounds, trace.Progress, trace.Round = every, l.count, nil, nil
	return trace, trace.Validate()
}

// watchTrace shows a trace on the terminal until it is over or the user leaves, and then prints what came of it.
func (s *session) watchTrace(ctx context.Context, trace *probe.LiveTrace, in *os.File) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var r *measure.Result
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r, failed = trace.Do(ctx)
	}()
	shown := newLiveScreen(s.screen(), trace, s.nameFinder())
	if s.known != nil {
		shown.known = func(address string) measure.AddressInfo { return s.known.now(ctx, address) }
	}
	err := shown.show(ctx, in, terminal.File(s.out), ended)
	left := errors.New("left before all rounds were over")
	stop(left)
	<-ended
	if errors.Is(failed, left) {
		failed = nil
	}
	if r != nil && !input.Bad(failed) {
		s.measured(r)
		if s.known != nil {
			s.known.tell(ctx, r) // waits for nothing, since ctx has ended
		}
		shown.outcome(s.out, r)
	}
	return errors.Join(failed, err)
}

// lookBeside looks up what is known of those who answer a trace, while it goes on, until stop is called: what is known at its end nobody waits for.
func (s *session) lookBeside(ctx context.Context, trace *probe.LiveTrace) (stop func()) {
	if s.known == nil {
		return func() {}
	}
	ended := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		next := time.NewTicker(liveDraws)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				s.known.tellNow(ctx, &measure.Result{Samples: measure.Samples{Hops: trace.State().Hops}})
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		looking.Wait()
	}
}

// liveDraws is how often the screen is drawn: as often as a person reads a number that changes.
const liveDraws = 250 * time.Millisecond
