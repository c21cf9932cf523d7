package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// targetFlags say what the path is to carry as a part of a longer one.
type targetFlags struct{ rate, rtt string }

func (f *targetFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.rate, "target-rate", "", "also say whether this path would pass as a part of one that is to carry this rate, such as 500mbit")
	flags.StringVar(&f.rtt, "target-rtt", "", "the round trip of that whole path, such as 76ms")
}

// read returns the target, nil where none is named.
func (f *targetFlags) read() (*diagnose.Target, error) {
	if f.rate == "" && f.rtt == "" {
		return nil, nil
	}
	rate, err := quantity.ParseRate(f.rate)
	if err != nil {
		return nil, badFlag("target-rate", err)
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
	d.Section = diagnose.JudgeSection(t, d.Results)
	return errors.Join(failed, context.Cause(ctx))
}

// sectionWords are outcomes as people read them.
var sectionWords = map[diagnose.Outcome]string{diagnose.Passes: "pass", diagnose.Fails: "FAIL", diagnose.Untold: "cannot tell"}

func printSection(w io.Writer, s *diagnose.Section) {
	fmt.Fprintf(w, "\nas a part of a path that carries %s over %s: %s\n", quantity.FormatRate(s.RateBitsPerSecond),
		quantity.FormatSeconds(s.RTTSeconds), sectionWords[s.Outcome])
	for _, c := range s.Checks {
		value, needed := "-", quantity.Format(c.Needed, c.Unit)
		if c.Value > 0 {
			value = quantity.Format(c.Value, c.Unit)
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-11s %-24s %s, needed %s", sectionWords[c.Outcome], c.Name+", "+string(c.Way), value, needed), " "))
		if c.Outcome != diagnose.Passes {
			fmt.Fprintln(w, chart.Fold(c.Means, "      ", chart.Width))
		}
		for _, a := range c.Advice {
			printAdvice(w, a)
		}
	}
	if s.Outcome != diagnose.Passes && s.NearestRTTSeconds != nil {
		fmt.Fprintf(w, "  with these losses would pass: %s over %s, or %s over %s\n",
			quantity.FormatRate(s.RateBitsPerSecond), quantity.FormatSeconds(min(s.RTTSeconds, *s.NearestRTTSeconds)),
			quantity.FormatRate(min(s.RateBitsPerSecond, *s.NearestRateBitsPerSecond)), quantity.FormatSeconds(s.RTTSeconds))
	}
}

func printAdvice(w io.Writer, a measure.Advice) {
	if a.Command != "" {
		fmt.Fprintf(w, "  > on %s: %s\n%s\n", a.Host, a.Command, chart.Fold(a.Why, "      ", chart.Width))
		return
	}
	fmt.Fprintf(w, "  > %s:\n%s\n", a.Host, chart.Fold(a.Why, "      ", chart.Width))
}
