package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// The demo's path, as a mesh: what `mesh diagnose` says of the fault that takes a step more to tell, and how long it takes to,
// which is to be under a minute; on a busy machine it only must not be many times that. The other fault TestDemoMesh has. Then the
// same of a path on which large packets vanish, for which a diagnosis grows by one step after the other. The hosts' messages to the
// controller go another way.
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
  - {between: [denver, chicago], rate: 100mbit, delay: 23ms, loss: 1%}
  - {between: [chicago, carol],  rate: 1gbit,   delay: 1ms}
`, `
tools: {rtt: {probe: ping, parameters: {count: 2}}}
groups: {all: {mesh: all}}
tests: [{tool: rtt, group: all, schedule: {every: 1h}}]
`)
	m.eventually("all agents are here", m.everyoneHere)
	d, took := m.diagnose("bob", "carol")
	// What the path carries is told by the spacing of packets, which a busy machine may see far too wide.
	if d.Verdict != "random-loss" || d.ExpectedBitsPerSecond == nil || *d.ExpectedBitsPerSecond < 20e6 || d.AchievedBitsPerSecond > 40e6 || took > 5*time.Minute {
		t.Errorf("%s after %v: %.3g bit/s of %s, want random-loss\n%s", d.Verdict, took, d.AchievedBitsPerSecond, expectedOf(d), inShort(d))
	}
	m.expectDiagnosisFiled(d)
	m.expectAlone(m.transfers())
	m.expectBlackHole()
	out, err := exec.Command(m.binary, "mesh", "diagnose", "bob", "dave", "--data", m.data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `target: "dave": want a host of the mesh file`) {
		t.Errorf("to a host that there is not: %v\n%s", err, out)
	}
}

// diagnose has one host diagnose the path to another.
func (m *meshLab) diagnose(source, target string) (*diagnose.Diagnosis, time.Duration) {
	m.t.Helper()
	began, d := time.Now(), &diagnose.Diagnosis{}
	if err := json.Unmarshal(m.must("mesh", "diagnose", source, target, "--data", m.data, "--json"), d); err != nil {
		m.t.Fatal(err)
	}
	took := time.Since(began)
	m.t.Logf("%s after %v", d.Verdict, took.Round(100*time.Millisecond))
	return d, took
}

// expectBlackHole lets large packets from bob to carol vanish, and wants to be told so, and from which size on.
func (m *meshLab) expectBlackHole() {
	m.t.Helper()
	if err := m.lab.Set("denver", "chicago", "loss=0", "forward.mtu={size: 1300B, excess: drop}"); err != nil {
		m.t.Fatal(err)
	}
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
	m.expectDiagnosisFiled(d)
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
