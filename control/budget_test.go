package control

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/schedule"
)

// Whoever has the budget, of whatever kind, and whatever the tool: what the plan has is within it, each run that it makes is
// held to what was planned for it, and what is left out is a finding that counts it.
func TestBudgets(t *testing.T) {
	const day = 24 * time.Hour
	file := func(hosts, sites, tool string) string {
		return `
sites: {X: {rate: 1gbit` + sites + `}}
hosts:
  a: {address: 10.0.0.1, rate: 1gbit, site: X` + hosts + `}
  b: {address: 10.0.0.2, rate: 10gbit}
tools: {t: ` + tool + `}
groups: {all: {mesh: all}}
tests: [{tool: t, group: all, schedule: {every: 10m}}]
`
	}
	for place, at := range map[string]func(budget string) (hosts, sites string){
		"host": func(b string) (string, string) { return ", limits: {" + b + "}", "" },
		"site": func(b string) (string, string) { return "", ", budget: {" + b + "}" },
	} {
		for budget, most := range map[string]struct{ daily, rate float64 }{
			"daily: 1GB": {daily: 1e9}, "share: 0.1%": {daily: 10.8e9}, "rate: 100mbit": {rate: 100e6},
			"daily: 2GB, rate: 10mbit": {2e9, 10e6},
		} {
			for _, tool := range []string{
				"{probe: throughput}", "{probe: throughput, parameters: {bidir: true, parallel: 4}}",
				"{probe: throughput, parameters: {reverse: true, bytes: 3GB}}", "{probe: throughput, parameters: {rate: 500mbit}}",
				"{probe: throughput, parameters: {proto: udp, rate: 500mbit, length: 200}}", "{probe: capacity}", "{probe: ping}",
				"{probe: ping, parameters: {interval: 1ms, size: 1400, count: 5000}}", "{probe: trace}",
				`{command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 60s}`,
				`{command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 60s, needs: {bytes: 20MB, rate: 9mbit}}`,
			} {
				t.Run(fmt.Sprintf("%s %s %s", place, budget, tool), func(t *testing.T) {
					hosts, sites := at(budget)
					m, err := config.Parse([]config.File{{Name: "f", Text: []byte(file(hosts, sites, tool))}}, probe.Catalogue{})
					if err != nil {
						t.Fatal(err)
					}
					free, err := config.Parse([]config.File{{Name: "f", Text: []byte(file("", "", tool))}}, probe.Catalogue{})
					if err != nil {
						t.Fatal(err)
					}
					p := previewOf(t, m)
					planned := p.Load().Tests[0]
					if most.daily > 0 && planned.BytesPerDay > most.daily*1.001 {
						t.Errorf("%.4g bytes a day are planned", planned.BytesPerDay)
					}
					if strings.Contains(tool, "throughput") && planned.RunsPerDay == 0 {
						t.Error("a transfer that can be held to a budget is left out")
					}
					asked := previewOf(t, free).Load().Tests[0].RunsPerDay
					left := 0.0
					for _, f := range p.Findings() {
						left += f.RunsLeftOutPerDay
						if !strings.Contains(f.String(), "left out") {
							t.Errorf("finding %s does not say that runs are left out", f)
						}
					}
					if d := asked - planned.RunsPerDay - left; d > 0.1 || d < -0.1 {
						t.Errorf("%.4g runs a day are asked for, %.4g planned, and %.4g left out by findings %v", asked, planned.RunsPerDay, left, p.Findings())
					}
					midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
					for r := range p.Runs(midnight, midnight.Add(day)) {
						checkRun(t, p, &r, most.daily, most.rate)
					}
				})
			}
		}
	}
}

func previewOf(t *testing.T, m *config.Mesh) *Preview {
	t.Helper()
	p, err := NewPreview(m, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkRun says whether what a host is told to do is within a budget, by what the probe says of it.
func checkRun(t *testing.T, p *Preview, r *schedule.Run, daily, rate float64) {
	t.Helper()
	m := p.work.mesh
	test := &m.Tests[p.work.tests[r.Test]]
	tool := m.Tool(test.Tool)
	leg, err := m.Leg(test, tool, p.work.ends[r.Source][0], p.work.ends[r.Target][0])
	if err != nil {
		t.Fatal(err)
	}
	need, err := p.work.reckoning.Need(tool, leg)
	if err != nil {
		t.Fatal(err)
	}
	run, err := prepare(m, tool, leg, need, turn{start: r.Begin(), limit: time.Minute},
		func(_ string, first, _ int, _, _ time.Time) (int, error) { return first, nil })
	if err != nil {
		t.Fatal(err)
	}
	if tool.Kind == config.KindCommand {
		return // nobody holds it to anything but what the file says
	}
	does, err := probe.Demand(run.Task)
	if err != nil {
		t.Fatalf("%v: %v", run.Task, err)
	}
	if daily > 0 && (does.Bytes == 0 || does.Bytes > daily*1.001) {
		t.Errorf("%v moves %.4g bytes", run.Task.Parameters, does.Bytes)
	}
	if unheld := tool.Kind == "throughput" && does.BitsPerSecond == 0; rate > 0 && (unheld || does.BitsPerSecond > rate*1.001) {
		t.Errorf("%v takes %.4g bit/s", run.Task.Parameters, does.BitsPerSecond)
	}
}
