package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// oneFamily is why a diagnosis does not compare the families.
const oneFamily = "a diagnosis is of one path, and ping, trace and throughput compare the families"

// diagnoseTime is how long each transfer lasts: slow start over 200 ms takes three seconds, and what holds after it is to be seen.
const diagnoseTime = "8s"

// What the command says of itself.
const (
	diagnoseLong = "Measure the path to HOST, where `pathwise respond` runs: round trips, the route, the narrowest link's capacity and a\n" +
		"transfer each way; then name the cause if it is slow, with its evidence, what to change, and the speed to expect.\n" +
		"An iperf3 server will do at the far end; less can be told then. With --ssh nothing needs to run there: this program is put there,\n" +
		"answers the tests, reads what that host is set to, and is taken away. Tell how the program that is slow asks (--request, --writes,\n" +
		"--turns, …), and what slows its transactions comes first. Tell the port of its connections while it runs (--program), at either of\n" +
		"its ends, and what they wait for comes before all. Name a file (--file, --far-file), and it says whether the disk is what is slow.\n" +
		"Of a URL it reads the file, and says what the receiver alone can know: nothing of Pathwise needs to be there.\n" +
		"With --segments it also measures to hosts along the path, and says which part of it is to blame.\n" +
		"With --pair nothing is measured: of two hosts of a mesh it says what changed since when, from what to what, what else happened\n" +
		"then, which other pairs changed with them, and what these have in common."
	diagnoseExample = "  pathwise diagnose carol\n  pathwise diagnose carol -t 5 --cc cubic --json\n  tar c data | pathwise diagnose carol --input -\n" +
		"  pathwise diagnose carol --report path.html --mask\n  pathwise diagnose carol --target-rate 500mbit --target-rtt 76ms\n" +
		"  pathwise diagnose carol --request 202 --writes 2\n  pathwise diagnose carol --program 5001\n  pathwise diagnose carol --file data.tar --direct\n  pathwise diagnose carol --budget 15s,100MB\n" +
		"  pathwise diagnose https://carol/1GB\n" +
		"  pathwise diagnose carol --accept --target-rate 500mbit -t 60\n" +
		"  pathwise diagnose carol --segments border.example.org,exchange.example.net:5202\n" +
		"  pathwise diagnose --ssh alice@carol\n  pathwise diagnose 192.0.2.9 --ssh alice@carol:2222 --port 5201\n" +
		"  pathwise diagnose --pair ucl/ral --since 7d --controller https://mesh.example.org:8080 --token-file ~/mesh.token"
)

// diagnoseCall is what the flags of `pathwise diagnose` say.
type diagnoseCall struct {
	flags   parameterFlags
	failOn  string
	explain bool
	written reportFlags
	aim     targetFlags
	program programFlags
	budget  string
	past    pastFlags
	ends    endFlags
	parts   segmentFlags
}

// diagnoseFlags are the flags of a diagnosis by what they are about.
var diagnoseFlags = []flagGroup{
	{"What is measured", []string{"time", "budget", "port", "rate", "window", "cc", "dscp", "input", "ipv4", "ipv6", "segments", "transact-port"}},
	{"The program that is slow", []string{"program", "service", "request", "response", "writes", "turns", "nodelay", "file", "far-file", "direct"}},
	{"The far end", []string{"ssh", "key", "known-hosts"}},
	{"What is expected", []string{"target-rate", "target-rtt", "accept", "fail-on", "before"}},
	{"The outcome", []string{"explain", "report", "mask", "application", "expected", "observed", "since"}},
	{"Of a mesh", []string{"pair", "controller", "token-file", "ca-file", "data"}},
}

func diagnoseCommand(s *session) *cobra.Command {
	call := diagnoseCall{flags: parameterFlags{kind: throughputKind()}}
	c := &cobra.Command{
		Use: "diagnose HOST[:PORT] | URL | --ssh [USER@]HOST | --pair SOURCE/TARGET", Short: "Say why the path to HOST is slow, and what to change",
		Long: diagnoseLong, Example: diagnoseExample, Args: call.arguments,
		RunE: func(c *cobra.Command, args []string) error {
			if err := call.past.check(c.Flags()); err != nil {
				return err
			}
			if call.past.pair != "" {
				return s.diagnosePast(c, &call.past, call.written.told.Since, call.failOn)
			}
			defer call.flags.close()
			v, target, err := call.read(c, s, args)
			if err != nil {
				return err
			}
			return call.run(c.Context(), v, target)
		},
	}
	call.flags.add(c, "port", "duration", "rate", "window", "cc", "dscp")
	call.flags.addFiles(c, "also send this file of this host, and say whether it moves as fast as memory, or waits for a disk",
		"NAME in the folder of respond --files at HOST: also have it sent here; with --file, write that into it, and remove it after")
	call.program.add(c)
	c.Flags().Lookup("time").DefValue = diagnoseTime + ", or less as soon as the goodput is known within 5 %"
	addFailOn(c.Flags(), &call.failOn)
	call.written.add(c.Flags())
	call.aim.add(c.Flags())
	call.past.add(c.Flags())
	call.ends.add(c.Flags())
	call.parts.add(c)
	c.Flags().StringVar(&call.budget, "budget", "", "what it may use: a time, a size to move, or both, such as 20s or 30s,50MB")
	c.Flags().BoolVar(&call.explain, "explain", false, "say of every cause which facts speak for it or rule it out")
	groupFlags(c, diagnoseFlags)
	return c
}

