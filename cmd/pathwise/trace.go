package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

func traceCommand(s *session) *cobra.Command {
	var p probe.Trace
	var over hostFlags
	var kind, timeout string
	c := &cobra.Command{
		Use: "trace HOST[:PORT]", Short: "The route to HOST", Args: cobra.ExactArgs(1),
		Long:    "Send UDP packets that die at each hop in turn, and report who says so. Needs no root.",
		Example: "  pathwise trace 127.0.0.1\n  pathwise trace carol --json\n  pathwise trace carol -6",
		RunE: func(c *cobra.Command, args []string) (err error) {
			if kind != "udp" {
				return badFlag("proto", fmt.Errorf("%q: this version has udp", kind))
			}
			if p.Timeout, err = parsePositive(timeout); err != nil {
				return badFlag("timeout", err)
			}
			if p.Target, err = readHost(c, args[0], &p.Port); err != nil {
				return err
			}
			if err := p.Validate(); err != nil {
				return err
			}
			return s.measureHosts(c.Context(), []string{p.Target}, over.families(), printTrace,
				func(_ string, family sock.Family) (*measure.Result, error) {
					s.progress("tracing %s…", p.Target)
					p.Family = family
					return p.Do(c.Context())
				})
		},
	}
	flags := c.Flags()
	over.add(flags)
	flags.StringVar(&kind, "proto", "udp", "udp")
	flags.IntVar(&p.MaxTTL, "max-ttl", 30, "give up after this many hops")
	flags.IntVarP(&p.Queries, "queries", "n", 3, "packets for each hop")
	flags.IntVar(&p.Port, "port", 33434, "first destination port")
	flags.StringVarP(&timeout, "timeout", "W", "1s", "how long an answer may take")
	return c
}

func printTrace(w io.Writer, r *measure.Result) {
	fmt.Fprintf(w, "route to %s (%s)\n", r.Target.Name, r.Target.Address)
	for _, h := range r.Samples.Hops {
		var rtts []string
		for _, v := range h.RTTSeconds {
			if v == nil {
				rtts = append(rtts, "*")
			} else {
				rtts = append(rtts, quantity.FormatSeconds(*v))
			}
		}
		who := strings.Join(h.Addresses, " ")
		if who == "" {
			who = "-"
		}
		line := fmt.Sprintf("%3d  %-24s %s", h.TTL, who, strings.Join(rtts, "  "))
		if h.Reply != "" {
			line += "  (" + h.Reply + ")"
		}
		fmt.Fprintln(w, line)
	}
	printNotes(w, r)
}
