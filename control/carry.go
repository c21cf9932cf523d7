package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// carryOut tells both ends, and shows what comes until it is over. After an error it may not be.
func (c *Control) carryOut(ctx context.Context, run *measure.Run, show func(fleet.Progress)) (over bool, err error) {
	patience := run.Limit().Sub(c.config.Now()) + startSlack + resultSlack
	whole, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ready, watched := make(chan struct{}), make(chan error, 1)
	go func() {
		watched <- c.config.Hub.Watch(whole, run.Source, run.ID, ready, show)
	}()
	select {
	case <-ready:
	case err := <-watched:
		return true, fmt.Errorf("watch run: %w", err)
	}
	if over, err := c.begin(whole, run); err != nil {
		cancel()
		<-watched
		return over, err
	}
	select {
	case err = <-watched:
	case r := <-c.whenFiled(run.ID):
		cancel()
		if <-watched != nil { // what showed it was lost on the way
			show(fleet.Progress{Run: run.ID, Result: r})
		}
		return true, nil
	}
	switch {
	case err == nil:
		return true, nil
	case whole.Err() == nil: // the line to the hosts is lost, and not their work
		return false, fmt.Errorf("watch run: %w; its result will be in the archive", err)
	}
	over = c.callBack(run)
	if ctx.Err() == nil {
		return over, fmt.Errorf("%s %w within %v: %w", run.Source, errNoResult, patience.Round(time.Second), err)
	}
	return over, err
}

// errNoResult says that nothing came of a run that was to have ended.
var errNoResult = errors.New("sent no result")

// whenFiled is where the Result of a demand comes once it was filed.
func (c *Control) whenFiled(run string) <-chan *measure.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.demands[run].filed
}

// handOver gives a Result that was filed to the demand that waits for it.
func (c *Control) handOver(r *measure.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, known := c.demands[r.ID]
	if !known || d.mesh.Hosts[d.leg.Source].Name != r.Source.Name {
		return
	}
	select {
	case d.filed <- r:
	default: // it came before
	}
}

// begin has the target open its side, then the source start. After an error the run may have begun all the same, unless it is
// over.
func (c *Control) begin(ctx context.Context, run *measure.Run) (over bool, err error) {
	if run.Responder != nil {
		o := opening(run, c.peer(run))
		if err := c.config.Hub.Order(ctx, run.Target, fleet.Order{Open: &o}); err != nil {
			return true, fmt.Errorf("open %s: %w", run.Target, err)
		}
	}
	if err := c.config.Hub.Order(ctx, run.Source, fleet.Order{Run: run}); err != nil {
		var refused *fleet.Refusal
		return c.callBack(run) || errors.As(err, &refused), fmt.Errorf("start at %s: %w", run.Source, err)
	}
	return false, nil
}

// callBack tells both ends to end a run that nobody waits for any more. ended: the source answered that it did.
func (c *Control) callBack(run *measure.Run) (ended bool) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelWithin)
	defer cancel()
	hosts := []string{run.Source}
	if run.Responder != nil {
		hosts = append(hosts, run.Target)
	}
	for _, host := range hosts {
		err := c.config.Hub.Order(ctx, host, fleet.Order{Cancel: run.ID})
		ended = ended || host == run.Source && err == nil
		if err != nil {
			c.config.Log.Info("run not called back; its limit ends it", "host", host, "run", run.ID, "error", err)
		}
	}
	return ended
}

// wait waits for a time; its error is that ctx ended first.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
