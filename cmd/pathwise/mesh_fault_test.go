package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// The faults of a mesh, played with its real programs on the hosts of a lab: a controller, and three agents that ping each
// other without end. After them it is reckoned up what became of each run.
const (
	faultLab = `
hosts: {controller: {}, a: {}, b: {}, c: {}}
routers: [r]
links:
  - {between: [controller, r], rate: 100mbit, delay: 1ms}
  - {between: [a, r], rate: 20mbit, delay: 5ms}
  - {between: [b, r], rate: 20mbit, delay: 10ms}
  - {between: [c, r], rate: 20mbit, delay: 15ms}
`
	faultMesh = `
tools:  {rtt: {probe: ping, parameters: {count: 5, interval: 200ms}}}
groups: {all: {mesh: [a, b, c]}}
tests:  [{tool: rtt, group: all, schedule: {every: 3s}}]
`
	faultPairs = 6
	faultEvery = 3 * time.Second
)

// faultRounds is how often each of a test's faults is played: PATHWISE_MESH_KILLS, or as often as one that runs with all others
// has time for.
func faultRounds(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("PATHWISE_MESH_KILLS")); err == nil {
		return n
	}
	return usual
}

// span is a random time, so that a fault hits another moment of the programs' work each time. The times of a test follow from
// its seed, which it logs, and which PATHWISE_FAULT_SEED gives it to play them again.
func (m *meshLab) span(from, to time.Duration) time.Duration {
	m.t.Helper()
	if m.random == nil {
		seed, err := strconv.ParseUint(os.Getenv("PATHWISE_FAULT_SEED"), 10, 64)
		if err != nil {
			seed = rand.Uint64()
		}
		m.t.Logf("times of faults: PATHWISE_FAULT_SEED=%d", seed)
		m.random = rand.New(rand.NewPCG(seed, 0))
	}
	return from + time.Duration(m.random.Int64N(int64(to-from)))
}

// A seed that a test has logged draws the same times again.
func TestFaultTimes(t *testing.T) {
	draw := func(seed string) (all []time.Duration) {
		t.Setenv("PATHWISE_FAULT_SEED", seed)
		for m := (&meshLab{t: t}); len(all) < 20; {
			at := m.span(faultEvery, 2*faultEvery)
			if at < faultEvery || at >= 2*faultEvery {
				t.Errorf("%v is not from %v to %v", at, faultEvery, 2*faultEvery)
			}
			all = append(all, at)
		}
		return all
	}
	if first, again := draw("7"), draw("7"); !slices.Equal(first, again) {
		t.Errorf("seed 7: %v, then %v", first, again)
	}
	if slices.Equal(draw("7"), draw("8")) || slices.Equal(draw(""), draw("")) {
		t.Error("other seeds draw the same times")
	}
}

// kill ends a program as kill -9 does, and waits until it is gone.
func (m *meshLab) kill(p *lab.Process) {
	m.t.Helper()
	if err := p.Kill(); err != nil {
		m.t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		m.t.Fatal(err)
	}
}

// filedAfter waits until each pair has a Result of a run that was planned after a time.
func (m *meshLab) filedAfter(at time.Time) {
	m.t.Helper()
	m.eventually("each pair has a result of a run planned after "+at.Format(time.TimeOnly), func() bool {
		later := map[[2]string]bool{}
		for _, r := range m.results() {
			if plannedAt(m.t, r.ID).After(at) {
				later[[2]string{r.Source.Name, r.Target.Name}] = true
			}
		}
		return len(later) == faultPairs
	})
}
