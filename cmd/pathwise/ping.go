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

func pingCommand(s *session) *cobra.Command {
	var p probe.Ping
	var over hostFlags
	var kind, interval, timeout string
	c := &cobra.Command{
		Use: "ping HOST…", Short: "Round trips to each HOST", Args: cobra.MinimumNArgs(1),
		Long: "Send ICMP echoes and report delay, loss, duplicates and reordering, by the kernel's own time stamps. Needs no root\n" +
			"where net.ipv4.ping_group_range admits the user.",
		Example: "  pathwise ping 127.0.0.1 -c 3 -i 0.1\n  pathwise ping carol --poisson --dscp 46 --json\n  pathwise ping localhost -4 -6 -c 3 -i 0.1",
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
			hosts := make([]string, len(args))
			for i, text := range args {
				if hosts[i], err = readHostAlone(text, "ICMP has no ports"); err != nil {
					return err
				}
			}
			p.Target = hosts[0]
			if err := p.Validate(); err != nil {
				return err
			}
			p.Progress = func(e measure.Echo) {
				if s.verbose > 0 {
					s.say("%s", echoLine(e))
				}
			}
			return s.measureHosts(c.Context(), hosts, over.families(), printPing, func(host string, family sock.Family) (*measure.Result, error) {
				s.progress("pinging %s…", host)
				p.Target, p.Family = host, family
				return p.Do(c.Context())
			})
		},
	}
	flags := c.Flags()
	over.add(flags)
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
