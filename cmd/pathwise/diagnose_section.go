package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// targetFlags say what the path is to carry as a part of a longer one.
type targetFlags struct {
	flags     *pflag.FlagSet
	rate, rtt string
	accept    bool
}

func (f *targetFlags) add(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVar(&f.rate, "target-rate", "", "also say whether this path would pass as a part of one that is to carry this rate, such as 500mbit")
	flags.StringVar(&f.rtt, "target-rtt", "", "the round trip of that whole path, such as 76ms")
	flags.BoolVar(&f.accept, "accept", false, "hold --target-rate for the time of -t, each way, and exit with status 3 if it is not held; then say why")
}

// read returns the target, nil where none is named. Its round trip is 0 where only its rate is to be accepted.
func (f *targetFlags) read() (*diagnose.Target, error) {
	if f.rate == "" && f.rtt == "" && !f.accept {
		return nil, nil
	}
	if f.accept && f.flags.Changed("rate") {
		return nil, badFlag("rate", errors.New("--accept holds --target-rate; want one of them"))
	}
	rate, err := quantity.ParseRate(f.rate)
	if err != nil {
		return nil, badFlag("target-rate", err)
	}
	if f.accept && f.rtt == "" {
		return &diagnose.Target{Rate: rate}, nil
	}
	rtt, err := quantity.ParseDuration(f.rtt)
	if err == nil && rtt <= 0 {
		err = fmt.Errorf("%q: want a round trip above zero such as 76ms", f.rtt)
	}
	if err != nil {
		return nil, badFlag("target-rtt", err)
	}
	return &diagnose.Target{Rate: rate, RTT: rtt}, nil
}

// directions are the ways in which data can be sent: what is read here cannot be sent from there.
func (v *survey) directions() []string {
	if v.options.Source != nil {
		return []string{measure.Forward}
	}
	return []string{measure.Forward, measure.Reverse}
}

// accepted says whether the path holds a rate: a diagnosis of that alone, nil where nothing was measured. What was measured comes with
// an error.
func (v *survey) accepted(ctx context.Context, rate float64) (*diagnose.Diagnosis, error) {
	d := &diagnose.Diagnosis{Schema: diagnose.Schema, Verdict: diagnose.Unknown, Findings: []measure.Finding{}, Notes: []string{}}
	lasts := v.transfer.Config.Duration.Seconds()
	var err error
	for _, s := range diagnose.AcceptanceSteps(rate, lasts, v.directions()...) {
		var r *measure.Result
		r, err = v.step(ctx, s)
		if r != nil {
			d.Results = append(d.Results, r)
		}
		if err = cmp.Or(err, v.failed, context.Cause(ctx)); err != nil {
			break
		}
	}
	v.session.progress("")
	if len(d.Results) == 0 {
		return nil, err
	}
	d.Acceptance = diagnose.JudgeAcceptance(rate, lasts, d.Results, v.directions()...)
	if d.Acceptance.Outcome == diagnose.Passes {
		d.Verdict, d.AchievedBitsPerSecond = diagnose.Healthy, d.Acceptance.Checks[0].Value
	}
	return d, err
}

// section measures what a diagnosis leaves open of a target, and judges the path by it. What was measured comes with an error.
func (v *survey) section(ctx context.Context, t diagnose.Target, d *diagnose.Diagnosis) (failed error) {
	for _, s := range diagnose.SectionSteps(t, d.Results) {
		r, err := v.step(ctx, s)
		if r != nil {
			d.Results = append(d.Results, r)
		}
		if err != nil {
			failed = err
			break
		}
	}
	v.session.progress("")
	notes := d.Notes // of what was left out, too
	*d = *diagnose.DiagnoseSection(t, v.before, d.Results)
	d.Notes = notes
	return errors.Join(failed, context.Cause(ctx))
}

// sectionWords are outcomes as people read them.
var sectionWords = map[diagnose.Outcome]string{diagnose.Passes: "pass", diagnose.Fails: "FAIL", diagnose.Untold: "cannot tell"}

func printSection(w io.Writer, s *diagnose.Section) {
	fmt.Fprintf(w, "\nas a part of a path that carries %s over %s: %s\n", quantity.FormatRate(s.RateBitsPerSecond),
		quantity.FormatSeconds(s.RTTSeconds), sectionWords[s.Outcome])
	printChecks(w, s.Checks)
	if s.Outcome != diagnose.Passes && s.NearestRTTSeconds != nil {
		fmt.Fprintf(w, "  with these losses would pass: %s over %s, or %s over %s\n",
			quantity.FormatRate(s.RateBitsPerSecond), quantity.FormatSeconds(min(s.RTTSeconds, *s.NearestRTTSeconds)),
			quantity.FormatRate(min(s.RateBitsPerSecond, *s.NearestRateBitsPerSecond)), quantity.FormatSeconds(s.RTTSeconds))
	}
}

func printAcceptance(w io.Writer, a *diagnose.Acceptance) {
	fmt.Fprintf(w, "%s for %s: %s\n", quantity.FormatRate(a.RateBitsPerSecond), quantity.FormatSeconds(a.DurationSeconds), sectionWords[a.Outcome])
	printChecks(w, a.Checks)
}

func printChecks(w io.Writer, checks []diagnose.Check) {
	for _, c := range checks {
		value, needed := "-", quantity.Format(c.Needed, c.Unit)
		if c.Value > 0 {
			value = quantity.Format(c.Value, c.Unit)
		}
		fmt.Fprintf(w, "  %-11s %-24s %s, needed %s\n", sectionWords[c.Outcome], c.Name+", "+string(c.Way), value, needed)
		if c.Outcome != diagnose.Passes {
			fmt.Fprintln(w, chart.Fold(c.Means, "      ", chart.Width))
		}
		for _, a := range c.Advice {
			printAdvice(w, a)
		}
	}
}

func printAdvice(w io.Writer, a measure.Advice) {
	if a.Command != "" {
		fmt.Fprintf(w, "  > on %s: %s\n%s\n", a.Host, a.Command, chart.Fold(a.Why, "      ", chart.Width))
		return
	}
	fmt.Fprintf(w, "  > %s:\n%s\n", a.Host, chart.Fold(a.Why, "      ", chart.Width))
}
