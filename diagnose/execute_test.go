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

// Steps of one round that follow each other in a plan are made at once, where somebody can, and their Results stay in its order; no other step is.
func TestRoundsAtOnce(t *testing.T) {
	var alone []string
	var together [][]string
	result := func(s Step) *measure.Result {
		r := measure.NewResult(s.Kind, testStart)
		r.Role = measure.Role(s.Name)
		return r
	}
	plan := WithTransactions(Plan(time.Second, measure.Forward, measure.Reverse), Program{Service: 80})
	results, _, err := Executor{
		Make: func(_ context.Context, s Step) (*measure.Result, error) {
			alone = append(alone, s.Name)
			return result(s), nil
		},
		AtOnce: func(_ context.Context, steps []Step) (made []*measure.Result, err error) {
			together = append(together, names(steps))
			for _, s := range steps {
				made = append(made, result(s))
			}
			return made, nil
		},
		Budget: Budget{Bytes: 1e6},
		Cost:   func(Step) float64 { return 10 },
	}.Execute(t.Context(), plan)
	var order []string
	for _, r := range results {
		order = append(order, string(r.Role))
	}
	if err != nil || !cmp.Equal(together, [][]string{{"transactions", "connections", "service"}, {"capacity", "capacity-reverse"}}) ||
		!cmp.Equal(alone, []string{"ping", "trace", "transfer", "transfer-reverse"}) {
		t.Errorf("%v: at once %v, alone %v", err, together, alone)
	}
	if want := names(plan); !cmp.Equal(order, want) {
		t.Errorf("results of %v, want %v", order, want)
	}
}
