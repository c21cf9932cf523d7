// Package diagnose says why a path is slow: Results in, findings out.
//
// It measures nothing and runs nothing. Everything here is a pure function of Results: the same Results give the same
// Diagnosis. What it cannot know from them it leaves out; a prediction names what it rests on.
//
// Results become facts (facts.go, gather.go, derive.go), each about a Subject: one way of the path, the path, or a host. Rules, a
// file each, look for one cause each in the facts of one subject (rule.go); what a finding says stands in the knowledge base.
// Facts that would tell causes apart ask for further steps (plan.go), which one executor makes (execute.go). The first finding
// that is a warning or a problem is the verdict.
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

	Considered []Considered `json:"-"` // what came of every rule
}

// Diagnose draws findings from Results: of ping, capacity and throughput about one path, each way, and of hosts about themselves.
// Results of other kinds are kept and not used. Forward findings come first, worst first within a way.
func Diagnose(results []*measure.Result) *Diagnosis { return diagnoseBy(rules, results) }

func diagnoseBy(rules []Rule, results []*measure.Result) *Diagnosis {
	d := &Diagnosis{Schema: Schema, Verdict: Unknown, Findings: []measure.Finding{}, Results: results, Notes: []string{}}
	g := gather(results)
	for _, s := range g.subjects() {
		d.add(s)
		j := judge(rules, s)
		d.Findings = append(d.Findings, j.findings()...)
		d.Considered = append(d.Considered, j.considered...)
	}
	switch f := d.First(); {
	case f != nil:
		d.Verdict = f.ID
	case g.measured() && !slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == capacityUnknown.ID }):
		d.Verdict = Healthy
	}
	return d
}

// add adds what was achieved on a way, and what could be.
func (d *Diagnosis) add(s *Subject) {
	if s.Kind == OfWay && s.Name == measure.Forward {
		d.AchievedBitsPerSecond = s.Value(Goodput)
		if s.Known(PayloadCapacity) {
			expected := max(s.Value(PayloadCapacity), s.Value(Goodput)) // by less than what a capacity may be off
			d.ExpectedBitsPerSecond = &expected
		}
	}
	if s.exceeded {
		d.Notes = append(d.Notes, fmt.Sprintf("capacity, %s: left out, for %s", s.Name, s.Fact(Capacity).Unknown))
	}
}

// Measured reports whether the Results hold a transfer, without which nothing can be said about the path: one that moved data,
// or one whose connection opened and on which nothing came through.
func Measured(results []*measure.Result) bool { return gather(results).measured() }

// IsStuck reports whether a connection opened and nothing came through on it. What such a transfer fails for is the path.
func IsStuck(results []*measure.Result) bool {
	g := gather(results)
	return g.ways[measure.Forward].Is(Stuck) || g.ways[measure.Reverse].Is(Stuck)
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
