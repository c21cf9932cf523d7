package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

// hostInterval lies between two readings of what the kernel counts.
const hostInterval = time.Second

// hostCall is what the flags of `pathwise host` say.
type hostCall struct {
	over          hostFlags
	rate, rtt, to string
	only          []string
	failOn        string
	ask           host.Ask
	system        host.System
}

func hostCommand(s *session) *cobra.Command {
	call := hostCall{system: host.Linux()}
	c := &cobra.Command{
		Use: "host", Short: "Audit this machine: what it is set to, beside what a rate and a round trip need", Args: cobra.NoArgs,
		Long: "Read what kernel, interfaces, processors, clock, disks, firewall and routes of this machine are set to, and hold each against\n" +
			"what a rate and a round trip need: with the formula, the command that changes it, and how to make it stay.\n" +
			"Nothing is changed.",
		Example: "  pathwise host\n  pathwise host --to carol --rate 10gbit --rtt 80ms\n  pathwise host --only tcp-rmem,tcp-wmem --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := call.read(c.Context()); err != nil {
				return err
			}
			s.progress("reading this machine…")
			r, err := call.system.Audit(c.Context(), call.ask)
			s.progress("")
			if err != nil {
				return err
			}
			if err := s.emit(r, func(w io.Writer) { printHost(w, r, s) }); err != nil {
				return err
			}
			if call.failOn != "" && host.Status(r.Verdict).AtLeastAsBad(host.Status(call.failOn)) {
				return errBadOutcome
			}
			return nil
		},
	}
	flags := c.Flags()
	call.over.add(flags)
	flags.StringVar(&call.rate, "rate", "", "that the machine is to carry, such as 10gbit (default: the speed of the link)")
	flags.StringVar(&call.rtt, "rtt", "", "round-trip time of the path, such as 80ms (default: what the kernel remembers of --to, or 50ms)")
	flags.StringVar(&call.to, "to", "", "HOST that data goes to: its route says which interface is audited")
	flags.StringSliceVar(&call.only, "only", nil, "IDs of what is to be looked at, such as tcp-rmem; may be repeated")
	flags.StringVar(&call.failOn, "fail-on", "", "exit with status 3 if anything is as bad as this, or worse: problem or warning")
	return c
}

// read checks what the flags say, and looks up the host of --to.
func (call *hostCall) read(ctx context.Context) (err error) {
	call.ask = host.Ask{Interval: hostInterval, Only: call.only}
	family, err := call.over.family("an audit is of one route")
	if err != nil {
		return err
	}
	if call.rate != "" {
		if call.ask.Rate, err = quantity.ParseRate(call.rate); err != nil {
			return badFlag("rate", err)
		}
	}
	if call.rtt != "" {
		if call.ask.RTT, err = parsePositive(call.rtt); err != nil {
			return badFlag("rtt", err)
		}
	}
	if call.failOn != "" && !slices.Contains([]string{string(host.Problem), string(host.Warning)}, call.failOn) {
		return badFlag("fail-on", fmt.Errorf("%q: want problem or warning", call.failOn))
	}
	if err := checkItems(call.only); err != nil {
		return badFlag("only", err)
	}
	if call.to != "" {
		var to netip.Addr
		if to, err = probe.Resolve(ctx, call.to, family); err != nil {
			return badFlag("to", err)
		}
		call.ask.To = to
	}
	return nil
}

// checkItems says which ID is of no item.
func checkItems(ids []string) error {
	var known []string
	for _, i := range host.Items() {
		known = append(known, i.ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return fmt.Errorf("%q: no such item%s", id, document.Meant(id, known))
		}
	}
	return nil
}
