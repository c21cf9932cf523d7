package control

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// Tasks that differ by their target alone are reckoned once for each family, and as the probe reckons them.
func TestReckonings(t *testing.T) {
	all := reckonings{}
	for _, target := range []string{"10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"} {
		for _, script := range []string{"flow a end 1s constant rate 10/s size 100", "flow a end 2s constant rate 10/s size 100", "flow"} {
			task := measure.Task{Kind: "flows", Target: target, Parameters: map[string]any{"script": script}}
			got, err := all.demand(task)
			if want, wrong := probe.Demand(task); got != want || (err == nil) != (wrong == nil) {
				t.Errorf("%s to %s: %+v, %v, want %+v, %v", script, target, got, err, want, wrong)
			}
		}
	}
	if len(all) != 6 {
		t.Errorf("%d were reckoned: %v", len(all), all)
	}
}
