package control

import (
	"errors"
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

// A transfer that came to nothing is made once more. What a diagnosis is without is among its notes.
func TestDiagnoseOfBusyHosts(t *testing.T) {
	busy := fleet.ErrNoAnswer
	for _, c := range []struct {
		name  string
		busy  []error
		steps string // of the way there
		notes int
	}{
		{"no answer, once", []error{busy}, "transfer done", 0},
		{"no answer, twice", []error{busy, busy}, "transfer failed start at a: no answer", 1},
		{"refused", []error{&fleet.Refusal{Host: "a", Why: "no"}}, "transfer failed start at a: a refused: no", 1},
	} {
		b, p := newPath(t, twoHosts+someTests)
		p.busy = c.busy
		lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		d := lines[len(lines)-1].Diagnosis
		if got := story(lines)[6]; got != c.steps || len(d.Notes) != c.notes {
			t.Errorf("%s: %q, notes %q; want %q", c.name, got, d.Notes, c.steps)
		}
		for _, note := range d.Notes {
			if note != "not all was measured: "+strings.Replace(c.steps, " failed", ":", 1) {
				t.Errorf("%s: note %q", c.name, note)
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
