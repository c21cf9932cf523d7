package main

import (
	"testing"
	"time"
)

// The controller is killed under load and comes back after a while: agents went on by the plan that they have, every result
// arrives, and none twice.
func TestMeshWithoutController(t *testing.T) {
	t.Parallel()
	m := startMeshLab(t, faultLab, faultMesh)
	m.filedAfter(time.Now())
	began := time.Now()
	for range faultRounds(2) {
		time.Sleep(span(0, faultEvery))
		m.kill(m.serve)
		time.Sleep(span(faultEvery, 3*faultEvery)) // agents are to run without a controller for some of their runs
		m.startServe()
		m.eventually("all agents are here again", m.everyoneHere)
	}
	m.filedAfter(time.Now())
	m.settled(began, time.Now(), asPlanned("nobody"))
}
