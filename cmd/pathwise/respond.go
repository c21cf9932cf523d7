package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/respond"
	"github.com/pathwise-net/pathwise/sock"
)

func respondCommand(s *session) *cobra.Command { return respondWith(s, respond.Kinds()) }

// respondWith makes the command of a table of kinds. The first is opened whatever the call says, on --port; one that is Always opened on
// its own port or that of its flag, unless that is 0, and any other only on the port that its flag names. Limits that the call sets are
// those of every kind that is opened.
func respondWith(s *session, kinds []respond.Kind) *cobra.Command {
	first := &responder{kind: kinds[0], flag: "port"}
	all := []*responder{first}
	var tests, streams int
	var bind, longest string
	var anyPort, withInput bool
	var access accessFlags
	c := &cobra.Command{
		Use: "respond", Short: "Be the far end of tests", Args: cobra.NoArgs,
		Long: "Answer " + answered(kinds) + ",\nuntil interrupted. By default one test of throughput runs at a time,\n" +
			"and a test lasts for at most five minutes.",
		Example: "  pathwise respond\n  pathwise respond --port 5202 --bind 127.0.0.1 --max-time 30s",
		RunE: func(c *cobra.Command, _ []string) error {
			limit, err := parsePositive(longest)
			if err != nil {
				return badFlag("max-time", err)
			}
			if bind != "" {
				if bind, err = readHost(c, bind, &first.port); err != nil {
					return badFlag("bind", err)
				}
			}
			wanted, err := wantedOf(c, all, anyPort)
			if err != nil {
				return err
			}
			if tests < 1 {
				return badFlag("max-tests", fmt.Errorf("\"%d\": want 1 or more", tests))
			}
			if streams < 1 {
				return badFlag("max-streams", fmt.Errorf("\"%d\": want 1 or more", streams))
			}
			ctx := c.Context()
			if withInput {
				ctx = s.whileInput(ctx, inputPatience)
			}
			allowed := respond.Limits{Longest: limit, Tests: ifSet(c, "max-tests", tests), Streams: ifSet(c, "max-streams", streams)}
			if err := access.into(&allowed); err != nil {
				return err
			}
			return s.respond(ctx, bind, wanted, allowed)
		},
	}
	flags, limits := c.Flags(), first.kind.Limits
	flags.IntVarP(&first.port, first.flag, "p", first.kind.Port, "port to answer on")
	for _, kind := range kinds[1:] {
		if kind.Program {
			continue
		}
		other := &responder{kind: kind, flag: kind.Name + "-port"}
		all = append(all, other)
		if kind.Always {
			flags.IntVar(&other.port, other.flag, kind.Port, "port to answer "+kind.Meaning+" on; 0: do not")
		} else {
			flags.IntVar(&other.port, other.flag, 0, fmt.Sprintf("port to answer %s on, such as %d", kind.Meaning, kind.Port))
		}
	}
	flags.StringVar(&bind, "bind", "", "address to answer on, or ADDRESS:PORT (default: all)")
	flags.BoolVar(&anyPort, "any-port", false, "where no port is named, answer on one that the system chooses, and say which")
	flags.BoolVar(&withInput, "end-with-input", false, "end when standard input does, or when nothing came through it for "+quantity.FormatSeconds(inputPatience.Seconds()))
	flags.StringVar(&longest, "max-time", strings.Replace(limits.Longest.String(), "m0s", "m", 1), "longest test")
	flags.IntVar(&tests, "max-tests", limits.Tests, "tests at once; more are told that this end is busy")
	flags.IntVar(&streams, "max-streams", limits.Streams, "parallel streams of one test")
	access.add(flags)
	return c
}

// answered says what those kinds answer that are opened if nothing else is said.
func answered(kinds []respond.Kind) string {
	meanings := []string{kinds[0].Meaning}
	for _, k := range kinds[1:] {
		if k.Always {
			meanings = append(meanings, k.Meaning)
		}
	}
	return strings.Join(meanings, ",\nand ")
}

// ifSet is the value of a flag that a call sets; 0, for each kind's own, of any other.
func ifSet(c *cobra.Command, flag string, value int) int {
	if !c.Flags().Changed(flag) {
		return 0
	}
	return value
}

