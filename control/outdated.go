package control

import (
	"fmt"
	"slices"
	"sync"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/respond"
)

// ours is what this build understands.
var ours = sync.OnceValue(func() fleet.Abilities {
	return fleet.Abilities{Protocol: fleet.Protocol, Results: measure.ResultSchema, Kinds: probe.ParameterNames(),
		Values: probe.ParameterValues(), Sealed: respond.Sealed()}
})

// outdated says why the agents of a leg cannot do a tool's run: their build does not know its kind, one of its parameters, or
// a value. It is "" if they can, as far as they said. The target's has to know the kind if it opens something for the run, and what is asked there.
func (c *Control) outdated(m *config.Mesh, tool *config.Tool, leg config.Leg, d measure.Demand) string {
	source, target := m.Hosts[leg.Source].Name, m.Hosts[leg.Target].Name
	if len(c.roster.missing(source))+len(c.roster.missing(target)) == 0 {
		return ""
	}
	port := 0
	if d.Responder != "" {
		port = m.Hosts[leg.Target].Ports.First // whichever it will be: it makes a parameter
	}
	task := taskOf(m, tool, leg, d, port)
	m.Shorten(&task, leg, d)
	if why := c.roster.notUnderstood(source, task); why != "" {
		return why
	}
	if d.Responder == "" && m.Server(tool, leg, 0) == nil {
		return ""
	}
	if why := c.roster.notUnderstood(target, measure.Task{Kind: task.Kind}); why != "" {
		return why
	}
	return c.roster.outOfDate(target, func(can fleet.Abilities) string { return can.NotAnswered(task) })
}

// seal reports whether the agents of a leg said that they can authenticate the packets of what a target opens for a run.
func (c *Control) seal(m *config.Mesh, leg config.Leg, d measure.Demand) bool {
	for _, host := range []int{leg.Source, leg.Target} {
		status, _, known := c.roster.last(m.Hosts[host].Name)
		if !known || !slices.Contains(status.Abilities().Sealed, d.Responder) {
			return false
		}
	}
	return true
}

// missing lists what this build understands and the agent of a host does not.
func (r *roster) missing(host string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heard[host].missing
}

// notUnderstood says that the agent of a host does not understand a task, if it does not. One that was not heard yet is taken to.
func (r *roster) notUnderstood(host string, t measure.Task) string {
	return r.outOfDate(host, func(can fleet.Abilities) string { return can.NotUnderstood(t) })
}

// outOfDate says what the agent of a host lacks, if it lacks something.
func (r *roster) outOfDate(host string, lacks func(fleet.Abilities) string) string {
	status, _, known := r.last(host)
	if !known {
		return ""
	}
	what := lacks(status.Abilities())
	if what == "" {
		return ""
	}
	return fmt.Sprintf("agent of %s is out of date: does not know %s", host, what)
}

// logAge logs, once after it came back, that an agent is older than this controller, and once for each version that one is
// newer than any that this controller knows.
func (c *Control) logAge(s fleet.Status, back bool) {
	if missing := c.roster.missing(s.Host); back && len(missing) > 0 {
		c.config.Log.Warn("agent is out of date: put this build on its host", "host", s.Host, "version", s.Version, "does not know", missing)
	}
	if version := s.Abilities().Newer(); version != "" && c.roster.firstOf(version) {
		c.config.Log.Warn("an agent is newer than this controller, which should be as new", "host", s.Host, "speaks", version)
	}
}

// maxNewer bounds how many newer versions are remembered: an agent may say any.
const maxNewer = 16

// firstOf says whether a version, newer than this build, is told of for the first time, and remembers it.
func (r *roster) firstOf(version string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newer[version] || len(r.newer) == maxNewer {
		return false
	}
	r.newer[version] = true
	return true
}
