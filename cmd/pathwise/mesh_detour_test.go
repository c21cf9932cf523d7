package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// detourLab is the detour of 2002 (lab/casebook/detours.yaml) with a host at Reading, and with a link from Leeds to London that takes so long: from Daresbury to Reading and
// from there to London a round trip takes 10.4 ms together.
const detourLab = `
seed: 14
hosts: {controller: {}, dl: {}, ucl: {}, rdg: {}}
routers: [warrington, reading, leeds, london]
links:
  - {between: [controller, warrington], rate: 1gbit}
  - {between: [dl, warrington], rate: 1gbit, delay: 1ms}
  - {between: [warrington, reading], rate: 1gbit, delay: 2ms}
  - {between: [rdg, reading], rate: 1gbit, delay: 100us}
  - {between: [reading, london], rate: 1gbit, delay: 1ms}
  - {between: [warrington, leeds], rate: 1gbit, delay: 1ms}
  - {between: [leeds, london], rate: 100mbit, delay: %s}
  - {between: [london, ucl], rate: 1gbit, delay: 1ms}
routes:
  - {at: warrington, to: ucl, via: leeds}
  - {at: london, to: dl, via: leeds}
  - {at: reading, to: ucl, via: london}
`

// A diagnosis of a mesh, and the history of a pair, name a detour by another pair's round trips, from where it is more than a tenth; the 1 ms of 2002 is less.
func TestMeshDetour(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	carrying(t)
	for _, c := range []struct {
		delay    string
		severity measure.Severity // "": it is none
	}{{"2500us", ""}, {"3500us", measure.Info}, {"6ms", measure.Warning}, {"20ms", measure.Warning}} {
		t.Run(c.delay, func(t *testing.T) {
			m := startMeshLab(t, fmt.Sprintf(detourLab, c.delay), `
tools: {rtt: {probe: ping, parameters: {count: 5, interval: 50ms}}}
groups: {all: {mesh: all}}
tests: [{tool: rtt, group: all, schedule: {every: 4s}}]
`)
			m.eventually("round trips are known", func() bool {
				told := map[[2]string]int{}
				for _, r := range m.results() {
					told[[2]string{r.Source.Name, r.Target.Name}]++
				}
				return told[[2]string{"dl", "rdg"}] >= 3 && told[[2]string{"rdg", "ucl"}] >= 3 && told[[2]string{"dl", "ucl"}] >= 3
			})
			found := func(d *diagnose.Diagnosis) (severity measure.Severity) {
				if i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "detour" }); i >= 0 {
					severity = d.Findings[i].Severity
				}
				return severity
			}
			began := time.Now()
			text := m.must("diagnose", "--pair", "dl/ucl", "--data", m.data)
			t.Logf("%s after %v", text, time.Since(began))
			if told := bytes.Contains(text, []byte("By way of rdg it would take")); told != (c.severity != "") {
				t.Errorf("want %q:\n%s", c.severity, text)
			}
			d, _ := m.diagnose("dl", "ucl")
			if got := found(d); got != c.severity && !(c.severity == measure.Warning && strings.HasPrefix(d.Verdict, "healthy") && got == measure.Info) {
				t.Errorf("found %q, want %q\n%s", got, c.severity, inShort(d))
			}
		})
	}
}
