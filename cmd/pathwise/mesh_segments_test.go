package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// A mesh says why a path between two of its hosts is slow, and which part of it: traces tell which hosts stand along the path, both parts
// are measured by themselves, never two transfers at once where they share a host, and the part that loses is named. A host that hangs on
// a router of the path and is far away from it is left out.
func TestMeshSegments(t *testing.T) {
	t.Parallel()
	carrying(t)
	m := startMeshLab(t, `
seed: 1
hosts: {controller: {}, bob: {}, point: {}, carol: {}, away: {}}
routers: [denver, chicago, boston, seattle]
links:
  - {between: [controller, chicago], rate: 1gbit}
  - {between: [seattle, chicago], rate: 1gbit, delay: 15ms}
  - {between: [bob, denver],     rate: 1gbit,  delay: 1ms}
  - {between: [denver, chicago], rate: 60mbit, delay: 9ms, queue: 300kB}
  - {between: [point, chicago],  rate: 1gbit}
  - {between: [chicago, boston], rate: 50mbit, delay: 9ms, queue: 300kB, forward: {loss: {every: 100}}}
  - {between: [boston, carol],   rate: 1gbit,  delay: 1ms}
  - {between: [away, seattle],   rate: 1gbit}
`, `
tools: {rtt: {probe: ping, parameters: {count: 2}}}
groups: {all: {mesh: all}}
tests: [{tool: rtt, group: all, schedule: {every: 1h}}]
`)
	m.eventually("all agents are here", m.everyoneHere)
	for _, pair := range [][]string{{"bob", "point"}, {"point", "carol"}, {"bob", "away"}, {"away", "carol"}} {
		m.must("mesh", "run", pair[0], pair[1], "trace", "--data", m.data)
	}
	// The agents open a reflector for the run: each way takes what its links take.
	both := &measure.Result{}
	text := m.must("mesh", "run", "bob", "carol", "owd", "--set", "count=20", "--set", "interval=20ms", "--data", m.data, "--json")
	if err := json.Unmarshal(text, both); err != nil {
		t.Fatal(err)
	}
	if forward, _ := both.Get(measure.OneWay(measure.Forward, "min")); forward < 0.0195 || forward > 0.0300 {
		t.Errorf("one way takes %v s, want 20 ms: %s", forward, text)
	}
	d, took := m.diagnose("bob", "carol", "--segments")
	// What the path carries is told by the spacing of packets, which a busy machine may see far too wide.
	if d.Verdict != "random-loss" || d.ExpectedBitsPerSecond == nil || *d.ExpectedBitsPerSecond < 20e6 || d.AchievedBitsPerSecond > 20e6 || took > 5*time.Minute {
		t.Errorf("%s after %v: %.3g bit/s of %s, want random-loss\n%s", d.Verdict, took, d.AchievedBitsPerSecond, expectedOf(d), inShort(d))
	}
	s := d.Segments
	if s == nil || s.Measured != diagnose.BySegments || s.Verdict != diagnose.BlameOne || !slices.Equal(s.Blamed, []string{"point - carol"}) ||
		len(s.Segments) != 2 || s.Segments[0].Outcome != diagnose.Passes {
		t.Errorf("want point - carol\n%s", inShort(d))
	}
	m.expectDiagnosisFiled(d)
	m.expectAlone(m.transfers())
}

// diagnose has one host diagnose the path to another.
func (m *meshLab) diagnose(source, target string, flags ...string) (*diagnose.Diagnosis, time.Duration) {
	m.t.Helper()
	began, d := time.Now(), &diagnose.Diagnosis{}
	args := append([]string{"mesh", "diagnose", source, target, "--data", m.data, "--json"}, flags...)
	if err := json.Unmarshal(m.must(args...), d); err != nil {
		m.t.Fatal(err)
	}
	took := time.Since(began)
	m.t.Logf("%s after %v", d.Verdict, took.Round(100*time.Millisecond))
	return d, took
}
