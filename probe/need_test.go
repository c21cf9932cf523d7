package probe

import (
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// What an agent lacks is of the Tasks that need it, whether they set a value or have it by default, and of no others.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		tasks string
		task  measure.Task
		want  bool
	}{
		{"ping", measure.Task{Kind: "ping"}, true},
		{"ping", measure.Task{Kind: "ping", Parameters: values{"proto": "tcp"}}, true},
		{"ping", measure.Task{Kind: "mtu"}, false},
		{"", measure.Task{Kind: "ping"}, false},
		{"ping proto=icmp", measure.Task{Kind: "ping"}, true},
		{"ping proto=icmp", measure.Task{Kind: "ping", Parameters: values{"proto": "icmp"}}, true},
		{"ping proto=icmp", measure.Task{Kind: "ping", Parameters: values{"proto": "syn"}}, false},
		{"ping proto=syn", measure.Task{Kind: "ping", Parameters: values{"proto": "syn"}}, true},
		{"ping proto=syn", measure.Task{Kind: "ping"}, false},
		{"ping proto=syn", measure.Task{Kind: "ping", Parameters: values{"proto": "tcp", "method": "syn"}}, true}, // an older agent's words
		{"ping method=syn", measure.Task{Kind: "ping", Parameters: values{"proto": "syn"}}, true},                 // an older mesh file's
		{"ping method=syn", measure.Task{Kind: "ping", Parameters: values{"proto": "tcp", "method": "syn"}}, true},
		{"ping method=syn", measure.Task{Kind: "ping", Parameters: values{"proto": "tcp"}}, false},
		{"ping proto=syn", measure.Task{Kind: "ping", Parameters: values{"proto": "tcp"}}, false},
		{"trace proto=udp", measure.Task{Kind: "ping"}, false},
		{"trace middlebox=true", measure.Task{Kind: "trace"}, false},
		{"trace middlebox=true", measure.Task{Kind: "trace", Parameters: values{"middlebox": true}}, true},
		{"ping hue=red", measure.Task{Kind: "ping"}, false}, // of a later build
		{"telepathy hue=red", measure.Task{Kind: "telepathy", Parameters: values{"hue": "red"}}, true},
	} {
		if got := Named(c.tasks, c.task); got != c.want {
			t.Errorf("%q names %+v: %v", c.tasks, c.task, got)
		}
	}
}

// A Need that only some Tasks of a kind have is of a value that one of its parameters can be.
func TestNeedsAreOfValues(t *testing.T) {
	for _, k := range Kinds() {
		for _, n := range k.Needs {
			of := func(p Parameter) bool {
				return p.Name == n.Parameter && (slices.Contains(p.Values, n.Value) || p.Type == "yes or no" && n.Value == "true")
			}
			if n.Parameter != "" && !slices.ContainsFunc(k.Parameters, of) {
				t.Errorf("%s: no parameter can be so", n.Of(k.Name))
			}
		}
	}
}
