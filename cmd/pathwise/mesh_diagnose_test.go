package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// The demo's path, as a mesh, where large packets vanish: a diagnosis grows by one step after the other, and says from which size on, and behind which hop.
// The hosts' messages to the controller go another way. What is slow for other faults TestMeshSegments and TestDemoMesh have.
func TestMeshDiagnose(t *testing.T) {
	t.Parallel()
	m := startMeshLab(t, `
hosts:
  controller: {}
  bob:   {}
  carol: {}
routers: [denver, chicago, hub]
links:
  - {between: [controller, hub], rate: 1gbit}
  - {between: [hub, denver],     rate: 1gbit, delay: 1ms}
  - {between: [hub, chicago],    rate: 1gbit, delay: 23ms}
  - {between: [bob, denver],     rate: 1gbit,   delay: 1ms}
  - {between: [denver, chicago], rate: 100mbit, delay: 23ms, forward: {mtu: {size: 1300B, excess: drop}}}
  - {between: [chicago, carol],  rate: 1gbit,   delay: 1ms}
`, `
tools: {rtt: {probe: ping, parameters: {count: 2}}}
groups: {all: {mesh: all}}
tests: [{tool: rtt, group: all, schedule: {every: 1h}}]
`)
	m.eventually("all agents are here", m.everyoneHere)
	m.expectBlackHole()
	m.expectHopBack()
	out, err := exec.Command(m.binary, "mesh", "diagnose", "bob", "dave", "--data", m.data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `target: "dave": want a host of the mesh file`) {
		t.Errorf("to a host that there is not: %v\n%s", err, out)
	}
}

// expectBlackHole wants to be told that large packets from bob to carol vanish, and from which size on.
func (m *meshLab) expectBlackHole() {
	m.t.Helper()
	d, took := m.diagnose("bob", "carol")
	f := d.First()
	if f == nil {
		m.t.Fatalf("%s\n%s", d.Verdict, inShort(d))
	}
	carries := slices.IndexFunc(f.Evidence, func(e measure.Evidence) bool { return e.Metric == string(measure.PathMTU) })
	if d.Verdict != "pmtu-blackhole" || f.Way != measure.Forward || carries < 0 || f.Evidence[carries].Value > 1300 ||
		f.Evidence[carries].Value < 1296 || f.Predicted == nil || took > 5*time.Minute {
		m.t.Errorf("%s after %v, want pmtu-blackhole from 1300 bytes on\n%s", d.Verdict, took, inShort(d))
	}
	if want := "behind hop 1 (10.0.3.2)"; !strings.Contains(f.Explanation, want) {
		m.t.Errorf("%s\nwant %s", f.Explanation, want)
	}
	if slices.ContainsFunc(d.Notes, func(note string) bool { return strings.HasPrefix(note, "not all was measured") }) {
		m.t.Errorf("a step failed: %q", d.Notes)
	}
	m.expectDiagnosisFiled(d)
}

// expectHopBack wants the way from bob to carol measured from carol, and the hop that narrows it, which bob's agent seeks at the port that it opened for the test.
func (m *meshLab) expectHopBack() {
	m.t.Helper()
	r := &measure.Result{}
	if err := json.Unmarshal(m.must("mesh", "run", "carol", "bob", "mtu", "--set", "proto=stamp", "--data", m.path("data"), "--json"), r); err != nil {
		m.t.Fatal(err)
	}
	want := &measure.Narrowing{TTL: 1, Before: 2, Bytes: 1300, Address: "10.0.3.2"}
	if back := r.Metrics[measure.ReversePathMTU]; back != 1300 || !cmp.Equal(want, r.Samples.BackNarrows) {
		m.t.Errorf("%v bytes come back, %+v, want %+v; notes: %q", back, r.Samples.BackNarrows, want, r.Notes)
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
