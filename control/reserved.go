package control

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/config"
)

// reserved are the parameters of each kind of probe that the mesh file alone sets for tests of others: they run a program, name
// a file of a host, or say to which of its ports data goes.
var reserved = map[string][]string{
	"capacity":         {"port"},
	config.KindCommand: {"argv", "values", "parse"},
	"host":             {"path"},
	"throughput":       {"port"},
	"trace":            {"port"},
}

// Reserved says whether a parameter of a kind of probe is the mesh file's to set.
func Reserved(kind, parameter string) bool { return slices.Contains(reserved[kind], parameter) }

// settable is why a caller may not set what a Request sets; nil: they may.
func settable(kind string, parameters map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if Reserved(kind, name) {
			return &Denial{Limit: name, Value: fmt.Sprint(parameters[name]), Want: "it left out: for others' tests only the mesh file says that"}
		}
	}
	return nil
}