// arguments takes a host, or none where a pair is named or --ssh names one.
func (call *diagnoseCall) arguments(c *cobra.Command, args []string) error {
	switch {
	case call.past.pair != "":
		return cobra.NoArgs(c, args)
	case call.ends.name != "":
		return cobra.MaximumNArgs(1)(c, args)
	}
	return cobra.ExactArgs(1)(c, args)
}

// read checks what the flags say, before anything is sent. The target is nil where none is named.
func (call *diagnoseCall) read(c *cobra.Command, s *session, args []string) (v *survey, target *diagnose.Target, err error) {
	reach, to, err := call.ends.read(args)
	if err == nil {
		v, err = newSurvey(c, s, &call.flags, to)
	}
	if err == nil {
		v.reach = reach
		v.before, err = call.past.earlier()
	}
	if err == nil {
		v.transactPort, v.transactNamed = call.program.port, c.Flags().Changed("transact-port")
		v.program, err = call.program.read(c)
	}
	if err == nil {
		target, err = call.aim.read()
	}
	if err == nil {
		v.budget, err = readBudget(call.budget)
	}
	if err == nil {
		v.points, err = call.parts.read(c, v)
	}
	if err == nil {
		err = v.readFiles(call.flags.files)
	}
	if err == nil {
		err = cmp.Or(checkFailOn(call.failOn), call.written.check())
	}
	return v, target, err
}

// run makes the diagnosis, and prints and writes it.
func (call *diagnoseCall) run(ctx context.Context, v *survey, target *diagnose.Target) error {
	d, err := v.diagnose(ctx, target, call.aim.accept)
	if d == nil {
		return err
	}
	err = errors.Join(err, v.session.emit(d, func(w io.Writer) {
		v.session.printDiagnosis(w, d)
		if call.explain {
			printConsidered(w, d)
		}
	}))
	err = errors.Join(err, call.written.write(v.session, d, time.Now()))
	if err == nil && (isBad(d, call.failOn) || d.Acceptance != nil && d.Acceptance.Outcome == diagnose.Fails) {
		return errBadOutcome
	}
	return err
}

// survey is diagnose once the far end is there.
func (v *survey) survey(ctx context.Context, target *diagnose.Target, accept bool) (*diagnose.Diagnosis, error) {
	defer v.session.showSteps()()
	var accepted *diagnose.Diagnosis
	if accept {
		var err error
		if accepted, err = v.accepted(ctx, target.Rate); err != nil || accepted.Acceptance.Outcome == diagnose.Passes {
			return accepted, err
		}
	}
	results, err := v.run(ctx)
	v.session.progress("")
	if len(results) == 0 || input.Bad(err) || ctx.Err() != nil && !diagnose.Measured(results) {
		return accepted, err // nothing more can be said about the path, so nothing is
	}
	if ctx.Err() == nil && (diagnose.IsStuck(results) || diagnose.DropsClass(results)) {
		err = nil // that nothing came through is what was found
	}
	if notThere(err) && diagnose.Seen(results) {
		err = nil // what the program's connections show was asked for, and found
	}
	if v.reference != nil {
		results = append(results, v.reference)
	}
	d := diagnose.DiagnoseAfter(v.before, results)
	if v.without != "" {
		d.Notes = append(d.Notes, v.without)
	}
	if target != nil && target.RTT > 0 && err == nil {
		err = v.section(ctx, *target, d)
	}
	if err == nil {
		err = v.segments(ctx, target, d)
	}
	if accepted != nil {
		d.Acceptance, d.Results = accepted.Acceptance, append(accepted.Results, d.Results...)
	}
	return d, err
}

// outcomes are what --fail-on takes, each worse than what follows it: a path with a worse outcome fails as well.
var outcomes = []string{string(measure.Problem), string(measure.Warning), diagnose.Unknown}

func addFailOn(flags *pflag.FlagSet, least *string) {
	flags.StringVar(least, "fail-on", "", "exit with status 3 if the outcome is as bad as this, or worse: problem, warning or unknown")
}

// checkFailOn says whether --fail-on names an outcome of a path that is not known to be healthy.
func checkFailOn(least string) error {
	if least != "" && !slices.Contains(outcomes, least) {
		return badFlag("fail-on", fmt.Errorf("%q: want problem, warning or unknown", least))
	}
	return nil
}

// isBad reports whether a diagnosis is as bad as --fail-on says, or worse.
func isBad(d *diagnose.Diagnosis, least string) bool {
	if least == "" {
		return false
	}
	bad := outcomes[:slices.Index(outcomes, least)+1]
	if s := d.Section; s != nil && (s.Outcome == diagnose.Fails || s.Outcome == diagnose.Untold && least == diagnose.Unknown) {
		return true
	}
	return slices.Contains(bad, d.Verdict) ||
		slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return slices.Contains(bad, string(f.Severity)) })
}

// printConsidered writes what came of every cause that was looked for, and by which facts.
func printConsidered(w io.Writer, d *diagnose.Diagnosis) {
	for i, c := range d.Considered {
		if i == 0 || c.Subject != d.Considered[i-1].Subject {
			fmt.Fprintf(w, "\nconsidered, %s:\n", strings.TrimSpace(string(c.Subject.Kind)+" "+c.Subject.Name))
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-8s %-23s %s", c.Outcome, c.ID, c.Because), " "))
	}
}
