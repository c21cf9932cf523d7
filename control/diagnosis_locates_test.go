package control

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// A step that says where on the path something is has its target open what answers it, and is told at which port that is. Of a target that runs no
// agent the mesh file has to say so, and a source that said what it lacks is not asked.
func TestStepsThatLocate(t *testing.T) {
	mtu := diagnose.Step{Name: "mtu", Kind: "mtu", Parameters: map[string]any{"proto": "stamp"}}
	both := diagnose.Step{Name: "both-ways", Kind: "trace", Parameters: map[string]any{"both": true}}
	box := diagnose.Step{Name: "middlebox", Kind: "trace", Parameters: map[string]any{"middlebox": true}}
	for _, c := range []struct {
		name, target string
		step         diagnose.Step
		lacks        []fleet.MissingCapability // of the source
		old          string                    // host whose agent's build does not trace in rounds, nor answer traces at ports that are opened for them; "": none
		opens        string                    // at an agent; "": nothing
		at           string                    // the parameter that has the port
		port         float64                   // of a target that runs no agent
		left         bool
		without      string // of a step that is left out
	}{
		{name: "mtu", target: "b", step: mtu, opens: measure.ResponderSTAMP, at: "port"},
		{name: "both ways", target: "b", step: both, opens: measure.ResponderNDT7, at: "responder-port"},
		{name: "middlebox", target: "b", step: box, opens: measure.ResponderNDT7, at: "port"},
		{name: "middlebox without root", target: "b", step: box, left: true,
			lacks: []fleet.MissingCapability{{Kind: "trace middlebox=true", What: "raw-tcp", Why: "operation not permitted"}}},
		{name: "mtu without root", target: "b", step: mtu, opens: measure.ResponderSTAMP, at: "port",
			lacks: []fleet.MissingCapability{{Kind: "trace middlebox=true", What: "raw-tcp", Why: "operation not permitted"}}},
		{name: "both ways to an earlier build", target: "b", step: both, old: "b", left: true,
			without: "not all was measured: both-ways: left out: agent of b is out of date: does not know parameter both of trace as a target"},
		{name: "middlebox to an earlier build", target: "b", step: box, old: "b", left: true,
			without: "not all was measured: middlebox: left out: agent of b is out of date: does not know parameter middlebox of trace as a target"},
		{name: "both ways from an earlier build", target: "b", step: both, old: "a", opens: measure.ResponderNDT7, at: "responder-port"},
		{name: "mtu to an earlier build", target: "b", step: mtu, old: "b", opens: measure.ResponderSTAMP, at: "port"},
		{name: "mtu to a responder", target: "r", step: mtu, at: "port", port: 1862},
		{name: "both ways to a responder", target: "r", step: both, at: "responder-port", port: 14443},
		{name: "mtu to a responder that reflects nothing", target: "s", step: mtu, left: true},
		{name: "middlebox to a responder without ndt7", target: "s", step: box, left: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, p := newPath(t, "hosts: {a: 10.0.0.1, b: 10.0.0.2, r: {address: 10.0.0.3, reach: responder, ports: {iperf3: 5201, stamp: 1862, ndt7: 14443}},\n"+
				"        s: {address: 10.0.0.4, reach: responder, ports: {iperf3: 5201}}}\n"+someTests[strings.Index(someTests, "tools:"):])
			for _, host := range []string{"a", "b"} {
				can := without("", "")
				if host == c.old {
					can = without("trace", "rounds")
				}
				said := fleet.Status{Host: host, Can: can}
				if host == "a" {
					said.Lacks = c.lacks
				}
				receiver{b.Control}.Heard(said)
			}
			d := b.newDiagnosis(DiagnosisRequest{Source: "a", Target: c.target, Patience: time.Hour, Show: func(l DiagnosisLine) {
				if l.Begins != nil {
					b.turn(*l.Begins)
				}
			}})
			if _, err := d.do(t.Context(), c.step); err != nil {
				t.Fatal(err)
			}
			if c.left {
				if got := d.without(); len(p.runs) != 0 || got != c.without {
					t.Errorf("%+v, %q", p.runs, got)
				}
				return
			}
			if len(p.runs) != 1 {
				t.Fatalf("%d runs, failed: %q", len(p.runs), d.failed)
			}
			run, opens, port := p.runs[0], "", c.port
			if run.Responder != nil {
				opens, port = run.Responder.Kind, float64(run.Responder.Port)
			}
			want := map[string]any{c.at: port}
			for name, value := range c.step.Parameters {
				want[name] = value
			}
			if diff := cmp.Diff(want, run.Task.Parameters); diff != "" || opens != c.opens || port == 0 {
				t.Errorf("opens %q (-want +got):\n%s", opens, diff)
			}
		})
	}
}
