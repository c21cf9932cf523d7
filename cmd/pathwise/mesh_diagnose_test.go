package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// The demo's path, as a mesh: what `mesh diagnose` says of the fault that takes a step more to tell, and how long it takes to,
// which is to be under a minute; on a busy machine it only must not be many times that. The other fault TestDemoMesh has.
func TestMeshDiagnose(t *testing.T) {
	m := startMeshLab(t, `
hosts:
  controller: {}
  bob:   {}
  carol: {}
routers: [denver, chicago]
links:
  - {between: [controller, denver], rate: 1gbit}
  - {between: [bob, denver],     rate: 1gbit,   delay: 1ms}
  - {between: [denver, chicago], rate: 100mbit, delay: 23ms, loss: 1%}
  - {between: [chicago, carol],  rate: 1gbit,   delay: 1ms}
`, `
tools: {rtt: {probe: ping, parameters: {count: 2}}}
groups: {all: {mesh: all}}
tests: [{tool: rtt, group: all, schedule: {every: 1h}}]
`)
	m.eventually("all agents are here", m.everyoneHere)
	began := time.Now()
	d := &diagnose.Diagnosis{}
	if err := json.Unmarshal(m.must("mesh", "diagnose", "bob", "carol", "--data", m.data, "--json"), d); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	t.Logf("%s after %v", d.Verdict, took.Round(100*time.Millisecond))
	// What the path carries is told by the spacing of packets, which a busy machine may see far too wide.
	if d.Verdict != "random-loss" || d.ExpectedBitsPerSecond == nil || *d.ExpectedBitsPerSecond < 20e6 || d.AchievedBitsPerSecond > 40e6 || took > 5*time.Minute {
		t.Errorf("%s after %v: %.3g bit/s of %s, want random-loss\n%s", d.Verdict, took, d.AchievedBitsPerSecond, expectedOf(d), inShort(d))
	}
	m.expectDiagnosisFiled(d)
	m.expectAlone(m.transfers())
	out, err := exec.Command(m.binary, "mesh", "diagnose", "bob", "dave", "--data", m.data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `target: "dave": want a host of the mesh file`) {
		t.Errorf("to a host that there is not: %v\n%s", err, out)
	}
}

// expectDiagnosisFiled checks that the archive has a diagnosis, and soon all Results that it is made of.
func (m *meshLab) expectDiagnosisFiled(d *diagnose.Diagnosis) {
	m.t.Helper()
	m.eventually("all results are filed", func() bool {
		filed, all := map[string]bool{}, m.results()
		var last *measure.Result
		for _, r := range all {
			if filed[r.ID] = true; r.Kind == "diagnosis" && (last == nil || r.Started.After(last.Started)) {
				last = r
			}
		}
		if last == nil || last.Parameters["verdict"] != d.Verdict || len(last.Samples.Findings) != len(d.Findings) {
			m.t.Fatalf("filed as diagnosis: %+v", last)
		}
		for _, r := range d.Results {
			if !filed[r.ID] {
				return false
			}
		}
		return len(d.Results) == len(last.Parameters["results"].([]any))
	})
}
