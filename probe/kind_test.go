package probe

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// What a Result takes in an archive goes by its samples: echoes, and the kernels' words on each stream of a transfer.
func TestResultBytes(t *testing.T) {
	told := map[string]bool{}
	for _, c := range []struct {
		kind       string
		parameters values
		want       float64
	}{
		{"ping", nil, 1060},
		{"ping", values{"count": 600}, 9320},
		{"trace", nil, 550},
		{"mtu", nil, 550},
		{"capacity", nil, 580},
		{"host", nil, 2600},
		{"transact", values{"count": 20}, 1750},
		{"throughput", values{"duration": 9, "parallel": 4}, 133150},
		{"throughput", values{"proto": "udp"}, 1150},
		{"command", values{"argv": []string{"true"}, "parse": []any{map[string]any{"metric": "a_seconds", "key": "a"}}}, 370},
	} {
		d, err := Demand(measure.Task{Kind: c.kind, Parameters: c.parameters})
		if err != nil || d.ResultBytes != c.want {
			t.Errorf("%s %v: %g bytes, error %v, want %g", c.kind, c.parameters, d.ResultBytes, err, c.want)
		}
		told[c.kind] = true
	}
	for _, k := range Kinds() {
		d, err := Demand(measure.Task{Kind: k.Name})
		if !told[k.Name] && (err != nil || d.ResultBytes < leastResult) {
			t.Errorf("a Result of %s takes %g bytes, error %v: want %d at least", k.Name, d.ResultBytes, err, leastResult)
		}
	}
}

// leastResult is what the line of a Result alone takes in an archive, in bytes, with one metric.
const leastResult = 370
