package fleet

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// Protocol is the version of the messages of this package. It grows when one end has to know of a change at the other: 1 had
// plans and Results in JetStream, 2 is without it.
const Protocol = 2

// Abilities are what the build of an agent understands. What its host cannot do, or its owner forbids, is a MissingCapability.
type Abilities struct {
	Protocol int                 `json:"protocol"` // version of the messages
	Results  string              `json:"results"`  // schema of the Results that it sends
	Kinds    map[string][]string `json:"kinds"`    // of Task: the names of the parameters of each
}

// firstAbilities are those of builds whose Status did not tell any yet. They are what the oldest of them understood, so they never
// change.
var firstAbilities = Abilities{Protocol: 1, Results: "pathwise.result/1", Kinds: map[string][]string{
	"capacity": {"port", "reverse"},
	"command":  {"argv", "parse", "values"},
	"host":     {"iface", "interval", "path"},
	"ping":     {"count", "df", "dscp", "interval", "poisson", "proto", "size", "timeout", "ttl"},
	"throughput": {"bidir", "bytes", "cc", "dscp", "duration", "event-loop", "interval", "length", "mss", "nodelay", "parallel", "port",
		"proto", "rate", "reverse", "window"},
	"trace": {"max-ttl", "port", "proto", "queries", "timeout"},
}}

// Abilities are what the agent understands that sent the status.
func (s *Status) Abilities() Abilities {
	if s.Can == nil {
		return firstAbilities
	}
	return *s.Can
}

// NotUnderstood says which part of a Task an agent does not understand: its kind, or one of its parameters. It is "" if it
// understands all of it. Values are the agent's to judge.
func (a Abilities) NotUnderstood(t measure.Task) string {
	names, known := a.Kinds[t.Kind]
	if !known {
		return t.Kind
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		if !slices.Contains(names, name) {
			return parameterOf(name, t.Kind)
		}
	}
	return ""
}

func parameterOf(name, kind string) string { return fmt.Sprintf("parameter %s of %s", name, kind) }

// Missing lists what a newer build understands and this one does not, kind by kind.
func (a Abilities) Missing(newer Abilities) (unknown []string) {
	if a.Protocol < newer.Protocol {
		unknown = append(unknown, fmt.Sprintf("version %d of the messages", newer.Protocol))
	}
	if a.Results != newer.Results && measure.ReadsSchema(a.Results) {
		unknown = append(unknown, newer.Results)
	}
	for _, kind := range slices.Sorted(maps.Keys(newer.Kinds)) {
		names, known := a.Kinds[kind]
		if !known {
			unknown = append(unknown, kind)
			continue
		}
		for _, name := range newer.Kinds[kind] {
			if !slices.Contains(names, name) {
				unknown = append(unknown, parameterOf(name, kind))
			}
		}
	}
	return unknown
}

// Newer says which version an agent speaks that is newer than any that this build knows; "" if there is none.
func (a Abilities) Newer() string {
	switch {
	case a.Protocol > Protocol:
		return fmt.Sprintf("version %d of the messages", a.Protocol)
	case !measure.ReadsSchema(a.Results):
		return a.Results
	}
	return ""
}
