package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// playAll plays the rounds in a lab that is up.
func (c *Case) playAll(ctx context.Context, l *lab.Lab) (rounds []Round, err error) {
	for i, f := range faults {
		c.Say("\nround %d of %d: %s", i+1, len(faults), f.name)
		r, finding, err := c.playRound(ctx, l, f)
		if err != nil {
			return rounds, fmt.Errorf("round %d: %w", i+1, err)
		}
		if i > 0 {
			rounds[i-1].Reached = r.Achieved
		}
		rounds = append(rounds, r)
		if f.mend == nil {
			break
		}
		if rounds[i].Done, err = f.mend(l, finding); err != nil {
			return rounds, fmt.Errorf("round %d: %w", i+1, err)
		}
		c.Say("  done: %s", rounds[i].Done)
	}
	return rounds, nil
}

// playRound transfers, diagnoses and says what came out.
func (c *Case) playRound(ctx context.Context, l *lab.Lab, bad fault) (Round, *measure.Finding, error) {
	r := Round{Fault: bad.name, Advice: []string{}}
	var transfer measure.Result
	err := c.Run(ctx, l, "bob", "bob sends to carol", &transfer, "throughput", "carol", "--cc", "cubic",
		"-n", fmt.Sprint(transferBytes), "-t", patience.String())
	if err != nil {
		return r, nil, err
	}
	if r.Achieved = transfer.Metrics[measure.Throughput]; r.Achieved == 0 {
		return r, nil, errors.New("nothing arrived at carol")
	}
	received := transfer.Metrics[measure.ReceivedBytes]
	r.TransferSeconds = transferBytes * 8 / r.Achieved
	r.Extrapolated = received < 0.99*transferBytes
	how := ""
	if r.Extrapolated {
		how = fmt.Sprintf(" at this rate (%s moved in %v)", quantity.FormatSize(int64(received)), patience)
	}
	c.Say("  50 MB take %s%s: %s", quantity.FormatSeconds(r.TransferSeconds), how, quantity.FormatRate(r.Achieved))

	var d diagnose.Diagnosis
	if err := c.Run(ctx, l, "bob", "pathwise diagnoses", &d, "diagnose", "carol", "--cc", "cubic", "-t", diagnosisTime); err != nil {
		return r, nil, err
	}
	if r.Verdict = d.Verdict; d.ExpectedBitsPerSecond != nil {
		r.Expected = *d.ExpectedBitsPerSecond
	}
	f := d.First()
	if f == nil {
		c.Say("  verdict: %s", d.Verdict)
		return r, nil, nil
	}
	for _, a := range f.Advice {
		r.Advice = append(r.Advice, adviceText(a))
	}
	c.Say("  verdict: %s\n%s", d.Verdict, chart.Fold(f.Explanation, "    ", tableWidth))
	for _, e := range f.Evidence {
		c.Say("%s", hanging("    - ", quantity.Format(e.Value, e.Unit)+", "+e.Means))
	}
	for _, a := range r.Advice {
		c.Say("%s", hanging("    > ", a))
	}
	if f.Predicted != nil {
		r.Predicted = f.Predicted.BitsPerSecond
		c.Say("%s", hanging("    = ", "then expect "+quantity.FormatRate(r.Predicted)+": "+f.Predicted.Basis))
	}
	return r, f, nil
}

// hanging is a text behind a sign, whose lines begin where the first does.
func hanging(sign, text string) string {
	indent := strings.Repeat(" ", len(sign))
	return sign + strings.TrimPrefix(chart.Fold(text, indent, tableWidth), indent)
}

func adviceText(a measure.Advice) string {
	if a.Command != "" {
		return "on " + a.Host + ": " + a.Command
	}
	return a.Why
}

// FollowAdvice runs the first command that a finding advises, on the host of the lab where it says, and returns what was done. A finding
// without a command that sets something, or none, is an error.
func FollowAdvice(l *lab.Lab, f *measure.Finding) (string, error) {
	if f == nil {
		return "", fmt.Errorf("nothing was found, so there is no advice to follow")
	}
	for _, a := range f.Advice {
		setting, ok := strings.CutPrefix(a.Command, "sysctl -w ")
		key, value, both := strings.Cut(setting, "=")
		if ok && both {
			return "on " + a.Host + ": " + a.Command, l.SetSysctl(a.Host, key, strings.Trim(value, `"`))
		}
	}
	return "", fmt.Errorf("the advice for %s is no command that can be run here", f.ID)
}
