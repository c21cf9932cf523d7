package control

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// besideStep is one-way delays of 40 packets, beside a transfer.
func besideStep() diagnose.Step {
	transfer := diagnose.Step{Name: "owd-transfer", Kind: "throughput", Way: measure.Forward, Parameters: map[string]any{"duration": 3.0}}
	return diagnose.Step{Name: "owd-loaded", Kind: "owd", Under: &transfer, Parameters: map[string]any{"count": 40, "interval": 0.1}}
}

// One-way delays are measured while a transfer runs: both are runs of the diagnosis, the delays begin first and go on for longer, and who looks on
// sees one step.
func TestOneWayDelaysBesideTransfer(t *testing.T) {
	whole := []StepState{StepWaiting, StepRunning, StepDone}
	for name, c := range map[string]struct {
		kind  string
		fails map[string]string
		made  []string
		shown []StepState
	}{
		"both":               {"owd", nil, []string{"throughput", "owd"}, whole},
		"the transfer fails": {"owd", map[string]string{"throughput": "refused"}, []string{"throughput", "owd"}, whole},
		"delays cannot be":   {"nothing", nil, nil, []StepState{StepFailed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, p := newPath(t, twoHosts+someTests)
			p.fails = c.fails
			var shown []StepState
			r := DiagnosisRequest{Source: "a", Target: "b"}
			agent, err := b.checkDiagnosis(&r)
			if err != nil || !agent {
				t.Fatal(agent, err)
			}
			r.Show = func(l DiagnosisLine) { shown = append(shown, l.State) }
			d, step := b.newDiagnosis(r), besideStep()
			step.Kind = c.kind
			made, err := d.beside(t.Context(), step)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, one := range made {
				kinds = append(kinds, one.Kind)
			}
			if !slices.Equal(kinds, c.made) || !slices.Equal(shown, c.shown) {
				t.Errorf("made %v, shown %v", kinds, shown)
			}
			if len(c.made) == 0 {
				return
			}
			type begun struct {
				kind  string
				role  measure.Role
				count any
			}
			var runs []begun
			for _, run := range p.runs {
				runs = append(runs, begun{run.Task.Kind, run.Role, run.Task.Parameters["count"]})
			}
			want := []begun{{"owd", measure.DiagnosisRole(d.id, "owd-loaded"), 70}, {"throughput", measure.DiagnosisRole(d.id, "owd-transfer"), nil}}
			if diff := cmp.Diff(want, runs, cmp.AllowUnexported(begun{})); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}
