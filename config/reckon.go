package config

import (
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// A Reckoning says what runs of a mesh ask for. Checks, plans and runs all go by it. It is for one goroutine.
type Reckoning struct {
	// Measured counts where it is below what the mesh file says of a leg; nil: nothing was measured.
	Measured Measured

	mesh   *Mesh
	demand func(measure.Task) (measure.Demand, error)
	asked  map[asked]measure.Demand
}

// Measured says what a tool carried lately from one host to another, by index: payload in bit/s; 0: not known.
type Measured func(tool string, source, target int) float64

// asked is what the answer of a probe depends on, so that a mesh of a million pairs asks it once a tool.
type asked struct {
	tool   *Tool
	source int     // whose own parameters count; -1: it has none
	six    bool    // over IPv6, whose headers are longer
	rate   float64 // that budgets hold the run to
}

// Reckon returns a Reckoning by what probes say of their tasks.
func (m *Mesh) Reckon(demand func(measure.Task) (measure.Demand, error)) *Reckoning {
	return &Reckoning{mesh: m, demand: demand, asked: map[asked]measure.Demand{}}
}

// Need returns what a run of a tool over a leg asks for, once budgets hold it back. What fills a link is taken to fill the
// slowest part of its way of which a rate is known. Errors are the probe's.
func (r *Reckoning) Need(tool *Tool, leg Leg) (measure.Demand, error) {
	need, err := r.Says(tool, leg)
	if err != nil || leg.Source == leg.Target { // no link is crossed
		return need, err
	}
	known := r.mesh.slowest(leg.Source, leg.Target, leg.SourceInterface, leg.TargetInterface)
	known = lower(known, r.carried(tool, leg, need.BitsPerSecond))
	if need.Exclusive {
		r.fill(&need, tool, leg, known)
	}
	if most := r.mesh.limits(leg).BytesPerDay; most > 0 && tool.Kind == kindThroughput {
		need.Bytes = min(need.Bytes, most) // see Mesh.Shorten
	}
	return need, nil
}

// carried is what the tool took of the links of a leg when it was measured, the way that its data goes: of both ways, the faster.
// Nothing follows from it for what goes at a rate of its own whatever arrives: datagrams, and programs that say their rate.
func (r *Reckoning) carried(tool *Tool, leg Leg, says float64) (rate float64) {
	if r.Measured == nil || tool.Parameters["proto"] == "udp" || tool.Kind != kindThroughput && says > 0 {
		return 0
	}
	way := measure.WayOf(tool.Kind, map[string]any{
		"reverse": r.mesh.parameter(tool, leg, "reverse"), "bidir": r.mesh.parameter(tool, leg, "bidir"),
	})
	if way != measure.Reverse {
		rate = r.Measured(tool.Name, leg.Source, leg.Target)
	}
	if way == measure.Reverse || way == measure.Both {
		rate = max(rate, r.Measured(tool.Name, leg.Target, leg.Source))
	}
	return rate / payloadShare(tool.Parameters)
}

// fill reckons what an exclusive run does not say: one without a rate takes whatever its way carries, and none takes more.
func (r *Reckoning) fill(need *measure.Demand, tool *Tool, leg Leg, known float64) {
	says := need.BitsPerSecond
	switch {
	case says == 0 && known == 0:
		need.BitsPerSecond = assumedRate
	case known > 0 && (says == 0 || says > known):
		need.BitsPerSecond = known
	}
	switch {
	case need.Bytes == 0:
		need.Bytes = need.BitsPerSecond * need.DurationSeconds / 8
		if r.mesh.parameter(tool, leg, "bidir") == true {
			need.Bytes *= 2
		}
	case says > need.BitsPerSecond:
		need.Bytes *= need.BitsPerSecond / says
	case says == 0 && tool.Kind == kindCapacity: // short trains far apart: on average far below the rate of the link
		need.BitsPerSecond = need.Bytes * 8 / need.DurationSeconds
	}
}

// Says returns what probe and file say that a run needs, and nothing that is inferred: no rate, where it takes what there is.
func (r *Reckoning) Says(tool *Tool, leg Leg) (measure.Demand, error) {
	key := asked{tool, -1, leg.Family == 6 || strings.Contains(leg.TargetAddress, ":"), r.mesh.limits(leg).BitsPerSecond}
	if r.mesh.Hosts[leg.Source].Overrides[tool.Name] != nil {
		key.source = leg.Source
	}
	if need, known := r.asked[key]; known {
		return need, nil
	}
	need, err := r.demand(r.mesh.Task(tool, leg, 0))
	if err != nil {
		return need, err
	}
	need = tool.Adjust(need)
	r.asked[key] = need
	return need, nil
}

// parameter is what a run has of a probe's parameters; nil: nothing is said.
func (m *Mesh) parameter(tool *Tool, leg Leg, name string) any {
	if v, own := m.Hosts[leg.Source].Overrides[tool.Name][name]; own {
		return v
	}
	return tool.Parameters[name]
}
