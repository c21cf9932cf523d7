package control

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

const (
	// overrun is how much longer than reckoned a run may take before it is ended, where its tool has no timeout: half as
	// long again, and what setting up and exchanging results takes over a bad line.
	overrunRatio = 1.5
	overrunFixed = 10 * time.Second
	// lateBy is how late a light run may begin where its schedule does not say: as late as an agent on a busy host may be.
	lateBy = 10 * time.Second
)

// reckon says what runs of a mesh ask for, by what was measured; nil: nothing was.
func reckon(m *config.Mesh, measured config.Measured) *config.Reckoning {
	reckoning := m.Reckon(func(task measure.Task) (measure.Demand, error) {
		d, err := probe.Demand(task)
		if err != nil {
			return d, fmt.Errorf("reckon %s: %w", task.Kind, err)
		}
		return d, nil
	})
	reckoning.Measured = measured
	return reckoning
}

// reckonings hold what tasks ask for, so that those that differ by their target alone are reckoned once: that of a script of flows is the sum of its
// packets.
type reckonings map[string]reckoning

type reckoning struct {
	demand measure.Demand
	err    error
}

func (r reckonings) demand(task measure.Task) (measure.Demand, error) {
	six := strings.Contains(task.Target, ":") // over IPv6 headers are longer
	key := fmt.Sprintf("%s %v %v", task.Kind, six, task.Parameters)
	known, is := r[key]
	if !is {
		known.demand, known.err = probe.Demand(task)
		r[key] = known
	}
	return known.demand, known.err
}

// turn is when a run has its turn: from when on, how much later it may begin, and when after its start it is ended.
type turn struct {
	start       time.Time
	slot, limit time.Duration
}

// limitOf is how long a run of a tool may take.
func limitOf(tool *config.Tool, d measure.Demand) time.Duration {
	if tool.Timeout > 0 {
		return tool.Timeout
	}
	return time.Duration(d.DurationSeconds*overrunRatio*float64(time.Second)) + overrunFixed
}

// picker gives out a port of first to last on a host from then until then: switchboard.take does.
type picker func(host string, first, last int, from, until time.Time) (int, error)

// prepare makes a run of a tool over a leg. What its target opens gets a port of its own for as long as the run
// may take; a responder has one that stands.
func prepare(m *config.Mesh, tool *config.Tool, leg config.Leg, d measure.Demand, at turn, pick picker) (measure.Run, error) {
	target := &m.Hosts[leg.Target]
	run := measure.Run{
		ID: newID(at.start), Tool: tool.Name, Source: m.Hosts[leg.Source].Name, Target: target.Name, Start: at.start,
		LimitSeconds: at.limit.Seconds(), SlotSeconds: at.slot.Seconds(), Exclusive: d.Exclusive,
	}
	port := 0
	switch server := m.Server(tool, leg, 0); {
	case d.Responder == "" && server == nil:
	case target.Reach == config.ReachResponder:
		port = target.Ports.Fixed[d.Responder]
	default:
		var err error
		port, err = pick(target.Name, target.Ports.First, target.Ports.Last, at.start.Add(-openBefore), closes(&run))
		if err != nil {
			return run, err
		}
		run.Responder = &measure.Responder{Kind: d.Responder, Port: port, Secret: newSecret(), Sealed: d.Sealed, Tests: d.ResponderTests, Together: d.ResponderTogether}
		if server != nil {
			run.Responder.Kind, run.Responder.Command = measure.ResponderCommand, m.Server(tool, leg, port)
		}
	}
	run.Task = taskOf(m, tool, leg, d, port)
	m.Shorten(&run.Task, leg, d)
	return run, nil
}

// taskOf is what the source of a leg is to do, with the port at which the target answers under the parameter that is for it; 0: the probe's own.
func taskOf(m *config.Mesh, tool *config.Tool, leg config.Leg, d measure.Demand, port int) measure.Task {
	if d.PortParameter == "" {
		return m.Task(tool, leg, port)
	}
	task := m.Task(tool, leg, 0)
	if port != 0 {
		task.Parameters = maps.Clone(task.Parameters)
		task.Parameters[d.PortParameter] = float64(port)
	}
	return task
}
