package agent

import (
	"context"
	"time"
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
			if err = a.config.Link.Deliver(ctx, results); err == nil {
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
