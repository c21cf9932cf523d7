package diagnose

import (
	"context"

	"github.com/pathwise-net/pathwise/measure"
)

// Maker makes one step. It returns nil where the step left no Result, and an error only where no further step makes sense.
type Maker func(context.Context, Step) (*measure.Result, error)

// Execute makes the steps of a plan, one after the other, and those that their Results ask for. planned is told of the plan, at
// first and when it grows. The Results so far come with an error.
func Execute(ctx context.Context, plan []Step, make Maker, planned func([]Step)) ([]*measure.Result, error) {
	var results []*measure.Result
	planned(plan)
	for made := 0; made < len(plan); {
		r, err := make(ctx, plan[made])
		made++
		if r != nil {
			results = append(results, r)
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return results, err
		}
		if longer := Extend(plan, made, results); len(longer) > len(plan) {
			plan = longer
			planned(plan)
		}
	}
	return results, nil
}
