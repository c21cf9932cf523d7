package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/topology"
	"github.com/pathwise-net/pathwise/measure"
)

// gridNM is the lab of the 2002 report with five hosts more, one for the controller, and access links of 20 Mbit/s, which
// two cores can carry.
func gridNM(t *testing.T) string {
	t.Helper()
	text, err := topology.Read("gridnm-2002")
	if err != nil {
		t.Fatal(err)
	}
	spec := regexp.MustCompile(`rate: [0-9]+[mg]bit`).ReplaceAllString(string(text), "rate: 20mbit")
	hosts, links := "hosts:\n  controller: {}\n", "links:\n  - {between: [controller, lond-scr], rate: 100mbit, delay: 0.5ms}\n"
	for host, router := range map[string]string{
		"leeds": "leed-scr", "warwick": "cosh-scr", "sara": "ar5-amsterdam", "surfnet": "cr1-amsterdam", "lyon": "cern-gw",
	} {
		hosts += fmt.Sprintf("  %s: {}\n", host)
		links += fmt.Sprintf("  - {between: [%s, %s], rate: 20mbit, delay: 1ms}\n", host, router)
	}
	spec = strings.Replace(spec, "hosts:\n", hosts, 1)
	return strings.Replace(spec, "links:\n", links, 1)
}

// Twelve hosts, a full mesh, every tool, ten agents over NATS and two behind real SSH servers, for PATHWISE_MESH_MINUTES:
// no result is missing, and no two tests that fill a link were on one interface at a time. Without it, six of them transfer and
// one sends trains, and it ends when every pair was measured by every tool once.
func TestMeshOfGridNM(t *testing.T) {
	overSSH := []string{"bristol", "lyon"}
	if os.Getuid() != 0 {
		t.Log("without SSH: its server changes users, of which a lab that root did not start has one")
		overSSH = nil
	}
	minutes, _ := strconv.ParseFloat(os.Getenv("PATHWISE_MESH_MINUTES"), 64)
	pairs, form := map[string]int{"rtt": 132, "path": 132, "bulk": 132, "capacity": 132, "load": 12},
		strings.NewReplacer("OFTEN", "1m", "PERIOD", "4m", "BULK", "all", "TRAINS", "all")
	if minutes == 0 {
		pairs["bulk"], pairs["capacity"] = 30, 5
		form = strings.NewReplacer("OFTEN", "12s", "PERIOD", "1m", "BULK", "some", "TRAINS", "star")
	}
	m := startMeshLab(t, gridNM(t), form.Replace(`
tools:
  rtt:  {probe: ping, parameters: {count: 10, interval: 100ms}}
  path: {probe: trace}
  bulk: {probe: throughput, parameters: {duration: 1s, cc: cubic}}
  capacity: {probe: capacity, needs: {duration: 3s}}
  load: {probe: host}
groups:
  all: {mesh: all}
  each: {list: [group:all]}
  some: {mesh: [ucl, dl, nikhef, cern, bristol, lyon]}
  star: {star: {centre: ucl, leaves: [group:some], one_way: true}}
tests:
  - {tool: rtt, group: all, schedule: {every: OFTEN, sampling: poisson}}
  - {tool: path, group: all, schedule: {every: PERIOD}}
  - {tool: bulk, group: BULK, schedule: {every: PERIOD}}
  - {tool: capacity, group: TRAINS, schedule: {every: PERIOD}}
  - {tool: load, group: each, schedule: {every: 1m}}
`), overSSH...)
	m.eventually("all agents are here", m.everyoneHere)
	transfers := m.watchTransfers()
	began := time.Now() // what was planned before, not all hosts were there for
	deadline := began.Add(15 * time.Minute)
	for {
		missing := m.unmeasured(pairs)
		if missing == "" && time.Since(began).Minutes() >= minutes {
			break
		}
		if minutes == 0 && time.Now().After(deadline) {
			t.Fatalf("after %v: %s", time.Since(began), missing)
		}
		time.Sleep(2 * time.Second) // other processes work
	}
	flows := transfers()
	if len(flows) < pairs["bulk"] {
		t.Errorf("the lab saw %d transfers, want %d or more: nothing was compared", len(flows), pairs["bulk"])
	}
	m.expectAlone(flows)
	results, bad := m.results(), 0
	for _, r := range results {
		if r.Status != measure.StatusOK && r.Started.After(began) {
			if bad++; bad <= 10 {
				t.Errorf("%s from %s to %s at %v: %s: %s", r.Tool, r.Source.Name, r.Target.Name, r.Started, r.Status, *r.Error)
			}
		}
	}
	status := m.status()
	missed := 0
	for _, miss := range status.Missed {
		if miss.Start.After(began) {
			missed++
			t.Errorf("missed: %+v", miss)
		}
	}
	m.expectDemand("ucl", "cern")
	t.Logf("%.1f min: %d results, %d not ok, %d missed", time.Since(began).Minutes(), len(results), bad, missed)
}

// unmeasured says of which tools not every pair has a result; "" if all have.
func (m *meshLab) unmeasured(pairs map[string]int) string {
	m.t.Helper()
	seen := map[string]map[string]bool{}
	for _, r := range m.results() {
		if seen[r.Tool] == nil {
			seen[r.Tool] = map[string]bool{}
		}
		seen[r.Tool][r.Source.Name+" "+r.Target.Name] = true
	}
	var missing []string
	for tool, n := range pairs {
		if len(seen[tool]) < n {
			missing = append(missing, fmt.Sprintf("%s: %d of %d pairs", tool, len(seen[tool]), n))
		}
	}
	return strings.Join(missing, "; ")
}

// expectDemand has a light test on demand, which is not to wait for anything. Where the processors are busy it begins late, and sends what
// its time is left for: half of its pings at the least.
func (m *meshLab) expectDemand(source, target string) {
	m.t.Helper()
	r := &measure.Result{}
	out := m.must("mesh", "run", source, target, "rtt", "--wait", "0", "--data", m.path("data"), "--json")
	if err := json.Unmarshal(out, r); err != nil {
		m.t.Fatal(err)
	}
	sent, received := r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets]
	if r.Status != measure.StatusOK || r.Source.Name != source || sent < 5 || received != sent {
		m.t.Errorf("on demand: %s of %s, %v", r.Status, r.Source.Name, r.Metrics)
	}
}
