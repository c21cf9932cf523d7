package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

// hostInterval lies between two readings of what the kernel counts.
const hostInterval = time.Second

// hostCall is what the flags of `pathwise host` say.
type hostCall struct {
	over                   hostFlags
	rate, rtt, to          string
	only                   []string
	failOn, os, disk       string
	apply, persist, revert bool
	reference, crypto      bool
	backup                 string
	key, knownHosts        string

	ask    host.Ask
	system host.System
}

func hostCommand(s *session) *cobra.Command {
	call := hostCall{system: host.Linux()}
	c := &cobra.Command{
		Use: "host [SSH-HOST] | --reference [HOST[:PORT]]", Short: "Audit a machine: what it is set to, beside what a rate and a round trip need", Args: call.machines,
		Long: "Read what kernel, interfaces, processors, clock, disks, firewall and routes of a machine are set to, and hold each against\n" +
			"what a rate and a round trip need: with the formula, the command that changes it, and how to make it stay.\n" +
			"Nothing is changed, unless --apply is given: it keeps what was there before, and --revert writes that back.\n" +
			"SSH-HOST, as [USER@]HOST[:PORT], is another machine: this binary is put there, run once, and taken away again.\n" +
			"--reference HOST moves data to and from a near host, where `pathwise respond` runs, and keeps what this machine can carry at\n" +
			"the most: `pathwise diagnose` then blames no path for it. --reference alone prints that.",
		Example: "  pathwise host\n  pathwise host --to carol --rate 10gbit --rtt 80ms\n  pathwise host --only tcp-rmem,tcp-wmem --json\n" +
			"  pathwise host --apply --persist\n  pathwise host --revert\n  pathwise host --os freebsd --rate 10gbit --rtt 80ms\n" +
			"  pathwise host root@dtn1 --to carol\n  pathwise host --reference dtn2\n" +
			"  pathwise host --disk=/data --crypto --only disk-rate,crypto-rate",
		RunE: func(c *cobra.Command, args []string) error {
			args, err := call.readFolder(args)
			if err != nil {
				return err
			}
			if call.reference {
				return s.referenceHost(c, &call, args)
			}
			if err := call.read(c, args); err != nil {
				return err
			}
			switch {
			case call.os != "":
				return s.adviseHost(&call)
			case call.revert:
				return s.revertHost(&call)
			}
			return s.auditHost(c.Context(), &call, args)
		},
	}
	flags := c.Flags()
	call.over.add(flags)
	flags.StringVar(&call.rate, "rate", "", "that the machine is to carry, such as 10gbit (default: the speed of the link)")
	flags.StringVar(&call.rtt, "rtt", "", "round-trip time of the path, such as 80ms (default: what the kernel remembers of --to, or 50ms)")
	flags.StringVar(&call.to, "to", "", "HOST that data goes to: its route says which interface is audited")
	flags.StringSliceVar(&call.only, "only", nil, "IDs of what is to be looked at, such as tcp-rmem; may be repeated")
	flags.StringVar(&call.failOn, "fail-on", "", "exit with status 3 if anything is as bad as this, or worse: problem or warning")
	flags.StringVar(&call.disk, "disk", "", "folder in which a file of at most 512 MiB is written and read, by large blocks and by small ones, to see how fast that goes")
	flags.Lookup("disk").NoOptDefVal = here
	flags.BoolVar(&call.crypto, "crypto", false, "see how fast one core encrypts, and proves files by a digest, and how many cores the rate takes")
	flags.StringVar(&call.os, "os", "", "only print what another system needs: freebsd, macos or windows")
	flags.BoolVar(&call.apply, "apply", false, "change what can be changed at once, after what is there is kept in the backup; needs root")
	flags.BoolVar(&call.persist, "persist", false, "with --apply, write the settings into /etc/sysctl.d/90-pathwise.conf, too")
	flags.BoolVar(&call.revert, "revert", false, "write back what the backup has; needs root")
	flags.BoolVar(&call.reference, "reference", false, "against HOST, measure and keep what this machine can carry at the most; without HOST, print it")
	flags.StringVar(&call.backup, "backup", hostBackup, "file of the backup, for --apply and --revert")
	flags.StringVar(&call.key, "key", "", "file of the private key for SSH-HOST (default: as ssh has them, and ssh-agent)")
	flags.StringVar(&call.knownHosts, "known-hosts", "", "file of the hosts that are known (default: as ssh has them)")
	return c
}

// here is the folder of --disk that names none. Nobody writes it so: "--disk=." names one.
const here = "./"

// machines takes one host at the most. Where --disk names no folder, what stands behind it may be meant for one.
func (call *hostCall) machines(c *cobra.Command, args []string) error {
	if call.disk == here && len(args) > 1 {
		return badFlag("disk", fmt.Errorf("%q: its folder is joined to it by \"=\", as in --disk=DIR; only one SSH-HOST is taken", args))
	}
	return cobra.MaximumNArgs(1)(c, args)
}

