package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// whereLabs are paths from bob to carol on which something is to be found, and what a diagnosis is to say of where it is.
var whereLabs = []struct {
	name, finding        string
	verdict              bool   // the finding is the verdict, too
	routers, links, more string // of the lab
	says                 string
}{
	{name: "black hole", finding: "pmtu-blackhole", verdict: true, routers: "near: {}, far: {}",
		links: "{between: [bob, near], delay: 1ms}, {between: [near, far], rate: 100mbit, delay: 9ms, forward: {mtu: {size: 1300B, excess: drop}}}, {between: [far, carol], delay: 1ms}",
		says:  "behind hop 1 (10.0.0.2)"},
	{name: "box", finding: "middlebox", verdict: true, routers: "near: {}, box: {strip: wscale}, far: {}",
		links: "{between: [bob, near]}, {between: [near, box], rate: 100mbit}, {between: [box, far], delay: 20ms}, {between: [far, carol]}",
		says:  "between hop 2 (10.0.1.2) and hop 3 (10.0.2.2)"},
	{name: "other way back", finding: "asymmetric-route", routers: "near: {}, far: {}, away: {}",
		links: "{between: [bob, near], delay: 1ms}, {between: [near, far], rate: 20mbit, delay: 4ms, queue: 100kB}, {between: [far, carol], delay: 1ms}, " +
			"{between: [near, away], delay: 22ms}, {between: [away, far], delay: 22ms}",
		more: "routes: [{at: far, to: bob, via: away}]", says: "10.0.4.1"},
}

// saysWhere checks that a diagnosis names where on the path something is.
func saysWhere(t *testing.T, at int, d *diagnose.Diagnosis) {
	t.Helper()
	c := whereLabs[at]
	i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == c.finding })
	if i < 0 || c.verdict && d.Verdict != c.finding || !strings.Contains(d.Findings[i].Explanation, c.says) {
		t.Errorf("want %s, %q\n%s", c.finding, c.says, inShort(d))
	}
}

// A diagnosis of a mesh says where on the path something is: the target opens for a step what answers it. A black hole is in TestMeshDiagnose as well, which takes less long.
func TestMeshDiagnoseWhere(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	carrying(t)
	for at, c := range whereLabs {
		t.Run(c.name, func(t *testing.T) {
			m := startMeshLab(t, fmt.Sprintf(`
seed: 3
hosts: {bob: {}, carol: {}, controller: {}}
routers: {%s}
links: [%s, {between: [controller, near]}]
%s
`, c.routers, c.links, c.more), `
tools: {rtt: {probe: ping, parameters: {count: 2}}}
groups: {all: {mesh: all}}
tests: [{tool: rtt, group: all, schedule: {every: 1h}}]
`)
			m.eventually("all agents are here", m.everyoneHere)
			d, _ := m.diagnose("bob", "carol")
			saysWhere(t, at, d)
		})
	}
}

// A diagnosis whose far end was brought there by SSH says where on the path something is, too: the far end answers at ports that its system chose.
// A black hole would stop SSH itself.
func TestDiagnoseBySSHWhere(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	for at, c := range whereLabs {
		if c.finding == "pmtu-blackhole" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := startSSHLab(t, fmt.Sprintf("seed: 3\nhosts: {bob: {}, carol: {}}\nrouters: {%s}\nlinks: [%s]\n%s\n", c.routers, c.links, c.more), tmpOnCarol)
			var out bytes.Buffer
			onHost(t, s.Lab, "bob", &out, s.diagnosing("--json", "-t", "4", "--cc", "cubic")...)
			d := &diagnose.Diagnosis{}
			if err := json.Unmarshal(out.Bytes(), d); err != nil {
				t.Fatal(err)
			}
			saysWhere(t, at, d)
		})
	}
}

// A step is told where the far end answers what it asks for, under the parameter that is for it.
func TestFarEndTellsPort(t *testing.T) {
	f := &farEnd{others: map[string]string{measure.ResponderSTAMP: "[::]:1862", measure.ResponderNDT7: "10.0.0.2:14443"}}
	for _, c := range []struct {
		kind       string
		asks, want map[string]any
	}{
		{"mtu", map[string]any{"proto": "stamp"}, map[string]any{"proto": "stamp", "port": 1862}},
		{"trace", map[string]any{"both": true}, map[string]any{"both": true, "responder-port": 14443}},
		{"trace", map[string]any{"middlebox": true}, map[string]any{"middlebox": true, "port": 14443}},
	} {
		task := measure.Task{Kind: c.kind, Parameters: maps.Clone(c.asks)}
		if told := f.tellPort(task); !told || cmp.Diff(c.want, task.Parameters) != "" {
			t.Errorf("%s %v: %t, %v", c.kind, c.asks, told, task.Parameters)
		}
		if (&farEnd{}).tellPort(measure.Task{Kind: c.kind, Parameters: maps.Clone(c.asks)}) {
			t.Errorf("%s %v at a far end that does not answer it", c.kind, c.asks)
		}
	}
}
