package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/connect"
	"github.com/pathwise-net/pathwise/proto/reach"
	"github.com/pathwise-net/pathwise/sock"
)

// connectCall is a call of ping --connect.
type connectCall struct {
	flags  *parameterFlags
	target string
	failOn string
	back   bool
	ends   endFlags
}

// connectFlags are those of ping that hold with --connect, and connectOnly those that hold with it alone.
var (
	connectFlags = []string{"connect", "port", "count", "timeout", "ipv4", "ipv6", "json", "quiet", "verbose"}
	connectOnly  = []string{"back", "fail-on", "ssh", "key", "known-hosts"}
)

// failClosed is what --fail-on takes.
const failClosed = "closed"

// addConnect has ping try a port, and say what is in the way where it does not open.
func addConnect(c *cobra.Command, s *session, flags *parameterFlags) {
	if flags.kind.Name != "ping" {
		return
	}
	call := &connectCall{flags: flags}
	c.Flags().StringVar(&call.target, "connect", "", "HOST:PORT: open TCP connections there, and say what is in the way if none opens")
	c.Flags().StringVar(&call.failOn, "fail-on", "", "of --connect: closed: exit with status 3 if the port does not open, or a fresh one is not reached")
	c.Flags().BoolVar(&call.back, "back", false, "of --connect: ask pathwise respond at HOST whether fresh ports are reached, there and back, over TCP and UDP")
	call.ends.add(c.Flags())
	c.Flags().Lookup("ssh").Usage = "of --connect: log in at the far end as [USER@]HOST[:PORT], watch the connections there, and leave nothing behind"
	c.Long += "\n--connect HOST:PORT says whether a TCP port answers, and if not, who is in the way; with --ssh it looks from both ends."
	c.Example += "\n" + examples([]string{"ping --connect carol:22", "ping --connect carol:443 --ssh root@carol --fail-on closed", "ping --connect carol --back"})
	other, check := c.RunE, c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("connect") {
			return cobra.NoArgs(c, args)
		}
		return check(c, args)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkConnectFlags(c.Flags()); err != nil {
			return err
		}
		if !c.Flags().Changed("connect") {
			return other(c, args)
		}
		return flags.blame(c, call.run(c, s))
	}
}

// checkConnectFlags refuses flags that hold without --connect alone, or with it alone.
func checkConnectFlags(flags *pflag.FlagSet) error {
	on := flags.Changed("connect")
	switch f := flagUnfit(flags, on, connectFlags, connectOnly); {
	case f == nil:
		return nil
	case on:
		return input.Errorf("--%s: not for --connect, which opens connections of no content; leave it out", f.Name)
	default:
		return badFlag(f.Name, fmt.Errorf("%q: it is for --connect; give that, too", f.Value))
	}
}

func (call *connectCall) run(c *cobra.Command, s *session) error {
	p, err := call.read(c, s)
	if err != nil {
		return err
	}
	s.progress("connecting to %s…", call.target)
	r, failed := p.Do(c.Context())
	s.progress("")
	if err := s.finish(r, failed, probe.WriteText); failed != nil || err != nil {
		return firstOf([]error{failed, err}, false)
	}
	if call.failOn == failClosed && (!connect.IsOpen(r.Samples.Port.Finding) || call.back && !reach.IsOpen(*r.Samples.Reach)) {
		return errBadOutcome
	}
	return nil
}

// read checks what the flags say, before anything is sent.
func (call *connectCall) read(c *cobra.Command, s *session) (measure.Prober, error) {
	host, port, err := sock.SplitHostPort(call.target)
	if err != nil {
		return nil, badFlag("connect", err)
	}
	if call.failOn != "" && call.failOn != failClosed {
		return nil, badFlag("fail-on", fmt.Errorf("%q: want %s", call.failOn, failClosed))
	}
	parameters, options, err := call.flags.read(c, s)
	if err == nil && port != 0 {
		err = call.flags.agree(c, call.target, map[string]any{"port": port}, parameters)
	}
	if err != nil {
		return nil, err
	}
	if call.back {
		parameters["back"] = true
	}
	if parameters["port"] == nil && !call.back {
		return nil, badFlag("connect", fmt.Errorf("%q: give a port, too, such as %s", call.target, sock.JoinHostPort(host, 22)))
	}
	family, err := call.flags.over.family("a port is tried over one of them")
	if err != nil {
		return nil, err
	}
	if family != "" {
		parameters["family"] = string(family)
	}
	reach, _, err := call.ends.read([]string{host})
	if err != nil {
		return nil, err
	}
	if reach != nil {
		options.FarPort = s.farPort(reach)
	}
	return probe.New(measure.Task{Kind: "connect", Target: host, Parameters: parameters}, options)
}
