package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// Each kind of run says why it is made: what is planned has its test, what somebody asks for and each step of a diagnosis have
// a role of their own.
func TestRoles(t *testing.T) {
	b, p := newPath(t, twoHosts+someTests)
	p.lossy = true
	for id, r := range b.messaging.runs() {
		if r.Test == "" || r.Role != "" && r.Role != measure.RolePlanned {
			t.Fatalf("planned run %s: test %q, role %q", id, r.Test, r.Role)
		}
	}
	err := b.Test(t.Context(), Request{Source: "a", Target: "b", Tool: "bulk", Parameters: map[string]any{"rate": "1mbit"}, Patience: time.Hour,
		Placed: func(_ string, begins time.Time) { b.now = begins }})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	id := lines[len(lines)-1].ID
	got, want := map[string]string{}, map[string]string{p.runs[0].ID: "demand"}
	for _, r := range p.runs {
		got[r.ID] = string(r.Role)
	}
	for _, l := range lines {
		if l.State == StepDone {
			want[l.Run] = "diagnosis/" + id + "/" + l.Step
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 13 {
		t.Errorf("%d roles (-want +got):\n%s", len(want), diff)
	}
	if filed := b.whole(id); filed.Role != measure.RoleDemand {
		t.Errorf("the diagnosis is filed with the role %q", filed.Role)
	}
}
