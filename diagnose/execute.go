package diagnose

import (
	"context"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Maker makes one step. It returns nil where the step left no Result, and an error only where no further step makes sense.
type Maker func(context.Context, Step) (*measure.Result, error)

// Executor makes the steps of a plan, one after the other, and those that their Results ask for.
type Executor struct {
	Make    Maker
	Far     bool             // the target can measure itself; else no step of it is planned
	Planned func([]Step)     // told of the plan, at first and when it grows; nil: nobody wants to know
	Budget  Budget           // zero: no limit
	Cost    Cost             // of steps, for a Budget of bytes; nil: they cost nothing
	Now     func() time.Time // the clock of a Budget of time; nil: time.Now
}

// Execute makes the steps of a plan within the budget. The Results so far come with an error, and so does what was left out, for people; ""
// if nothing was.
func (e Executor) Execute(ctx context.Context, plan []Step) (results []*measure.Result, without string, err error) {
	left, now := e.Budget, e.Now
	if now == nil {
		now = time.Now
	}
	var skipped []Step
	e.tell(plan)
	for at := 0; at < len(plan); at++ {
		step, fits := left.next(plan[at:], e.cost)
		if !fits {
			skipped = append(skipped, step)
			continue
		}
		began := now()
		r, err := e.Make(ctx, step)
		left.spend(now().Sub(began), moved(step, r, e.cost))
		if r != nil {
			results = append(results, r)
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return results, e.Budget.without(skipped), err
		}
		longer := Extend(plan, at+1, results)
		if !e.Far {
			longer = slices.DeleteFunc(slices.Clone(longer), func(s Step) bool { return s.Far })
		}
		if len(longer) > len(plan) {
			plan = longer
			e.tell(plan)
		}
	}
	return results, e.Budget.without(skipped), nil
}

func (e Executor) tell(plan []Step) {
	if e.Planned != nil {
		e.Planned(plan)
	}
}

func (e Executor) cost(s Step) float64 {
	if e.Cost == nil {
		return 0
	}
	return e.Cost(s)
}
