package control

import (
	"context"
	"sync"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// round makes the steps of a round, and returns their Results in its order. Light ones are made at once, each as by Test, so that whatever bounds tests bounds them. Those
// that fill a link follow one after the other, since each has the interfaces of both hosts alone; so do steps that had no turn beside the others, as where
// the caller's class may have one test at a time.
func (d *diagnosis) round(ctx context.Context, steps []diagnose.Step) (made []*measure.Result, err error) {
	side := make([]*diagnosis, len(steps)) // each step's own state
	outcomes := make([]outcome, len(steps))
	var all sync.WaitGroup
	for i, s := range steps {
		if !d.light(s) {
			continue
		}
		one := *d
		side[i] = &one
		all.Go(func() { outcomes[i] = one.make(ctx, s) })
	}
	all.Wait()
	for i, one := range side {
		if one != nil {
			d.left = min(d.left, one.left)
		}
		if one == nil || outcomes[i].run == "" && ctx.Err() == nil {
			r, err := d.do(ctx, steps[i])
			if err != nil {
				return made, err
			}
			outcomes[i].result = r
		} else {
			outcomes[i].result = d.over(ctx, outcomes[i])
		}
		if r := outcomes[i].result; r != nil {
			made = append(made, r)
		}
	}
	return made, nil
}

// light reports whether a step's test leaves the links that it passes to others.
func (d *diagnosis) light(s diagnose.Step) bool {
	asked, err := d.reckoned(d.ask(s))
	return err == nil && !asked.need.Exclusive && !s.Locates() && s.Under == nil
}
