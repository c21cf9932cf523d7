package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
)

// ReportSchema names the JSON layout of a Report.
const ReportSchema = "pathwise.case/1"

// The verdicts on a case.
const (
	Pass = "pass" // all was as expected
	Fail = "fail" // something was not, or a step could not be played; Why says which
	Skip = "skip" // it was not played; Why says why
	Cut  = "cut"  // it was not played to its end, by no fault of its own: interrupted, or the lab broke; Why says which
)

// Report is what came of playing a case.
type Report struct {
	Schema   string       `json:"schema"`
	Name     string       `json:"name"`
	Title    string       `json:"title"`
	Finding  string       `json:"finding"`
	Cause    string       `json:"cause"`
	Verdict  string       `json:"verdict"`
	Why      string       `json:"why,omitempty"`
	Steps    []StepReport `json:"steps"`
	Notes    []string     `json:"notes"`
	Truth    *lab.Truth   `json:"truth"` // at the end; the flows with the most packets only. nil: no lab stood
	Duration float64      `json:"duration_seconds"`
}

// StepReport is what came of one step.
type StepReport struct {
	Number  int     `json:"number"` // from 1
	Line    int     `json:"line"`   // in the file
	Kind    string  `json:"kind"`   // set, exec, measure, wait, stop or expect
	What    string  `json:"what"`
	OK      bool    `json:"ok"`
	Seen    string  `json:"seen,omitempty"` // "12.4 Mbit/s, wanted above 12.0 Mbit/s"; of a step that failed: why
	Seconds float64 `json:"seconds"`
	Figure  *Figure `json:"figure,omitempty"` // nil: nothing to show
}

// Figure is a value that a case shows beside what its source says of it.
type Figure struct {
	Name      string `json:"name"`      // what it is, in words
	Reference string `json:"reference"` // what the source says, with its unit; "": nothing
	Ours      string `json:"ours"`      // what was seen, with its unit; "": nothing was
	Value     any    `json:"value"`     // the same as the document has it: in bit/s, seconds, bytes, or a ratio
}

// mostFlows is how many flows of the truth a report keeps.
const mostFlows = 20

// keep puts the truth into the report without the flows that matter least.
func (r *Report) keep(t *lab.Truth) {
	slices.SortStableFunc(t.Flows, func(a, b record.FlowTruth) int { return int(b.Packets) - int(a.Packets) })
	t.Flows = t.Flows[:min(len(t.Flows), mostFlows)]
	r.Truth = t
}

// judge gives the verdict on a case that was played as far as err let it. A lab that this machine could not carry is the reason for
// whatever was not as expected.
func (r *Report) judge(err error) {
	if err != nil {
		r.Verdict, r.Why = Cut, err.Error()
		return
	}
	r.Verdict = Pass
	bottleneck := r.Truth != nil && r.Truth.Emulator.Bottleneck
	for _, s := range r.Steps {
		if s.OK {
			continue
		}
		r.Verdict, r.Why = Fail, s.What+": "+s.Seen
		if bottleneck {
			r.Why = "the emulator was the bottleneck (" + r.Truth.Emulator.Why + "); " + r.Why
		}
		return
	}
	if bottleneck {
		r.Notes = append(r.Notes, "the emulator was the bottleneck: "+r.Truth.Emulator.Why)
	}
}

// describe says what kind of step it is, and what it does in one line.
func (s *Step) describe() (kind, what string) {
	switch {
	case s.Set != nil:
		return "set", s.Set.String()
	case s.Exec != nil:
		return "exec", s.Exec.String()
	case s.Measure != nil:
		return "measure", s.Measure.String()
	case s.Diagnose != nil:
		return "diagnose", s.Diagnose.String()
	case s.Wait != nil && s.Wait.For != "":
		return "wait", "for " + s.Wait.For
	case s.Wait != nil:
		return "wait", s.Wait.Time.String()
	case s.Stop != nil:
		return "stop", *s.Stop
	}
	return "expect", s.Expect.String()
}

func (s *Set) String() string {
	switch {
	case s.Route != nil:
		return fmt.Sprintf("route at %s to %s via %s", s.Route.At, s.Route.To, s.Route.Via)
	case s.Host != "":
		return fmt.Sprintf("%s: %s", s.Host, strings.TrimPrefix(fmt.Sprint(s.Sysctl), "map"))
	}
	return fmt.Sprintf("%s - %s: %s", s.Between[0], s.Between[1], strings.Join(s.settings(), " "))
}

func (p *Program) String() string {
	text := fmt.Sprintf("%s: %s", p.On, strings.Join(p.Run, " "))
	if p.As != "" {
		text += " (" + p.As + ")"
	}
	return text
}

func (e *Expect) String() string {
	what := []string{e.Of}
	for _, text := range []string{strings.Join(e.Link, " > "), e.Way, e.Flow, e.Router, e.Value} {
		if text != "" {
			what = append(what, text)
		}
	}
	if e.Verdict != "" {
		what = append(what, "verdict")
	}
	if e.Over != "" {
		what = append(what, "over "+e.Over, e.OverValue)
	}
	return strings.TrimSpace(strings.Join(what, " "))
}
