package diagnose

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Maker makes one step. It returns nil where the step left no Result, and an error only where no further step makes sense.
type Maker func(context.Context, Step) (*measure.Result, error)

// Both makes a step under a transfer, and returns the Results of both, as far as they left any. An error is as that of Maker.
type Both func(context.Context, Step) ([]*measure.Result, error)

// Several makes the steps of a Round at once, and returns their Results, as far as they left any. An
// error is as that of Maker.
type Several func(context.Context, []Step) ([]*measure.Result, error)

// Executor makes the steps of a plan, one after the other but for those that can be made at once, and those that their Results ask for.
type Executor struct {
	Make    Maker
	AtOnce  Several          // nil: all steps are made one after the other
	Far     bool             // the target can measure itself; else no step of it is planned
	Beside  Both             // makes steps under a transfer; nil: none is planned
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
	for at := 0; at < len(plan); {
		n := e.atOnce(plan[at:])
		var steps []Step
		for ; n > 0; n, at = n-1, at+1 {
			step, fits := left.next(plan[at:], e.cost)
			if !fits {
				skipped = append(skipped, step)
				continue
			}
			steps = append(steps, toldRate(step, results))
		}
		if len(steps) == 0 {
			continue
		}
		began := now()
		made, err := e.make(ctx, steps)
		left.spend(now().Sub(began), e.moved(steps, made))
		results = append(results, made...)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return results, e.Budget.without(skipped), err
		}
		longer := Extend(plan, at, results)
		longer = slices.DeleteFunc(slices.Clone(longer), func(s Step) bool { return !e.can(s) })
		if len(longer) > len(plan) {
			plan = longer
			e.tell(plan)
		}
	}
	return results, e.Budget.without(skipped), nil
}

// toldRate tells a transfer what the narrowest link of its way was found to carry, so that its Result has the transfer time ratio of RFC 6349.
func toldRate(s Step, results []*measure.Result) Step {
	if s.Kind != "throughput" || !s.Transfer() || s.Parameters["bidir"] == true {
		return s
	}
	way := gather(results).ways[string(s.Way)]
	if way == nil || !way.Known(Capacity) {
		return s
	}
	s.Parameters = maps.Clone(s.Parameters)
	s.Parameters[PathRate] = math.Round(way.Value(Capacity))
	return s
}

// can says whether a step is one that can be made here. What a transfer moves while something else is measured nothing bounds.
func (e Executor) can(s Step) bool {
	return (!s.Far || e.Far) && (s.Under == nil || e.Beside != nil && e.Budget.Bytes == 0)
}

// atOnce is how many of the steps that are left are made at once.
func (e Executor) atOnce(left []Step) int {
	n := 1
	for e.AtOnce != nil && n < len(left) && left[0].Round != "" && left[n].Round == left[0].Round {
		n++
	}
	return n
}

// make makes steps, with the transfer that one is made under.
func (e Executor) make(ctx context.Context, steps []Step) ([]*measure.Result, error) {
	s := steps[0]
	if len(steps) > 1 {
		return e.AtOnce(ctx, steps)
	}
	if s.Under != nil {
		return e.Beside(ctx, s)
	}
	r, err := e.Make(ctx, s)
	if r == nil {
		return nil, err
	}
	return []*measure.Result{r}, err
}

// moved is how many bytes steps moved: see the function of that name.
func (e Executor) moved(steps []Step, made []*measure.Result) (sum float64) {
	if len(steps) == 1 {
		return moved(steps[0], made, e.cost)
	}
	for _, s := range steps {
		sum += e.cost(s)
	}
	return sum
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
