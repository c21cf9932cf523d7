package diagnose

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// A transfer one way is told what the narrowest link of that way was found to carry, if it was; the plan is left as it was.
func TestTransfersAreToldTheRate(t *testing.T) {
	told := map[string]any{}
	plan := Plan(time.Second, measure.Forward, measure.Reverse)
	_, _, err := Executor{Make: func(_ context.Context, s Step) (*measure.Result, error) {
		told[s.Name] = s.Parameters[PathRate]
		r := measure.NewResult(s.Kind, testStart)
		r.Parameters["reverse"] = s.Parameters["reverse"]
		if s.Name == "capacity-reverse" {
			r.Metrics[measure.Capacity] = 48_740_123.4
		}
		return r, nil
	}}.Execute(t.Context(), plan)
	want := map[string]any{"ping": nil, "trace": nil, "capacity": nil, "transfer": nil, "capacity-reverse": nil, "transfer-reverse": 48_740_123.0}
	for name := range told {
		if _, planned := want[name]; !planned { // which the Results asked for
			delete(told, name)
		}
	}
	if diff := cmp.Diff(want, told); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, s := range plan {
		if s.Parameters[PathRate] != nil {
			t.Errorf("step %s of the plan was changed", s.Name)
		}
	}
}
