package control

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// A Result that is not shown, since a message was lost, is taken once it was filed.
func TestDiagnoseOfFiledResults(t *testing.T) {
	b, p := newPath(t, twoHosts+someTests)
	p.file = func(r *measure.Result) {
		r.Role = measure.RoleDemand
		other := *r
		other.Source.Name = "b" // which cannot speak for a
		for host, one := range map[string]*measure.Result{"b": &other, "a": r} {
			if err := (receiver{b.Control}).File(t.Context(), host, []*measure.Result{one}); err != nil {
				t.Error(err)
			}
		}
	}
	lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	d := lines[len(lines)-1].Diagnosis
	if told := strings.Join(story(lines), "; "); d.Verdict != "receive-window-limited" || !strings.Contains(told, "transfer done; ") {
		t.Errorf("%s: %s", d.Verdict, told)
	}
	for _, r := range d.Results {
		if r.Source.Name != "a" && r.Kind != "audit" {
			t.Errorf("of %s: %+v", r.Source.Name, r)
		}
	}
}

// A transfer that came to nothing is made once more. What a diagnosis is without is among its notes, and the way of a transfer that could
// not begin is one of which nothing is known.
func TestDiagnoseOfBusyHosts(t *testing.T) {
	busy := fleet.ErrNoAnswer
	for _, c := range []struct {
		name string
		busy []error
		why  string // the transfer there failed; "": it did not
	}{
		{"no answer, once", []error{busy}, ""},
		{"no answer, twice", []error{busy, busy}, "start at a: no answer"},
		{"refused", []error{&fleet.Refusal{Host: "a", Why: "no"}}, "start at a: a refused: no"},
	} {
		b, p := newPath(t, twoHosts+someTests)
		p.busy = c.busy
		lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		d := lines[len(lines)-1].Diagnosis
		step, notes := "transfer done", []string{}
		if c.why != "" {
			step = "transfer failed " + c.why
			notes = []string{"forward: nothing is known of this way, whose transfer failed: " + c.why, "not all was measured: transfer: " + c.why}
		}
		if got := story(lines)[7]; got != step || !slices.Equal(d.Notes, notes) {
			t.Errorf("%s: %q, notes %q; want %q, %q", c.name, got, d.Notes, step, notes)
		}
		for _, id := range b.filed()[0].Parameters["results"].([]any) {
			if id == "" {
				t.Errorf("%s: a Result that was not filed is listed", c.name)
			}
		}
	}
}

// Of what failed, that is tried again which may do better in a moment.
func TestPassing(t *testing.T) {
	transfer, ping := diagnose.Step{Kind: "throughput"}, diagnose.Step{Kind: "ping"}
	silent := measure.NewResult("throughput", noon)
	silent.Fail(errors.New("peer silent"))
	for _, c := range []struct {
		name   string
		step   diagnose.Step
		result *measure.Result
		err    error
		want   bool
	}{
		{"no answer", ping, nil, fleet.ErrNoAnswer, true},
		{"no Result", ping, nil, errNoResult, true},
		{"away", transfer, nil, fleet.ErrAway, false},
		{"no time", transfer, nil, ErrNotFree, false},
		{"a transfer without data", transfer, silent, nil, true},
		{"a ping without answers", ping, silent, nil, false},
	} {
		if got := passing(c.step, c.result, c.err); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if moved := (&path{}).measure(&measure.Run{Start: noon, Task: measure.Task{Kind: "throughput"}}); passing(transfer, moved, nil) {
		t.Errorf("a transfer that moved data is tried again: %+v", moved)
	}
}
