package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// deliverBytes at a time bound the memory that a delivery takes, and what a lost connection makes come twice.
	deliverBytes = 256 << 10
	// A controller that is away is asked for again after this long, and longer each time up to the second.
	deliverAgain    = time.Second
	deliverAgainMax = 30 * time.Second
)

// deliver hands Results over, oldest first, and again those that are not filed for long.
func (a *Agent) deliver(ctx context.Context) {
	pause, said, bell := deliverAgain, false, a.courier
	for {
		results, err := a.spool.Due(deliverBytes)
		if err != nil {
			a.log.Error("Results in the spool cannot be read and are lost", "error", err)
		}
		wait := deliverAgain
		if len(results) > 0 {
			if results, err = a.hand(ctx, results); err == nil {
				a.spool.Sent(results)
				pause, said, wait, bell = deliverAgain, false, 0, a.courier
			} else {
				if !said && ctx.Err() == nil {
					a.log.Info("Results wait for the controller", "error", err)
					said = true
				}
				wait, pause, bell = pause, min(2*pause, deliverAgainMax), a.contact // more Results do not bring it back
			}
		}
		if ctx.Err() != nil {
			return
		}
		if wait > 0 && !bell.wait(ctx, wait) {
			return
		}
	}
}

// hand delivers Results, and returns those that are on their way. One that no message can hold goes without its samples, and
// is given up if that does not help: it must not hold up those after it. What the spool has of it stays until it is filed.
func (a *Agent) hand(ctx context.Context, results []*measure.Result) ([]*measure.Result, error) {
	light := map[string]bool{}
	for {
		err := a.config.Link.Deliver(ctx, results)
		var large *fleet.TooLarge
		if !errors.As(err, &large) {
			return results, err
		}
		i := slices.IndexFunc(results, func(r *measure.Result) bool { return r.ID == large.ID })
		switch {
		case i < 0:
			return results, err
		case !light[large.ID]:
			light[large.ID] = true
			results[i].Samples = measure.Samples{}
			results[i].Note(noSamples)
			continue
		}
		a.log.Error("a Result is lost", "run", large.ID, "error", err)
		a.spool.Filed(large.ID)
		if results = slices.Delete(results, i, i+1); len(results) == 0 {
			return nil, nil
		}
	}
}