// responder is a kind, the flag of its port, and that port.
type responder struct {
	kind  respond.Kind
	flag  string
	port  int
	spare bool // nobody asked for it: where another program has its port, it is left out
}

// wantedOf are the first kind, those that are always opened, and those others whose ports a call names. With anyPort those whose ports it
// does not name have the port 0, which is any that is free.
func wantedOf(c *cobra.Command, all []*responder, anyPort bool) (wanted []*responder, err error) {
	for i, r := range all {
		named := c.Flags().Changed(r.flag)
		if i > 0 && !named && !r.kind.Always || i > 0 && r.kind.Always && r.port == 0 {
			continue
		}
		if anyPort && !named {
			r.port = 0
			wanted = append(wanted, r)
			continue
		}
		r.spare = i > 0 && !named
		if err := checkPort(r.flag, r.port); err != nil {
			return nil, err
		}
		wanted = append(wanted, r)
	}
	return wanted, nil
}

// inputPatience is three beats of who brought this program here, two of which may be lost.
const inputPatience = 3 * fleet.VisitBeat

// whileInput returns a context that ends when standard input does, or when nothing came through it for so long.
func (s *session) whileInput(ctx context.Context, patience time.Duration) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(patience, cancel)
	go func() { // ends with standard input, or the process
		defer cancel()
		for some := make([]byte, 512); ; late.Reset(patience) {
			if _, err := s.in.Read(some); err != nil {
				return
			}
		}
	}()
	return ctx
}

// notListening says what to do where a port cannot be opened that a flag chooses.
func notListening(err error, flag string) error {
	if errors.Is(err, unix.EACCES) {
		return fmt.Errorf("listen: %w; only root may open ports below 1024: choose another with --%s", err, flag)
	}
	return fmt.Errorf("listen: %w; end what uses the port, or choose another with --%s", err, flag)
}

// respond opens responders at an address, says where they answer, and serves them until ctx ends or one of them fails.
func (s *session) respond(ctx context.Context, bind string, wanted []*responder, limits respond.Limits) error {
	var opened []*respond.Opened
	var answering []*responder
	for _, r := range wanted {
		open := r.kind.Open
		if r.spare {
			open = r.kind.OpenOrSpare
		}
		o, err := open(ctx, sock.JoinHostPort(bind, r.port), limits, s.log())
		if r.spare && errors.Is(err, unix.EADDRINUSE) {
			s.log().Warn("not answering "+r.kind.Name+": another program has its port", "port", r.port, "flag", "--"+r.flag)
			continue
		}
		if err != nil {
			for _, o := range opened {
				_ = o.Close() // what could not be opened is what is told
			}
			if !errors.Is(err, unix.EADDRINUSE) && !errors.Is(err, unix.EACCES) && bind != "" {
				return badFlag("bind", fmt.Errorf("%q: want an address of this host: %w", bind, err))
			}
			return notListening(err, r.flag)
		}
		opened, answering = append(opened, o), append(answering, r)
	}
	if err := s.sayAnswering(answering, opened); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, o := range opened {
		group.Go(func() error { return o.Serve(ctx) })
	}
	return group.Wait()
}

// sayAnswering says where tests may come: of the first kind by its address alone, which programs read, of others by their names, too.
func (s *session) sayAnswering(wanted []*responder, opened []*respond.Opened) error {
	doc := map[string]any{"schema": "pathwise.respond/1", "address": opened[0].Addr.String()}
	others := map[string]string{}
	for i, o := range opened[1:] {
		others[wanted[i+1].kind.Name] = o.Addr.String()
	}
	if len(others) > 0 {
		doc["others"] = others
	}
	if s.json {
		if err := s.emit(doc, nil); err != nil {
			return err
		}
	}
	lines := []string{respond.AnsweringOn + opened[0].Addr.String()}
	for i, o := range opened[1:] {
		lines = append(lines, fmt.Sprintf("answering %s on %s", wanted[i+1].kind.Name, o.Addr))
	}
	s.say("%s", strings.Join(lines, "\n")) // at once: who reads the first line may close the pipe
	return nil
}
