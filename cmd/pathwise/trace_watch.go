package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

var (
	// watchFlags are those of trace that hold with --watch, and watchOnly those that hold with it alone.
	watchFlags = append([]string{"watch", everyFlag, "proto", "max-ttl", "queries", "port", "timeout", "interval", "dscp", "new-flow", "ipv4", "ipv6", "json", "quiet", "verbose"}, knownNames...)
	watchOnly  = []string{"for", "log"}
)

const (
	// watchEvery is the time between traces where none is said: a change is told within a minute, and routers answer a packet a second at most.
	watchEvery = 10 * time.Second
	// watchLeast is the shortest: routers that answer a packet a second leave most others without an answer even so.
	watchLeast = 200 * time.Millisecond
	// watchSoon is the time between traces that look closer, and mostSoon how many in a row do: enough to be sure of a change. By UDP it is more: a trace takes some three
	// answers of a target, and Linux says once a second that a port is closed (icmp_ratelimit), so that the end of the route would seem to move.
	watchSoon    = 500 * time.Millisecond
	watchSoonUDP = 3 * time.Second
	mostSoon     = 8
)

// watchCall is a call of trace --watch.
type watchCall struct {
	watch bool
	total string
	log   string
}

// addWatch has trace watch a route.
func addWatch(c *cobra.Command, s *session, flags *parameterFlags) {
	if flags.kind.Name != "trace" {
		return
	}
	call := &watchCall{}
	c.Flags().BoolVar(&call.watch, "watch", false, "trace again and again, and tell changes of the route")
	c.Flags().StringVar(&call.total, "for", "", "of --watch: how long, such as 1h (default: until Ctrl-C)")
	c.Flags().StringVar(&call.log, "log", "", "of --watch: append all of it to this file, as JSON lines")
	c.Long += "\n--watch traces again and again, and tells when traffic was moved to another route, and by how much the round trip grew. All its traces are of one flow."
	c.Example += "\n" + examples([]string{"trace carol --watch", "trace carol --watch --every 1s --for 1h --json"})
	once := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkWatchFlags(c.Flags(), call.watch); err != nil {
			return err
		}
		if !call.watch {
			return once(c, args)
		}
		return call.run(c, s, flags, args)
	}
}

// checkWatchFlags refuses flags that hold without --watch alone, or with it alone.
func checkWatchFlags(flags *pflag.FlagSet, with bool) error {
	switch f := flagUnfit(flags, with, watchFlags, watchOnly); {
	case f == nil:
		return nil
	case with:
		return input.Errorf("--%s: not for --watch; leave it out", f.Name)
	default:
		return input.Errorf("--%s: only with --watch; leave it out, or add that", f.Name)
	}
}

// run traces until the time is over, or until Ctrl-C.
func (call *watchCall) run(c *cobra.Command, s *session, flags *parameterFlags, args []string) error {
	if len(args) != 1 {
		return input.Errorf("%q: --watch is of one host; give one", args[1:])
	}
	every, err := readEvery(c.Flags(), watchEvery, watchLeast)
	if err != nil {
		return err
	}
	task, options, err := flags.oneTask(c, s, args, "a watch is of one")
	if err != nil {
		return err
	}
	options.Say = nil
	soon := watchSoon
	if protocol, set := task.Parameters["proto"]; !set || protocol == "udp" {
		soon = watchSoonUDP
	}
	w := &routeWatch{session: s, every: every, soon: soon, story: newRouteStory(task.Target), trace: func(ctx context.Context) (*measure.Result, error) {
		p, err := probe.New(task, options)
		if err != nil {
			return nil, err
		}
		return p.Do(ctx)
	}}
	if s.known != nil {
		w.story.known = func(address string) string { return probe.KnownText(s.known.now(c.Context(), address)) }
	}
	ctx := c.Context()
	if call.total != "" {
		total, err := parsePositive(call.total)
		if err != nil {
			return badFlag("for", err)
		}
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, total)
		defer end()
	}
	if call.log != "" {
		file, err := os.OpenFile(call.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return badFlag("log", err)
		}
		defer file.Close()
		w.log = file
	}
	return w.run(ctx)
}

// routeWatch traces again and again, and tells what comes of it.
type routeWatch struct {
	*session
	every time.Duration
	soon  time.Duration // between traces that look closer
	trace func(context.Context) (*measure.Result, error)
	log   io.Writer // nil: none
	story *routeStory
}

// run traces until ctx ends. It returns an error where the call asks for what a trace does not do, where an event cannot be written, and where no trace was
// finished. One that fails is an event, after which the next one begins.
func (w *routeWatch) run(ctx context.Context) error {
	failed, soon := "", 0
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		began := time.Now()
		r, err := w.trace(ctx)
		switch {
		case input.Bad(err):
			return err
		case ctx.Err() != nil: // what was not finished may lack hops
			return w.end()
		case err != nil:
			if text := err.Error(); text != failed {
				failed = text
				if err := w.tell([]routeEvent{{"failed", map[string]string{"error": text}, clockTime(began) + "  " + text}}); err != nil {
					return err
				}
			}
			w.story.failed++
		default:
			failed = ""
			w.measured(r)
			if w.known != nil {
				w.known.tellNow(ctx, r)
			}
			if err := w.tell(append([]routeEvent{{name: "trace", data: r}}, w.story.add(r)...)); err != nil {
				return err
			}
		}
		w.progress("%s…", quantity.FormatCount(w.story.seen, "trace"))
		wait := w.every
		if w.story.unsettled() && soon < mostSoon {
			soon++
			wait = min(wait, w.soon)
		} else if !w.story.unsettled() {
			soon = 0
		}
		next.Reset(max(0, wait-time.Since(began)))
		select {
		case <-next.C:
		case <-ctx.Done():
			return w.end()
		}
	}
}

// end tells what all of it came to. Where nothing could be traced, that is an error.
func (w *routeWatch) end() error {
	w.progress("")
	if err := w.tell(w.story.summary()); err != nil {
		return err
	}
	if w.story.seen == 0 {
		return errors.New("watch route: no trace was finished")
	}
	return nil
}

// tell prints events, as lines for people or as JSON, and adds them to the log.
func (w *routeWatch) tell(events []routeEvent) error {
	for _, e := range events {
		if w.json {
			if err := w.event(e.name, e.data); err != nil {
				return err
			}
		} else if e.text != "" {
			w.progress("")
			w.say("%s", e.text)
		}
		if w.log == nil {
			continue
		}
		if err := json.NewEncoder(w.log).Encode(map[string]any{"event": e.name, "data": e.data}); err != nil {
			return fmt.Errorf("write log: %w", err)
		}
	}
	return nil
}
