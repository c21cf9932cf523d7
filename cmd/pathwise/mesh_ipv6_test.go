package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// Where no host has an IPv4 address, a mesh is deployed, plans, and measures on demand: every kind of test with a target.
func TestMeshOverIPv6(t *testing.T) {
	t.Parallel()
	carrying(t)
	m := newMeshLab(t, `
hosts: {controller: {}, a: {}, b: {}}
routers: [r]
links:
  - {between: [controller, r], rate: 100mbit, delay: 1ms}
  - {between: [a, r], rate: 10mbit, delay: 5ms}
  - {between: [b, r], rate: 100mbit, delay: 5ms}
`)
	state, err := m.lab.State()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range state.Nodes {
		if n.Kind == "host" {
			m.addresses[n.Name] = n.Addresses[1]
			if status, err := m.run(n.Name, "ip", "-4", "addr", "flush", "dev", "eth0").Wait(); err != nil || status != 0 {
				t.Fatalf("take the IPv4 address from %s: %d, %v", n.Name, status, err)
			}
		}
	}
	m.deploy(`
tools:
  rtt: {probe: ping, parameters: {count: 3, interval: 10ms}}
  talk: {probe: flows, parameters: {script: "flow here end 500ms constant rate 50/s size 172; flow there reverse end 500ms constant rate 50/s size 172", linger: 100ms}}
groups: {all: {mesh: [a, b]}}
tests: [{tool: rtt, group: all, schedule: {every: 2s}}, {tool: talk, group: all, schedule: {every: 10s}}]
`, "horizon: 10m")
	m.startServe()
	m.startAgents()
	m.eventually("all agents are here", m.everyoneHere)
	for _, run := range []struct {
		tool     string
		settings []string
	}{{"ping", []string{"count=3"}}, {"trace", nil}, {"capacity", nil}, {"throughput", []string{"duration=1s", "cc=cubic"}},
		{"talk", nil}, {"throughput", []string{"sweep=streams=1,2 cc=reno,cubic", "duration=0.2s", "sweep-within=1", "sweep-budget=20s"}},
		{"throughput", []string{"beside=reno", "duration=0.5s", "cc=cubic"}}} {
		tool := run.tool
		args := []string{"mesh", "run", "a", "b", tool, "-6", "--data", m.data, "--json"}
		for _, s := range run.settings {
			args = append(args, "--set", s)
		}
		r := &measure.Result{}
		if err := json.Unmarshal(m.must(args...), r); err != nil {
			t.Fatal(err)
		}
		if r.Status != measure.StatusOK || r.Target.Address != m.addresses["b"] || r.Source.Address != m.addresses["a"] {
			t.Errorf("%s: %s from %s to %s, want ok from %s to %s", tool, r.Status, r.Source.Address, r.Target.Address, m.addresses["a"], m.addresses["b"])
		}
		if tool == "talk" {
			expectTalk(t, r)
		}
		if sweep := r.Samples.Sweep; len(run.settings) == 4 && (sweep == nil || len(sweep.Points) != 4 || len(sweep.Order) < 4 || r.Metrics[measure.Throughput] == 0) {
			t.Errorf("a sweep of four points: %+v, notes %q", sweep, r.Notes)
		}
		if run.tool == "throughput" && r.Samples.Sweep == nil && r.Parameters["round_trips_by"] != "stamp" {
			t.Errorf("round trips under load by %v", r.Parameters["round_trips_by"])
		}
		if beside := r.Samples.Beside; len(run.settings) == 3 && (len(beside) != 2 || beside[1].Competing == nil || r.Metrics[measure.FairnessRatio] == 0) {
			t.Errorf("a transfer beside another: %+v, notes %q", beside, r.Notes)
		}
	}
	d := &diagnose.Diagnosis{}
	if err := json.Unmarshal(m.must("mesh", "diagnose", "a", "b", "-6", "--data", m.data, "--json"), d); err != nil {
		t.Fatal(err)
	}
	if d.Verdict != diagnose.Healthy {
		t.Errorf("the diagnosis of a healthy path is %s: %+v", d.Verdict, d.Findings)
	}
	out, err := exec.Command(m.binary, "mesh", "run", "a", "b", "ping", "-4", "--data", m.data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "they share no address family") {
		t.Errorf("a test over IPv4: %v, %s", err, out)
	}
	m.eventually("planned tests are filed", func() bool {
		planned := map[string]int{}
		for _, r := range m.results() {
			if r.Role == measure.RolePlanned && r.Status == measure.StatusOK && r.Target.Address == m.addresses[r.Target.Name] {
				planned[r.Kind]++
				if r.Kind == "flows" {
					expectTalk(t, r)
				}
			}
		}
		return planned["ping"] > 2 && planned["flows"] > 0
	})
}

// expectTalk holds that a flow went each way and arrived, on a path that loses nothing.
func expectTalk(t *testing.T, r *measure.Result) {
	t.Helper()
	if len(r.Samples.Flows) != 2 || r.Way != measure.Both {
		t.Fatalf("flows that went %q: %+v", r.Way, r.Samples.Flows)
	}
	for i, direction := range []string{measure.Forward, measure.Reverse} {
		f := r.Samples.Flows[i]
		if f.Direction != direction || f.Arrived == nil || f.Sent+f.Skipped != 25 || f.Arrived.Received != f.Sent || f.Arrived.OverTime == nil {
			t.Errorf("flow %s: %+v, arrivals %+v", direction, f, f.Arrived)
		}
	}
}
