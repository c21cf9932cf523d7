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
	"github.com/pathwise-net/pathwise/measure"
)

// Schema names the JSON layout of a Diagnosis.
const Schema = "pathwise.diagnosis/1"

// Healthy is the verdict when no finding is a warning or a problem.
const Healthy = "healthy"

// Diagnosis is what Results say about a path. Expected and achieved are goodput from the caller to the target, in
// bit/s; Expected is what the narrowest link can carry of TCP payload, 0 where its capacity is not known.
type Diagnosis struct {
	Schema                string            `json:"schema"`
	Verdict               string            `json:"verdict"`
	Findings              []measure.Finding `json:"findings"`
	Results               []*measure.Result `json:"results"`
	ExpectedBitsPerSecond float64           `json:"expected_bits_per_second"`
	AchievedBitsPerSecond float64           `json:"achieved_bits_per_second"`
}

// Diagnose draws findings from the Results of one path: ping, capacity and throughput, each direction. Results of
// other kinds are kept and not used. Forward findings come first, worst first within a direction.
func Diagnose(results []*measure.Result) *Diagnosis {
	d := &Diagnosis{Schema: Schema, Verdict: Healthy, Findings: []measure.Finding{}, Results: results}
	for _, direction := range []string{measure.Forward, measure.Reverse} {
		v := newView(results, direction)
		if v == nil {
			continue
		}
		if direction == measure.Forward {
			d.AchievedBitsPerSecond = v.goodput
			d.ExpectedBitsPerSecond = v.carries
		}
		d.Findings = append(d.Findings, v.findings()...)
	}
	if f := d.First(); f != nil {
		d.Verdict = f.ID
	}
	return d
}

// Measured reports whether the Results hold a transfer, without which nothing can be said about the path.
func Measured(results []*measure.Result) bool {
	return newView(results, measure.Forward) != nil || newView(results, measure.Reverse) != nil
}

// First returns the finding that is the verdict, nil if the path is healthy.
func (d *Diagnosis) First() *measure.Finding {
	for i := range d.Findings {
		if d.Findings[i].Severity != measure.Info {
			return &d.Findings[i]
		}
	}
	return nil
}
