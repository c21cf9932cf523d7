package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// Plan implements fleet.Handler: it takes a plan that is newer than the one that it holds. Runs that began go on; those that
// the new plan does not have, and that did not begin, will not.
func (a *Agent) Plan(_ context.Context, p fleet.Plan) error {
	a.contact.ring() // the controller is there
	if p.Host != a.config.Host {
		return fmt.Errorf("plan %d is for host %q, and this is %q", p.Number, p.Host, a.config.Host)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.Number <= a.plan.Number {
		return nil
	}
	refused := sift(&p)
	next := &stored{Plan: p}
	past, now := a.agenda.runs.past(), a.now()
	repeating := a.agenda.runs.round(now) > 0
	var told []*measure.Run // too late: their time was measured by a repetition of the plan before, under another ID
	for i := range p.Runs {
		run := &p.Runs[i]
		switch id := run.ID; {
		case past[parseID(id)] || a.known(id):
			next.done = append(next.done, id)
		case repeating && run.Start.Before(now):
			next.done = append(next.done, id)
			told = append(told, run)
		}
	}
	if err := savePlan(a.path("plan"), next); err != nil {
		// A host whose disk is full measures all the same; after a restart it has the plan before.
		a.log.Warn("the plan is held in memory only", "error", err)
	}
	a.adopt(next)
	for _, run := range told {
		late := now.Sub(run.Start).Round(100 * time.Millisecond)
		a.put(failed(run, fmt.Errorf("missed: told %v after its start, when the plan before had been repeated", late)))
	}
	for _, u := range refused {
		a.refuse(u)
	}
	a.log.Info("new plan", "number", p.Number, "runs", len(p.Runs), "opens", len(p.Opens), "until", p.Until)
	a.keeper.ring()
	a.starter.ring()
	a.reporter.ring()
	return nil
}

// known says whether a run is on its way to its Result.
func (a *Agent) known(id string) bool {
	is := func(j *job) bool { return j.run.ID == id }
	return a.running[id] != nil || slices.ContainsFunc(a.orders, is) || slices.ContainsFunc(a.noting, is) ||
		slices.ContainsFunc(a.ready, is) || a.spool.Has(id)
}

// Order implements fleet.Handler. A run is accepted or refused at once, and begins when its time comes; an opening is open
// when Order returns.
func (a *Agent) Order(ctx context.Context, o fleet.Order) error {
	switch {
	case o.Run != nil:
		return a.orderRun(ctx, *o.Run)
	case o.Open != nil:
		return a.orderOpen(*o.Open)
	case o.Cancel != "":
		return a.cancel(o.Cancel)
	}
	return errors.New("an order of nothing; this agent may be older than its controller")
}

func (a *Agent) orderRun(ctx context.Context, run measure.Run) error {
	if _, err := checkRun(a.config.Host, &run); err != nil {
		return err
	}
	if _, _, err := a.judge(ctx, &run); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known(run.ID) || a.agenda.runs.past()[parseID(run.ID)] {
		return nil // the same order again
	}
	if now := a.now(); run.Start.Before(now) {
		run.Start = now
	}
	if a.ctx == nil || a.ctx.Err() != nil {
		return errStopped
	}
	a.agenda.runs.gone[parseID(run.ID)] = true
	a.orders = append(a.orders, &job{run: run, show: newShow(a.ctx, a.config.Link, run.ID)})
	a.keeper.ring()
	return nil
}

// cancel ends a run, or takes it from the plan, or closes an opening. A run still has its Result.
func (a *Agent) cancel(id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, found := a.agenda.opens.cancel(parseID(id))
	if d := a.responders[id]; d != nil {
		d.cancel(errCancelled)
		found = true
	}
	if j := a.running[id]; j != nil {
		j.cancel(errCancelled)
		found = true
	}
	if planned, ok := a.agenda.runs.cancel(parseID(id)); ok {
		run := planned.run()
		a.put(failed(&run, errCancelled))
		found = true
	}
	for _, list := range []*[]*job{&a.orders, &a.ready} {
		*list = slices.DeleteFunc(*list, func(j *job) bool {
			if j.run.ID != id {
				return false
			}
			found = true
			a.finish(j, failed(&j.run, errCancelled))
			return true
		})
	}
	if !found {
		return fmt.Errorf("cancel %s: no such run or opening here", id)
	}
	return nil
}

// Filed implements fleet.Handler.
func (a *Agent) Filed(_ context.Context, ids []string) error {
	a.spool.Filed(ids...)
	a.courier.ring()
	a.contact.ring()
	return nil
}
