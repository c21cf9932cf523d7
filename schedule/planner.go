package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// Planner plans the runs of a Mesh. It is made by New, Resume or Change. It keeps what it worked out last, so it is not
// safe for use by two goroutines at once.
type Planner struct {
	mesh     Mesh
	seed     uint64
	guard    time.Duration
	freeze   time.Duration
	period   []time.Duration // of each test, stretched where needed; of a grid without one, the shortest
	findings []Finding

	sites      []int32 // of each interface: its limited site
	closures   *closures
	components []*component
	component  []int32  // of each interface
	lights     []*light // of each test; nil: exclusive
	names      []uint64 // of each interface: its name's hash
	testNames  []uint64 // of each test

	since     int64   // what begins before this was planned by another
	begun     int64   // from when on frames are planned: not before the last committed run is over
	committed []Run   // that another planned, or somebody asked for, in order of their start
	inherited *busy   // when those of them that are exclusive and another planned take what they need
	held      *busy   // and with those on demand
	done      []Turns // what had its turn before since, in cycles that go on
}

// New checks a mesh and makes a planner of it. seed makes the plan: the same mesh and seed give the same one. The error
// is bad input.
func New(m Mesh, seed uint64) (*Planner, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	p := &Planner{mesh: m, seed: seed, guard: m.guard(), freeze: m.Freeze, since: -never, begun: -never}
	p.freeze = cmp.Or(p.freeze, DefaultFreeze)
	p.closures = newClosures(&m)
	p.sites = siteIndex(&m)
	for _, i := range m.Interfaces {
		p.names = append(p.names, hashName(i.Name))
	}
	for i := range m.Tests {
		p.testNames = append(p.testNames, hashName(m.Tests[i].Name))
		timing := m.timing(&m.Tests[i])
		g := grid{timing.Every, timing.Next}
		p.period = append(p.period, g.gap())
	}
	p.components, p.component = components(&m, p.guard)
	p.fit()
	p.leftOut()
	p.lights = newLights(p)
	p.hold()
	p.inherited = p.held
	return p, nil
}

func (m *Mesh) guard() time.Duration {
	if m.Guard == 0 {
		return DefaultGuard
	}
	return max(0, m.Guard)
}

// Findings says which wishes cannot be met, and what the plan does instead.
func (p *Planner) Findings() []Finding { return slices.Clone(p.findings) }

// Period is the time between two runs of a pair of the test, stretched where Findings says so; the mean of a random
// one, the shortest of one by cron.
func (p *Planner) Period(test int) time.Duration { return p.period[test] }

// contradiction is a mesh that cannot be planned.
func contradiction(field, value, want string) error {
	return input.Errorf("%s %s: %s", field, value, want)
}

// Validate says whether the mesh can be planned. The error is bad input.
func (m *Mesh) Validate() error {
	seen := map[string]bool{}
	for _, i := range m.Interfaces {
		if i.Name == "" || seen[i.Name] {
			return contradiction("interface", fmt.Sprintf("%q", i.Name), "each needs a name of its own")
		}
		seen[i.Name] = true
	}
	clear(seen)
	for i := range m.Tests {
		t := &m.Tests[i]
		if t.Name == "" || seen[t.Name] {
			return contradiction("test", fmt.Sprintf("%q", t.Name), "each needs a name of its own")
		}
		seen[t.Name] = true
		if err := m.validateTest(t); err != nil {
			return err
		}
	}
	for _, c := range m.Closures {
		if c.Hours == nil {
			return contradiction("closure", fmt.Sprintf("%q", c.Text), "needs hours")
		}
	}
	return nil
}

func (m *Mesh) validateTest(t *Test) error {
	timing := m.timing(t)
	switch {
	case t.Phase != "" && !slices.ContainsFunc(m.Phases, func(p Phase) bool { return p.Name == t.Phase }):
		return contradiction("test "+t.Name+": phase", t.Phase, "is not one of the mesh")
	case timing.Next == nil && timing.Every < time.Millisecond:
		return contradiction("test "+t.Name+": every", timing.Every.String(), "at least a millisecond")
	case t.Demand.Exclusive && duration(t) < time.Millisecond:
		return contradiction("test "+t.Name+": duration_seconds", fmt.Sprint(t.Demand.DurationSeconds),
			"an exclusive test lasts a millisecond at least")
	case t.Bytes != nil && len(t.Bytes) != len(t.Pairs):
		return contradiction("test "+t.Name+": bytes", fmt.Sprint(len(t.Bytes)), "one for each pair")
	case t.Demand.DurationSeconds < 0 || t.Slot < 0:
		return contradiction("test "+t.Name, "", "duration and slot are zero or more")
	}
	interfaces := int32(len(m.Interfaces))
	for _, p := range t.Pairs {
		if p.Source < 0 || p.Target < 0 || p.Source >= interfaces || p.Target >= interfaces {
			return contradiction("test "+t.Name+": pair", fmt.Sprint(p), "is of interfaces that are not there")
		}
		if t.Demand.Exclusive && p.Source == p.Target {
			return contradiction("test "+t.Name+": pair", m.Interfaces[p.Source].Name,
				"an exclusive test needs two interfaces")
		}
	}
	return nil
}