// readFolder takes the folder of "--disk FOLDER" from the arguments, which no machine is called as, and returns the others. What may be meant as a
// folder or as a machine is refused.
func (call *hostCall) readFolder(args []string) ([]string, error) {
	if call.disk != here {
		return args, nil
	}
	call.disk = "."
	if len(args) == 0 {
		return args, nil
	}
	name := args[0]
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		call.disk = name
		return args[1:], nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return args, badFlag("disk", fmt.Errorf("%q: a folder here, or a machine to log in to? Write --disk=%s for the folder, or --disk=. %s for the machine", name, name, name))
	}
	return args, nil
}

// read checks what the flags say, and looks up the host of --to, unless another machine does.
func (call *hostCall) read(c *cobra.Command, args []string) (err error) {
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
	if call.os != "" && !slices.Contains(host.Systems(), call.os) {
		return badFlag("os", fmt.Errorf("%q: want one of %s", call.os, strings.Join(host.Systems(), ", ")))
	}
	if err := checkItems(call.only); err != nil {
		return badFlag("only", err)
	}
	remote := len(args) > 0
	if call.disk != "" && !remote {
		if info, err := os.Stat(call.disk); err != nil {
			return badFlag("disk", err)
		} else if !info.IsDir() {
			return badFlag("disk", fmt.Errorf("%q: want a folder", call.disk))
		}
		call.system.DiskRates = host.TryDisk(call.disk)
	}
	if call.crypto {
		call.system.Transfer = host.OwnTransfer
	}
	if err := call.checkChanges(c.Flags().Changed("backup"), remote); err != nil {
		return err
	}
	if err := checkReach(call.key, call.knownHosts, "SSH-HOST", remote); err != nil {
		return err
	}
	if call.to != "" && !remote {
		if call.ask.To, err = probe.Resolve(c.Context(), call.to, family); err != nil {
			return badFlag("to", err)
		}
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

// auditHost reads this machine or another, prints what was found, and changes this one where that was asked for.
func (s *session) auditHost(ctx context.Context, call *hostCall, args []string) (err error) {
	var r *host.Report
	if len(args) > 0 {
		r, err = s.auditByReach(ctx, call, args[0])
	} else {
		s.progress("reading this machine…")
		call.system.DiskRates = s.tellingWhy(call.system.DiskRates)
		r, err = call.system.Audit(ctx, call.ask)
		s.progress("")
	}
	if err != nil {
		return err
	}
	if call.apply {
		return s.applyHost(call, r)
	}
	err = s.emit(r, func(w io.Writer) { printHost(w, r, s) })
	if err == nil && call.failOn != "" && r.Verdict.AtLeastAsBad(host.Status(call.failOn)) {
		err = errBadOutcome
	}
	return err
}

// tellingWhy says why a disk was not tried to the end, with what was measured before: an audit that is ended then prints nothing.
func (s *session) tellingWhy(try func(context.Context) ([]host.DiskRate, error)) func(context.Context) ([]host.DiskRate, error) {
	if try == nil {
		return nil
	}
	return func(ctx context.Context) ([]host.DiskRate, error) {
		all, err := try(ctx)
		if err != nil {
			s.progress("")
			for _, r := range all {
				fmt.Fprintf(s.err, "disk: %s %s\n", r.What, quantity.FormatRate(r.Rate))
			}
			fmt.Fprintf(s.err, "disk: %v\n", err)
		}
		return all, err
	}
}

// hostAdviceDoc is the JSON document of what another system needs.
type hostAdviceDoc struct {
	Schema     string        `json:"schema"`
	OS         string        `json:"os"`
	Rate       float64       `json:"rate_bits_per_second"`
	RTTSeconds float64       `json:"rtt_seconds"`
	Advice     []host.Advice `json:"advice"`
	Keep       string        `json:"keep"`
}

// adviseHost prints what another system needs.
func (s *session) adviseHost(call *hostCall) error {
	need := call.ask.Need()
	advice, keep, err := host.Advise(call.os, need)
	if err != nil {
		return err
	}
	doc := hostAdviceDoc{"pathwise.host-advice/1", call.os, need.Rate, need.RTT.Seconds(), advice, keep}
	return s.emit(doc, func(w io.Writer) {
		fmt.Fprintf(w, "%s, for %s and %s\n", call.os, quantity.FormatRate(need.Rate), quantity.FormatSeconds(need.RTT.Seconds()))
		for _, a := range advice {
			fmt.Fprintf(w, "\n  > %s\n%s\n", a.Command, chart.Fold(a.Why, "      ", chart.Width))
		}
		fmt.Fprintf(w, "\nto make it stay: %s\n", keep)
	})
}

// errNotRoot is why settings cannot be changed.
var errNotRoot = errors.New("only root may change this machine: run it with sudo")
