package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/echo"
	"github.com/pathwise-net/pathwise/sock"
)

// manyFlags are those of ping that hold where many targets are asked from one socket.
var manyFlags = []string{"targets", "count", "interval", "timeout", "size", "dscp", "ttl", "df", "ipv4", "ipv6", "json", "quiet", "verbose"}

// addMany has ping take lists and prefixes of targets.
func addMany(c *cobra.Command, s *session, flags *parameterFlags) {
	if flags.kind.Name != "ping" {
		return
	}
	file := c.Flags().String("targets", "", "a file with a name, an address or a prefix a line, or - for standard input: ask all of them at once")
	c.Long += "\nA prefix such as 192.0.2.0/24, or --targets FILE, asks many hosts at once from one socket; --json prints a Result a line then."
	c.Example += "\n" + examples([]string{"ping 192.0.2.0/28 -c 3", "ping --targets hosts.txt -c 60 --json"})
	one, check := c.RunE, c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("targets") {
			return nil
		}
		return check(c, args)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if !c.Flags().Changed("targets") && !slices.ContainsFunc(args, isPrefix) {
			return one(c, args)
		}
		m, err := newManyPing(c, s, flags, *file, args)
		if err != nil {
			return err
		}
		return m.run(c.Context())
	}
}

// isPrefix tells what is meant as a prefix from URLs, names and addresses.
func isPrefix(text string) bool { return strings.Contains(text, "/") && !isURL(text) }

// manyPing pings many targets at once from one socket.
type manyPing struct {
	*session
	list   echo.Targets
	family sock.Family
	asked  *probe.Ping

	targets []*manyTarget // those that have an address, as pinger has them, then the others
	pinger  echo.Pinger
	keep    int           // requests that a Result is of, at most
	socket  string        // of the requests: "datagram" or "raw"
	clock   measure.Clock // of this host, at the start
	began   time.Time
	round   uint32 // how often the one that was asked most was
	wrong   error  // why a Result could not be printed; nil: each could
}

func newManyPing(c *cobra.Command, s *session, flags *parameterFlags, file string, args []string) (*manyPing, error) {
	m := &manyPing{session: s}
	parameters, options, err := flags.read(c, s)
	if f := flagBeside(c.Flags(), manyFlags...); err == nil && f != nil {
		err = input.Errorf("--%s: not for a prefix or --targets, whose hosts are asked by ICMP echo at even intervals; leave it out", f.Name)
	}
	if err == nil {
		m.family, err = flags.over.family("many targets are asked over one of them")
	}
	if err == nil {
		err = m.gather(&m.list, c, file, args)
	}
	if err != nil {
		return nil, err
	}
	p, err := probe.New(measure.Task{Kind: "ping", Target: m.list.All[0].Name, Parameters: parameters}, options)
	if err != nil {
		return nil, err
	}
	m.asked = p.(*probe.Ping)
	return m, nil
}

// gather reads the targets of a call, and of its file.
func (s *session) gather(list *echo.Targets, c *cobra.Command, file string, args []string) error {
	for _, text := range args {
		if err := list.Add(text, ""); err != nil {
			return err
		}
	}
	if !c.Flags().Changed("targets") {
		return nil
	}
	from, name := s.in, "standard input"
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return badFlag("targets", err)
		}
		defer opened.Close()
		from, name = opened, file
	}
	err := list.Read(from, name)
	if err == nil && len(list.All) == 0 {
		err = badFlag("targets", fmt.Errorf("%s has none; give a name, an address or a prefix a line", name))
	}
	return err
}

// run asks all targets, and prints what became of it.
func (m *manyPing) run(ctx context.Context) error {
	m.progress("looking up %d targets…", len(m.list.All))
	unresolved := m.list.Resolve(ctx, nil, m.family)
	m.progress("")
	if err := m.prepare(unresolved); err != nil {
		return err
	}
	err := m.ping(ctx)
	if input.Bad(err) {
		return err
	}
	m.finish(err)
	failed := []error{m.wrong}
	if err != nil {
		failed = append(failed, fmt.Errorf("ping %d targets: %w", len(m.pinger.Targets), err))
	}
	for _, t := range m.targets {
		failed = append(failed, t.failed)
	}
	return firstOf(failed, len(m.targets) > 1 || m.round > 0)
}

// finish prints what was measured; ended is why the requests ended early.
func (m *manyPing) finish(ended error) {
	switch {
	case m.json:
		m.emitRest(ended)
		return
	case m.round == 0 && ended != nil:
		return
	case m.live():
		m.printScreen(m.out)
	default:
		m.printRows(m.out)
	}
	about := &measure.Result{}
	for _, r := range m.list.Repeats {
		about.Note(r.String())
	}
	m.measured(about)
	probe.WriteNotes(m.out, about)
}

// prepare makes what is kept of each target, and what asks those that have an address.
func (m *manyPing) prepare(unresolved []echo.Unresolved) error {
	count := cmp.Or(m.asked.Count, manyCount)
	m.pinger = echo.Pinger{Count: count, Interval: m.asked.Interval, Timeout: m.asked.Timeout, Size: m.asked.Size, Mark: m.mark, Tell: m.tell}
	for _, t := range m.list.All {
		m.pinger.Targets = append(m.pinger.Targets, t.Address)
		m.targets = append(m.targets, &manyTarget{Target: t})
	}
	for _, u := range unresolved {
		m.targets = append(m.targets, &manyTarget{Target: u.Target, failed: u.Err})
	}
	if len(m.pinger.Targets) == 0 {
		return nil
	}
	m.keep = min(count, max(manyCount, manyKept/len(m.pinger.Targets)))
	return m.pinger.Validate()
}

// manyKept is how many requests are kept of all targets together, each in some 150 bytes: where more are asked for, a target has several Results.
const manyKept = 1 << 15

// manyGarbage is how much garbage there may be beside what is kept, in percent: with 2,000 targets it saves 6 MB and costs 0.5 % of a processor.
const manyGarbage = 50

// manyCount is how many requests each target gets where nobody says: as many as of a ping of one.
const manyCount = 10

// ping asks all targets that have an address, shown on a terminal.
func (m *manyPing) ping(ctx context.Context) error {
	if len(m.pinger.Targets) == 0 {
		return nil
	}
	if m.json {
		debug.SetGCPercent(manyGarbage)
	}
	m.clock, m.began = measure.NewClock(sock.ClockQuality()), time.Now()
	if m.live() {
		live := m.screen().Start(m.view)
		defer live.End(false)
		m.pinger.Tell = func(e echo.Event) { live.Change(func() { m.tell(e) }) }
	}
	_, err := m.pinger.Run(ctx)
	return err
}

// mark sets what the call says of its packets, and learns by what socket they go.
func (m *manyPing) mark(conn syscall.RawConn) error {
	kind, unknown := 0, error(nil)
	err := conn.Control(func(fd uintptr) { kind, unknown = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE) })
	m.socket = "datagram"
	if err == nil && unknown == nil && kind == unix.SOCK_RAW {
		m.socket = "raw"
	}
	return m.asked.Mark(conn)
}

// tell takes what became of a request.
func (m *manyPing) tell(e echo.Event) {
	m.round = max(m.round, e.Sequence+1)
	t := m.targets[e.Target]
	t.add(e)
	if m.json {
		m.record(t, e)
	} else if m.verbose > 0 && !m.live() && e.Fate != echo.Sent && e.Fate != echo.Duplicate {
		m.say("%s %s", t.Name, probe.EchoLine(echoOf(e)))
	}
}
