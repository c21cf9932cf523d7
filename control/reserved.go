package control

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/probe"
)

// settable is why a caller may not set what a Request sets; nil: they may.
func settable(kind string, parameters map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if (probe.Catalogue{}).Outward(kind, name) {
			return &Denial{Limit: name, Value: fmt.Sprint(parameters[name]), Want: "it left out: for others' tests only the mesh file says that"}
		}
	}
	return nil
}
