package main

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/control"
)

// The controller's line is cut for longer than the plans that the agents have, which so repeat them; meanwhile one of them
// is killed, and comes back to what its disk holds. They measure all the time. Once the line is back all of it arrives, and no
// Result twice. What the controller planned for that time and could not tell them has a miss, or comes too late.
func TestMeshWithoutNetwork(t *testing.T) {
	t.Parallel()
	const (
		horizon = time.Minute      // the least that a mesh file may say
		beyond  = 15 * time.Second // the end of what is planned
	)
	m := newMeshLab(t, faultLab)
	m.deploy(faultMesh, "horizon: 1m")
	m.startServe()
	m.startAgents()
	m.filedAfter(time.Now())

	cut := func(down string) {
		if err := m.lab.Set("controller", "r", "down="+down); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	cut("true")
	time.Sleep(time.Duration(faultRounds(1)) * horizon)
	m.kill(m.agents["a"])
	time.Sleep(m.span(0, faultEvery))
	m.startAgent("a")
	time.Sleep(beyond)
	for _, h := range m.status().Hosts {
		if h.State != control.Away {
			t.Errorf("%s is %s behind a line that is cut", h.Name, h.State)
		}
	}
	cut("false")
	m.filedAfter(time.Now())
	m.settled(began, time.Now(), goneOn)
	for _, host := range []string{"b", "c"} {
		if m.said(host, "repeating this one") == 0 {
			t.Errorf("%s did not repeat its plan", host)
		}
	}
}
