package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/quantity"
)

// test reads the section tests.
func (r *reader) test(n node) {
	for _, item := range n.items() {
		if !item.isMapping() {
			item.fail(item.kind(), "a mapping such as {tool: rtt, group: everybody, schedule: {every: 1m}}")
			continue
		}
		t := Test{}
		var tools []string
		online := true
		given := item.fields("{tool: rtt, group: everybody, schedule: {every: 1m}}", fields{
			"name":      into(&t.Name, parseTestName),
			"tool":      known(&tools, r.mesh.tools, "a tool"),
			"group":     func(n node) { t.Group = r.groupOf(n) },
			"schedule":  func(n node) { t.Schedule = r.timing(n, true) },
			"interface": into(&t.Interface, parseName),
			"family":    into(&t.Family, parseFamily),
			"online":    into(&online, parseBool),
		})
		t.Offline = !online
		complete := true
		for _, key := range []string{"tool", "group", "schedule"} {
			if _, has := given[key]; !has {
				item.fail("", "%s as well", key)
				complete = false
			}
		}
		if complete && t.Group != "" {
			r.addTests(item, t, tools)
		}
	}
}

// addTests adds a test for each of the tools.
func (r *reader) addTests(n node, t Test, tools []string) {
	base := t.Name
	for _, tool := range tools {
		t.Tool = tool
		switch {
		case base == "":
			t.Name = tool + "@" + t.Group
		case len(tools) > 1:
			t.Name = base + "/" + tool
		}
		if first, twice := r.testNodes[t.Name]; twice {
			n.fail(t.Name, "a name of its own for each test; %s has this one", first.place())
			continue
		}
		r.testNodes[t.Name] = n
		r.mesh.tests[t.Name] = len(r.mesh.Tests)
		r.mesh.Tests = append(r.mesh.Tests, t)
	}
}

// groupOf reads the name of a group.
func (r *reader) groupOf(n node) string {
	text, ok := n.scalar("the name of a group")
	if ok && r.mesh.Group(text) == nil {
		n.fail(text, "the name of a group%s", document.Meant(text, slices.Sorted(maps.Keys(r.mesh.groups))))
		return ""
	}
	return text
}

// checkTests checks what tests mean in sum: for each the first fault, which may be that of many hosts.
func (r *reader) checkTests() {
	r.mesh.bind()
	if len(r.errs) > 0 {
		return // what is missing would be missed again
	}
	for i := range r.mesh.Tests {
		t := &r.mesh.Tests[i]
		if value, want := r.mesh.wrong(t); want != "" {
			r.testNodes[t.Name].fail(value, "%s", want)
		} else {
			r.checkCommand(t)
		}
	}
}

// wrong says what of a test cannot be.
func (m *Mesh) wrong(t *Test) (value, want string) {
	g, tool := m.Group(t.Group), m.Tool(t.Tool)
	own := g.Shape == ShapeList
	switch {
	case tool.Itself && !own:
		return t.Group, "a group that is a list: " + tool.Name + " measures each host by itself"
	case !tool.Itself && tool.Command == nil && own:
		return t.Group, "a group of pairs, such as a mesh: " + tool.Name + " needs a target"
	case tool.Command != nil && own == tool.Command.names("target"):
		if own {
			return t.Group, "a group of pairs, such as a mesh: the command names a target"
		}
		return t.Group, "a group that is a list: the command names no {target}"
	}
	if name, want := m.unreachable(t); want != "" {
		return name, want
	}
	if tool.Command != nil {
		return m.unfilled(t)
	}
	return tool.discontinuous(&t.Schedule)
}

// usualEvery is the length of a Result of a continuous tool that names none.
const usualEvery = time.Minute

// discontinuous says why runs of a continuous tool would not follow each other without a gap.
func (t *Tool) discontinuous(s *Schedule) (value, want string) {
	if on := t.Parameters["continuous"]; on != true && on != "true" {
		return "", ""
	}
	every := usualEvery
	switch v := t.Parameters["every"].(type) {
	case float64:
		every = time.Duration(v * float64(time.Second))
	case string:
		every, _ = quantity.ParseDuration(v) // the Checker has read it
	}
	switch {
	case s.Every == 0 || s.Sampling != Periodic || s.Phase != "":
		return t.Name, fmt.Sprintf("a schedule {every: %v}: %s is continuous, so that its runs follow each other", every, t.Name)
	case s.Every != every:
		return s.Every.String(), fmt.Sprintf("every: %v, as long as a run of %s, or every: %v among the parameters of that", every, t.Name, s.Every)
	}
	return "", ""
}

// checkCommand asks the Checker about the command of a test, between the first two hosts.
func (r *reader) checkCommand(t *Test) {
	tool := r.mesh.Tool(t.Tool)
	if tool.Command == nil || r.check == nil {
		return
	}
	for s, d := range r.mesh.distinct(t) {
		leg, _ := r.mesh.Leg(t, tool, s, d) // there is one: see unreachable
		r.checkTask(r.testNodes[t.Name], r.mesh.Task(tool, leg, examplePort))
		return
	}
}

// unreachable finds a pair of a test that has no addresses for it, or says that there is no pair at all.
func (m *Mesh) unreachable(t *Test) (value, want string) {
	g := m.Group(t.Group)
	families := make([]families, len(m.Hosts))
	for _, list := range [][]int{g.Left, g.Right, g.ends()} {
		for _, h := range list {
			for _, o := range m.options(t, m.Tool(t.Tool), h) {
				families[h] |= o.families
			}
			if families[h] == 0 {
				return m.Hosts[h].Name, "at each host an address of the interface and family that the test and its tool name"
			}
		}
	}
	some := false
	for s, d := range g.all() {
		if m.Hosts[s].Reach == ReachResponder {
			if g.Shape == ShapePairs {
				return m.Hosts[s].Name, "a source that runs tests; this one is a responder, which only answers"
			}
			continue
		}
		some = true
		if families[s]&families[d] == 0 && !parted(t.always, s, d) {
			pair := m.Hosts[s].Name + ", " + m.Hosts[d].Name
			return pair, "an address of the same family at both, or exclude the pair"
		}
	}
	if !some {
		return t.Group, "at least one pair whose source is not a responder"
	}
	return "", ""
}

// ends are the hosts of explicit pairs.
func (g *Group) ends() (all []int) {
	for _, p := range g.Pairs {
		all = append(all, p[0], p[1])
	}
	return all
}

// names says whether a command speaks of an end: {target}, {target_name}, {target.path}.
func (c *Command) names(end string) bool {
	return slices.ContainsFunc(placeholders(c.Words), func(name string) bool {
		return name == end || name == end+"_name" || strings.HasPrefix(name, end+".")
	})
}
