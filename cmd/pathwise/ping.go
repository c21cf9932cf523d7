package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

func pingCommand(s *session) *cobra.Command {
	var p probe.Ping
	var kind, interval, timeout string
	c := &cobra.Command{
		Use: "ping HOST…", Short: "Round trips to each HOST", Args: cobra.MinimumNArgs(1),
		Long: "Send ICMP echoes and report delay, loss, duplicates and reordering, by the kernel's own time stamps. Needs no root\n" +
			"where net.ipv4.ping_group_range admits the user.",
		Example: "  pathwise ping 127.0.0.1 -c 3 -i 0.1\n  pathwise ping carol --poisson --dscp 46 --json",
		RunE: func(c *cobra.Command, args []string) (err error) {
			if kind != "icmp" {
				return badFlag("proto", fmt.Errorf("%q: this version has icmp", kind))
			}
			if p.Interval, err = parsePositive(interval); err != nil {
				return badFlag("interval", err)
			}
			if p.Timeout, err = parsePositive(timeout); err != nil {
				return badFlag("timeout", err)
			}
			if p.Count < 1 {
				return badFlag("count", fmt.Errorf("\"%d\": want 1 or more", p.Count))
			}
			return s.pingEach(c.Context(), p, args)
		},
	}
	flags := c.Flags()
	flags.StringVar(&kind, "proto", "icmp", "icmp")
	flags.IntVarP(&p.Count, "count", "c", 10, "echoes to send")
	flags.StringVarP(&interval, "interval", "i", "1s", "time between echoes; their mean with --poisson")
	flags.StringVarP(&timeout, "timeout", "W", "2s", "how long a reply may take")
	flags.IntVarP(&p.Size, "size", "s", 56, "bytes of payload")
	flags.IntVar(&p.TTL, "ttl", 0, "time to live (default: the kernel's)")
	flags.IntVar(&p.DSCP, "dscp", 0, "differentiated services code point, 0 to 63")
	flags.BoolVar(&p.DontFragment, "df", false, "do not let routers cut the packets")
	flags.BoolVar(&p.Poisson, "poisson", false, "exponential intervals, which meet periodic behaviour without bias")
	return c
}

// pingEach measures the targets one after another. Under --json a single target's Result is the document; those of
// several stand in a list.
func (s *session) pingEach(ctx context.Context, p probe.Ping, hosts []string) error {
	p.Progress = func(e measure.Echo) {
		if s.verbose > 0 {
			s.say("%s", echoLine(e))
		}
	}
	var results []*measure.Result
	var failed []error
	for _, host := range hosts {
		if ctx.Err() != nil {
			break
		}
		s.progress("pinging %s…", host)
		p.Target = host
		r, err := p.Do(ctx)
		s.progress("")
		results, failed = append(results, r), append(failed, err)
		if s.json && len(hosts) > 1 {
			s.measured(r)
		} else {
			failed = append(failed, s.finish(r, err, printPing))
		}
	}
	if s.json && len(hosts) > 1 {
		doc := map[string]any{"schema": "pathwise.results/1", "results": results}
		failed = append(failed, s.emit(doc, nil))
	}
	return firstOf(failed, len(hosts) > 1)
}

// firstOf keeps the message to one error: the others are in the Results. Where there are several targets, one that
// does not exist makes the call no wrong one.
func firstOf(errs []error, several bool) error {
	for _, err := range errs {
		switch {
		case err != nil && several:
			return errors.New(err.Error())
		case err != nil:
			return err
		}
	}
	return nil
}

func echoLine(e measure.Echo) string {
	switch {
	case e.Error != "":
		return fmt.Sprintf("%5d  %s, said %s", e.Seq, e.Error, e.From)
	case e.RTTSeconds == nil:
		return fmt.Sprintf("%5d  lost", e.Seq)
	}
	return fmt.Sprintf("%5d  %s", e.Seq, quantity.FormatSeconds(*e.RTTSeconds))
}

func printPing(w io.Writer, r *measure.Result) {
	m := r.Metrics
	fmt.Fprintf(w, "%s (%s): %.0f sent, %.0f received, %.0f lost (%s)", r.Target.Name, r.Target.Address, m[measure.SentPackets],
		m[measure.ReceivedPackets], m[measure.LostPackets], quantity.FormatRatio(m[measure.LossRatio]))
	for _, extra := range []struct {
		metric measure.Metric
		name   string
	}{{measure.DuplicatePackets, "duplicates"}, {measure.ReorderedPackets, "reordered"}} {
		if n := m[extra.metric]; n > 0 {
			fmt.Fprintf(w, ", %.0f %s", n, extra.name)
		}
	}
	fmt.Fprintln(w)
	if _, any := r.Get(measure.RTTMin); any {
		var names, values []string
		for _, q := range []measure.Metric{measure.RTTMin, measure.RTTMedian, measure.RTTP95, measure.RTTP99, measure.RTTMax} {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(string(q), "rtt_"), "_seconds"))
			values = append(values, quantity.FormatSeconds(m[q]))
		}
		fmt.Fprintf(w, "round trip %s = %s\n", strings.Join(names, "/"), strings.Join(values, " / "))
	}
	printNotes(w, r)
}
