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

	// Values are all that a parameter can be, by kind and parameter, where it is one of a few words. One that is not here may be
	// anything. nil: of a build before this was said; see Status.Abilities.
	Values map[string]map[string][]string `json:"values,omitempty"`

	// Sealed are the kinds of responder whose packets it can authenticate by the secret of a run, beside those that have shown it since they are
	// there.
	Sealed []string `json:"sealed,omitempty"`
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

// unsaidValues are the Values of a build that did not tell any yet, and had these kinds. They are what such builds understood, so
// they never change.
func unsaidValues(kinds map[string][]string) map[string]map[string][]string {
	all := map[string]map[string][]string{"ping": {"proto": {"icmp"}}, "throughput": {"proto": {"tcp", "udp"}}, "trace": {"proto": {"udp"}}}
	if slices.Contains(kinds["ping"], "port") { // which came with the others
		all["ping"]["proto"] = []string{"icmp", "syn", "tcp"}
	}
	for kind, names := range kinds {
		if slices.Contains(names, "family") {
			if all[kind] == nil {
				all[kind] = map[string][]string{}
			}
			all[kind]["family"] = []string{"ipv4", "ipv6"}
		}
	}
	return all
}

// Abilities are what the agent understands that sent the status.
func (s *Status) Abilities() Abilities {
	can := firstAbilities
	if s.Can != nil {
		can = *s.Can
	}
	if can.Values == nil {
		can.Values = unsaidValues(can.Kinds)
	}
	return can
}

// NotUnderstood says which part of a Task an agent does not understand: its kind, one of its parameters, or a value that is none of
// the few that its build knows. It is "" if it understands all of it. Other values are the agent's to judge.
func (a Abilities) NotUnderstood(t measure.Task) string {
	names, known := a.Kinds[t.Kind]
	if !known {
		return t.Kind
	}
	for _, name := range slices.Sorted(maps.Keys(t.Parameters)) {
		if !slices.Contains(names, name) {
			return parameterOf(name, t.Kind)
		}
		if value := fmt.Sprint(t.Parameters[name]); !a.takes(t.Kind, name, value) {
			return valueOf(value, name, t.Kind)
		}
	}
	return ""
}

// NotAnswered says which part of a Task an agent does not answer as its target, beside the kind, where a port is opened for that at the agent's host; "": none. The routes of
// traces both ways, and what arrived of SYNs, an agent tells at such a port since its build traces in rounds.
func (a Abilities) NotAnswered(t measure.Task) string {
	for _, name := range []string{"both", "middlebox"} {
		if asked, _ := t.Parameters[name].(bool); t.Kind == "trace" && asked && !slices.Contains(a.Kinds["trace"], "rounds") {
			return parameterOf(name, t.Kind) + " as a target"
		}
	}
	return ""
}

// takes reports whether a parameter that the agent knows can be a value.
func (a Abilities) takes(kind, name, value string) bool {
	values, few := a.Values[kind][name]
	return !few || slices.Contains(values, value)
}

func parameterOf(name, kind string) string { return fmt.Sprintf("parameter %s of %s", name, kind) }

func valueOf(value, name, kind string) string {
	return "value " + value + " of " + parameterOf(name, kind)
}

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
				continue
			}
			for _, value := range newer.Values[kind][name] {
				if !a.takes(kind, name, value) {
					unknown = append(unknown, valueOf(value, name, kind))
				}
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
