package config

import (
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// portName is the one parameter that is always the target's: what it listens on.
const portName = "port"

// Task returns what the leg's source is to do. Port is what the target listens on for this run; 0: the port that the
// target's tools name, or else the probe's own.
//
// A probe's parameters are the tool's, over them the source's own, and the port of the target. A transfer is held to the
// rate that budgets allow, and a name is looked up for the family that is asked for. The values of a
// command's placeholders go with its words; what is in neither, the source fills in.
func (m *Mesh) Task(tool *Tool, leg Leg, port int) measure.Task {
	task := m.task(tool, leg, port)
	m.pace(&task, leg)
	if leg.Family != 0 && task.Kind != KindCommand && !tool.Itself {
		setParameter(&task, familyName, fmt.Sprintf("ipv%d", leg.Family))
	}
	return task
}

func (m *Mesh) task(tool *Tool, leg Leg, port int) measure.Task {
	task := measure.Task{Kind: tool.Kind, Target: leg.TargetAddress, Parameters: tool.Parameters}
	if tool.Command != nil {
		task.Parameters = m.command(tool, leg, port)
		return task
	}
	if tool.Itself {
		task.Target = ""
	}
	own, far := m.Hosts[leg.Source].Overrides[tool.Name], m.Hosts[leg.Target].Overrides[tool.Name]
	if own == nil && far[portName] == nil && port == 0 {
		return task
	}
	task.Parameters = map[string]any{}
	maps.Copy(task.Parameters, tool.Parameters)
	for name, v := range own {
		if name != portName {
			task.Parameters[name] = v
		}
	}
	if far[portName] != nil {
		task.Parameters[portName] = far[portName]
	}
	if port != 0 {
		task.Parameters[portName] = float64(port)
	}
	return task
}

// Server returns what the leg's target is to run meanwhile, filled in; nil if that is nothing, or if the target is a
// responder, whose server runs already. A bare {name} is the target's own value, or else the tool's.
func (m *Mesh) Server(tool *Tool, leg Leg, port int) []string {
	if tool.Command == nil || tool.Command.Server == nil || m.Hosts[leg.Target].Reach == ReachResponder {
		return nil
	}
	words, _ := fill(tool.Command.Server, m.lookup(tool, leg, leg.Target, port))
	return words
}

// command returns the parameters of a Task of KindCommand. Only the program's own name is filled in here: where it lies
// is the host's to say. The rest is filled in by who runs it, so that no value can become more than a part of its word.
func (m *Mesh) command(tool *Tool, leg Leg, port int) map[string]any {
	lookup := m.lookup(tool, leg, leg.Source, port)
	argv, values := []any{}, map[string]any{}
	program, _ := fill(tool.Command.Words[:1], lookup)
	for _, word := range append(program, tool.Command.Words[1:]...) {
		argv = append(argv, word)
	}
	for _, name := range placeholders(tool.Command.Words[1:]) {
		if v, ok := lookup(name); ok && name != "target" {
			values[name] = v
		}
	}
	return map[string]any{"argv": argv, "values": values, "parse": tool.Command.rules}
}

// lookup returns what a placeholder stands for, in a command that runs at one of the ends.
func (m *Mesh) lookup(tool *Tool, leg Leg, runs, port int) func(string) (string, bool) {
	own := func(host int, name string) (string, bool) {
		if v, ok := m.Hosts[host].Overrides[tool.Name][name]; ok {
			return fmt.Sprint(v), true // a text: see reader.override
		}
		v, ok := tool.Command.Values[name]
		return v, ok
	}
	return func(name string) (string, bool) {
		switch name {
		case "source":
			_, err := netip.ParseAddr(leg.SourceAddress) // of a host that has only a name, it knows its address itself
			return leg.SourceAddress, err == nil
		case "target":
			return leg.TargetAddress, true
		case "source_name":
			return m.Hosts[leg.Source].Name, true
		case "target_name":
			return m.Hosts[leg.Target].Name, true
		case portName:
			if port != 0 {
				return strconv.Itoa(port), true
			}
			if fixed := m.Hosts[leg.Target].Ports.Fixed[tool.Name]; fixed != 0 {
				return strconv.Itoa(fixed), true
			}
			return own(leg.Target, portName)
		}
		end, rest, dotted := strings.Cut(name, ".")
		switch {
		case !dotted:
			return own(runs, name)
		case end == "source":
			return own(leg.Source, rest)
		case end == "target":
			return own(leg.Target, rest)
		}
		return "", false
	}
}

// unfilled finds a host at which the command of a test lacks a value, or has one that would change what the command is.
func (m *Mesh) unfilled(t *Test) (value, want string) {
	tool := m.Tool(t.Tool)
	for s, d := range m.distinct(t) {
		leg, _ := m.Leg(t, tool, s, d) // there is one: see unreachable
		ends := "from " + m.Hosts[s].Name + " to " + m.Hosts[d].Name
		missing := lacking(tool, tool.Command.Words, m.lookup(tool, leg, s, 0))
		if tool.Command.Server != nil && m.Hosts[d].Reach != ReachResponder {
			missing = append(missing, lacking(tool, tool.Command.Server, m.lookup(tool, leg, d, 0))...)
		}
		if len(missing) > 0 {
			return strings.Join(missing, " "), "a value " + ends + " that does not begin with -, under values of " +
				tool.Name + ", or under tools of a host"
		}
	}
	return "", ""
}

// lacking returns the placeholders without a value, and words to which a value gives another meaning. A port that the
// target opens for its server, and the source's address, are known only when the command runs.
func lacking(tool *Tool, words []string, lookup func(string) (string, bool)) []string {
	filled, missing := fill(words, func(name string) (string, bool) {
		v, ok := lookup(name)
		return v, ok || name == "source" || name == portName && tool.Command.Server != nil
	})
	for i, word := range filled {
		option := strings.HasPrefix(words[i], "-") || strings.HasPrefix(words[i], "{{")
		if strings.HasPrefix(word, "-") && !option || i == 0 && placeholder.MatchString(word) {
			missing = append(missing, words[i])
		}
	}
	return missing
}

// distinct yields pairs of a test that stand for all of them in what a command is filled in with: each host is at least
// once a source, if it can be, and once a target.
func (m *Mesh) distinct(t *Test) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		asSource, asTarget := make([]bool, len(m.Hosts)), make([]bool, len(m.Hosts))
		for s, d := range m.Group(t.Group).all() {
			if m.Hosts[s].Reach == ReachResponder || asSource[s] && asTarget[d] || parted(t.always, s, d) {
				continue
			}
			asSource[s], asTarget[d] = true, true
			if !yield(s, d) {
				return
			}
		}
	}
}
