package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// A test on demand over round trips of 100 ms, between all three: how long after the call its first data leave, by the
// lab's truth. The best of three is to be below 1.5 s: another program may well take this machine's time in one of them.
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
	const soon = 1500 * time.Millisecond
	best := time.Hour
	for range 3 {
		called := time.Now()
		r := &measure.Result{}
		out := m.must("mesh", "run", "a", "b", "throughput", "--set", "duration=1s", "--set", "cc=cubic", "--data", m.path("data"), "--json")
		if err := json.Unmarshal(out, r); err != nil {
			t.Fatal(err)
		}
		// Ten round trips of slow start: 30 Mbit/s as a rule, a tenth of it where a busy machine sends late.
		if rate := r.Metrics[measure.Throughput]; r.Status != measure.StatusOK || rate <= 0 || rate > 100e6 {
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
		best = min(best, took)
	}
	if best > soon {
		t.Errorf("data leave %v after the call at best, want %v", best, soon)
	}
}
