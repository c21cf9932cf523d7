package main

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// The controller is killed under load, PATHWISE_MESH_KILLS times (2 if that is not said), and comes back after a while:
// agents went on by the plan that they have, every result arrives, and none twice.
func TestMeshWithoutController(t *testing.T) {
	kills := 2
	if n, err := strconv.Atoi(os.Getenv("PATHWISE_MESH_KILLS")); err == nil {
		kills = n
	}
	const every = 5 * time.Second
	m := startMeshLab(t, `
hosts: {controller: {}, a: {}, b: {}, c: {}}
routers: [r]
links:
  - {between: [controller, r], rate: 100mbit, delay: 1ms}
  - {between: [a, r], rate: 20mbit, delay: 5ms}
  - {between: [b, r], rate: 20mbit, delay: 10ms}
  - {between: [c, r], rate: 20mbit, delay: 15ms}
`, `
tools:  {rtt: {probe: ping, parameters: {count: 5, interval: 200ms}}}
groups: {all: {mesh: [a, b, c]}}
tests:  [{tool: rtt, group: all, schedule: {every: 5s}}]
`)
	m.eventually("all agents are here", m.everyoneHere)
	began := time.Now()
	for range kills {
		if err := m.serve.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := m.serve.Wait(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * every) // agents are to run without a controller for some of their runs
		m.startServe()
		m.eventually("all agents are here again", m.everyoneHere)
	}
	ended := time.Now()
	m.eventually("every pair has a result of a later run", func() bool {
		later := map[[2]string]bool{}
		for _, r := range m.results() {
			if r.Started.After(ended.Add(every)) {
				later[[2]string{r.Source.Name, r.Target.Name}] = true
			}
		}
		return len(later) == 6
	})
	starts := map[[2]string][]time.Time{}
	seen := map[string]bool{}
	for _, r := range m.results() {
		if seen[r.ID] {
			t.Errorf("result %s is there twice", r.ID)
		}
		seen[r.ID] = true
		if r.Started.After(began) && r.Started.Before(ended) && r.Status == measure.StatusOK {
			pair := [2]string{r.Source.Name, r.Target.Name}
			starts[pair] = append(starts[pair], r.Started)
		}
	}
	if len(starts) != 6 {
		t.Errorf("results of %d pairs, want 6", len(starts))
	}
	for pair, times := range starts {
		slices.SortFunc(times, time.Time.Compare)
		for i, at := range times[1:] {
			// A run that is missing makes it twice as long; a busy host begins one late.
			if gap := at.Sub(times[i]); gap > every*19/10 {
				t.Errorf("%v: %v from one run to the next, at %v, want %v", pair, gap, at, every)
			}
		}
	}
	t.Logf("%d kills, %d results of %v", kills, len(seen), ended.Sub(began).Round(time.Second))
}
