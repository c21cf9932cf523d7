// Package diagnose says why a path is slow: Results in, findings out.
//
// It measures nothing and runs nothing. Everything here is a pure function of Results: the same Results give the same
// Diagnosis. What it cannot know from them it leaves out; a prediction names what it rests on.
//
// For each direction of the path, a view gathers what the Results say (view.go); caps are the speeds that each possible
// limit allows (caps.go); and rules, tried in order, each look for one cause (rules.go, and a file for each family).
// The first finding that is a warning or a problem is the verdict.
package diagnose

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// Schema names the JSON layout of a Diagnosis.
const Schema = "pathwise.diagnosis/1"

// Verdicts that are no finding's ID.
const (
	Healthy = "healthy" // no finding is a warning or a problem, and the path is known to carry what it can, or nearly
	Unknown = "unknown" // nothing that was found makes the path slow, and it cannot be said that it is not
)

// Diagnosis is what Results say about a path. Expected and achieved are goodput from the caller to the target, in
// bit/s; Expected is what the narrowest link can carry of TCP payload, nil where its capacity is not known.
type Diagnosis struct {
	Schema                string            `json:"schema"`
	Verdict               string            `json:"verdict"`
	Findings              []measure.Finding `json:"findings"`
	Results               []*measure.Result `json:"results"`
	ExpectedBitsPerSecond *float64          `json:"expected_bits_per_second"`
	AchievedBitsPerSecond float64           `json:"achieved_bits_per_second"`
	Notes                 []string          `json:"notes"` // what limits how far all this can be trusted
}

// Diagnose draws findings from the Results of one path: ping, capacity and throughput, each direction. Results of
// other kinds are kept and not used. Forward findings come first, worst first within a direction.
func Diagnose(results []*measure.Result) *Diagnosis {
	d := &Diagnosis{Schema: Schema, Verdict: Unknown, Findings: []measure.Finding{}, Results: results, Notes: []string{}}
	for _, direction := range []string{measure.Forward, measure.Reverse} {
		if v := newView(results, direction); v != nil {
			d.add(v)
		}
	}
	if f := noTransfer(results); f != nil && !Measured(results) {
		d.Findings = append(d.Findings, *f)
	}
	switch f := d.First(); {
	case f != nil:
		d.Verdict = f.ID
	case Measured(results) && !slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "capacity-unknown" }):
		d.Verdict = Healthy
	}
	return d
}

// add adds what is known of a direction.
func (d *Diagnosis) add(v *view) {
	if v.direction == measure.Forward {
		d.AchievedBitsPerSecond = v.goodput
		if v.carries > 0 {
			expected := max(v.carries, v.goodput) // by less than what a capacity may be off
			d.ExpectedBitsPerSecond = &expected
		}
	}
	if v.exceeded {
		d.Notes = append(d.Notes, fmt.Sprintf("capacity, %s: left out, for %s", v.direction, v.doubt))
	}
	d.Findings = append(d.Findings, v.findings()...)
}

// Measured reports whether the Results hold a transfer, without which nothing can be said about the path: one that moved data,
// or one whose connection opened and on which nothing came through.
func Measured(results []*measure.Result) bool {
	return newView(results, measure.Forward) != nil || newView(results, measure.Reverse) != nil
}

// Stuck reports whether a connection opened and nothing came through on it. What such a transfer fails for is the path.
func Stuck(results []*measure.Result) bool {
	for _, direction := range []string{measure.Forward, measure.Reverse} {
		if v := newView(results, direction); v != nil && v.stuck {
			return true
		}
	}
	return false
}

// First returns the finding that is the verdict, nil if no finding makes the path slow.
func (d *Diagnosis) First() *measure.Finding {
	for i := range d.Findings {
		if d.Findings[i].Severity != measure.Info {
			return &d.Findings[i]
		}
	}
	return nil
}
