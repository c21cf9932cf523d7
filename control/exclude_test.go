package control

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/config"
)

// TestExclusionsOfHours: whatever an exclusion of some hours says, the plan keeps to it, and leaves nothing else out. What it
// means is asked of package config, which knows nothing of the planner's closures.
func TestExclusionsOfHours(t *testing.T) {
	for _, exclusion := range []string{
		`{days: sun}`, // without hours: all of that day, which is not the one that is looked at
		`{tool: bulk}`,
		`{test: rtt@all, tool: bulk}`, // both must hold: none
		`{host: a}`,
		`{host: []}`, // nobody
		`{source: [], target: a}`,
		`{pair: []}`,
		`{host: [a, b], tool: rtt}`,
		`{source: a}`,
		`{target: [a, site:far], test: bulk@all}`,
		`{source: [a, b], target: [b, c]}`,
		`{source: [a, b], target: [b, c], direction: reverse}`,
		`{source: site:far, target: all, direction: both}`,
		`{pair: [a, b]}`,
		`{pair: [[a, b], [c, a]], direction: forward}`,
		`{pair: [[a, b], [c, a], [e, d]], source: [a, d], direction: reverse}`,
		`{pair: [all, b], host: c}`,
	} {
		if !strings.Contains(exclusion, "days") {
			exclusion = strings.TrimSuffix(exclusion, "}") + ", hours: \"06:00-18:00\"}"
		}
		t.Run(exclusion, func(t *testing.T) { keepsTo(t, exclusion) })
	}
}

func keepsTo(t *testing.T, exclusion string) {
	text := "hosts: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3, d: {address: 10.0.0.4, site: far}, e: {address: 10.0.0.5, site: far}}\n" +
		"sites: {far: {}}\n" + someTests + "exclude: [" + exclusion + "]\n"
	m, err := config.Parse([]config.File{{Name: "mesh.yaml", Text: []byte(text)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPreview(m, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	number := map[string]int{}
	for i := range m.Hosts {
		number[m.Hosts[i].Name] = i
	}
	key := func(test string, source, target int) string { return fmt.Sprint(test, " ", source, " ", target) }
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	at := func(hour int) time.Time { return monday.Add(time.Duration(hour) * time.Hour) }
	ran := map[string]bool{}
	for r := range p.Named(at(7), at(17)) {
		ran[key(r.Test, number[r.Source], number[r.Target])] = true
	}
	for i := range m.Tests {
		test := &m.Tests[i]
		for source := range m.Hosts {
			for target := range m.Hosts {
				if want := source != target && m.Allowed(test, source, target, at(6), at(18)); ran[key(test.Name, source, target)] != want {
					t.Errorf("%s from %s to %s is planned: %v, want %v", test.Name, m.Hosts[source].Name, m.Hosts[target].Name, !want, want)
				}
			}
		}
	}
}
