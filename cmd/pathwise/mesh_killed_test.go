package main

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/control"
)

// The controller is killed under load and comes back after a while: agents went on by the plan that they have, every result
// arrives, and none twice. Then an agent is killed for good, which is told of.
func TestMeshWithoutController(t *testing.T) {
	t.Parallel()
	m := startMeshLab(t, faultLab, faultMesh)
	m.filedAfter(time.Now())
	began := time.Now()
	for range faultRounds(2) {
		time.Sleep(m.span(0, faultEvery))
		m.kill(m.serve)
		time.Sleep(m.span(faultEvery, 3*faultEvery)) // agents are to run without a controller for some of their runs
		m.startServe()
		m.eventually("all agents are here again", m.everyoneHere)
	}
	m.filedAfter(time.Now())
	m.settled(began, time.Now(), asPlanned("nobody"))
	m.expectAway("a")
}

// expectAway ends a host's agent, which is told of.
func (m *meshLab) expectAway(host string) {
	m.t.Helper()
	if err := m.agents[host].Kill(); err != nil {
		m.t.Fatal(err)
	}
	m.eventually(host+" is away", func() bool {
		for _, h := range m.status().Hosts {
			if h.Name == host {
				return h.State == control.Away
			}
		}
		return false
	})
}
