package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

// Three agents and a controller, as people start them: every pair is measured by every tool, transfers have both ends
// alone, a test on demand fits in, and an ended agent is told of.
func TestMesh(t *testing.T) {
	m := startMeshLab(t, `
hosts: {controller: {}, a: {}, b: {}, c: {}}
routers: [r]
links:
  - {between: [controller, r], rate: 100mbit, delay: 1ms}
  - {between: [a, r], rate: 20mbit, delay: 5ms}
  - {between: [b, r], rate: 20mbit, delay: 10ms}
  - {between: [c, r], rate: 20mbit, delay: 15ms}
`, `
tools:
  rtt:  {probe: ping, parameters: {count: 5, interval: 200ms}}
  path: {probe: trace}
  bulk: {probe: throughput, parameters: {duration: 2s, cc: cubic}}
groups: {all: {mesh: [a, b, c]}}
tests:
  - {tool: rtt,  group: all, schedule: {every: 10s}}
  - {tool: path, group: all, schedule: {every: 10s}}
  - {tool: bulk, group: all, schedule: {every: 30s}}
`)
	m.eventually("all agents are here", m.everyoneHere)
	pairs := func(tool string) map[string]bool {
		seen := map[string]bool{}
		for _, r := range m.results() {
			if r.Tool == tool && r.Status == measure.StatusOK {
				seen[r.Source.Name+" "+r.Target.Name] = true
			}
		}
		return seen
	}
	for _, tool := range []string{"rtt", "path", "bulk"} {
		m.eventually("every pair has a result of "+tool, func() bool { return len(pairs(tool)) == 6 })
	}
	demand := &measure.Result{}
	if err := json.Unmarshal(m.must("mesh", "run", "a", "c", "rtt", "--data", m.path("data"), "--json"), demand); err != nil {
		t.Fatal(err)
	}
	if rtt := demand.Metrics[measure.RTTMin]; demand.Status != measure.StatusOK || rtt < 0.04 || rtt > 0.1 {
		t.Errorf("on demand: %s, %.3g s of 40 ms", demand.Status, rtt)
	}
	for _, r := range m.results() {
		if r.Status != measure.StatusOK {
			t.Errorf("%s from %s to %s: %s: %s", r.Tool, r.Source.Name, r.Target.Name, r.Status, *r.Error)
		}
	}
	flows := m.transfers()
	if len(flows) < 6 {
		t.Errorf("%d transfers in the lab's truth, want those of six pairs", len(flows))
	}
	m.expectAlone(flows)

	if err := m.agents["b"].Kill(); err != nil {
		t.Fatal(err)
	}
	m.eventually("b is away", func() bool {
		for _, h := range m.status().Hosts {
			if h.Name == "b" {
				return h.State == control.Away
			}
		}
		return false
	})
}

// A test on demand over round trips of 100 ms, between all three: how long after the call its first data leave, by the
// lab's truth. The figure that it logs is to be below 1.5 s; on a busy machine it only must not be many times that.
func TestDemandBeginsSoon(t *testing.T) {
	m := startMeshLab(t, `
hosts: {controller: {}, a: {}, b: {}}
routers: [r]
links:
  - {between: [controller, r], rate: 100mbit, delay: 25ms}
  - {between: [a, r], rate: 100mbit, delay: 25ms}
  - {between: [b, r], rate: 100mbit, delay: 25ms}
`, `
tools: {rtt: {probe: ping, parameters: {count: 2}}}
groups: {all: {mesh: all}}
tests: [{tool: rtt, group: all, schedule: {every: 1h}}]
`)
	m.eventually("all agents are here", m.everyoneHere)
	for range 3 {
		called := time.Now()
		r := &measure.Result{}
		out := m.must("mesh", "run", "a", "b", "throughput", "--set", "duration=1s", "--set", "cc=cubic", "--data", m.path("data"), "--json")
		if err := json.Unmarshal(out, r); err != nil {
			t.Fatal(err)
		}
		if rate := r.Metrics[measure.Throughput]; r.Status != measure.StatusOK || rate < 5e6 || rate > 100e6 {
			t.Errorf("%s, %.3g bit/s over links of 100 Mbit/s", r.Status, rate)
		}
		truth, err := m.lab.Truth()
		if err != nil {
			t.Fatal(err)
		}
		flows := m.transfers()
		last := flows[len(flows)-1].FirstSentSeconds
		for _, f := range flows {
			last = max(last, f.FirstSentSeconds)
		}
		took := truth.Started.Add(time.Duration(last * float64(time.Second))).Sub(called)
		t.Logf("data leave %v after the call", took.Round(time.Millisecond))
		if took > 10*time.Second {
			t.Errorf("data leave %v after the call", took)
		}
	}
}
