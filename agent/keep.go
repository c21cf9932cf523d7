package agent

import (
	"context"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/agent/spool"
	"github.com/pathwise-net/pathwise/measure"
)

// keep notes on disk, once a tick, what is due next and what happened, and only then lets the runs that are due begin: no
// run can begin twice, even if power ends in between.
func (a *Agent) keep(ctx context.Context) {
	said := ""
	for {
		a.claim()
		err := a.spool.Commit()
		if err == nil {
			err = a.dailyBytes.SaveNowAndThen()
		}
		switch {
		case err == nil && said != "":
			said = ""
			a.log.Info("the disk takes Results again")
		case err != nil && err.Error() != said:
			said = err.Error()
			a.log.Warn("the disk does not take what this agent has to keep; it goes on without", "error", err)
		}
		a.release()
		a.shrink()
		a.courier.ring()
		if !a.keeper.wait(ctx, tick) {
			return
		}
	}
}

// claim takes what is due from the plan. Runs whose slot is over are missed.
func (a *Agent) claim() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	mark := spool.Mark{Plan: a.plan.Number, Until: now.Add(claimAhead)}
	a.sayRound(now)
	due := a.agenda.runs.claim(mark.Until)
	var begin []measure.Run
	for _, planned := range due {
		run := planned.run()
		switch {
		case a.spool.Has(run.ID): // it began, and the disk did not take the mark
		case tooLate(&run, now):
			a.put(failed(&run, missed(&run, now, "this host was not running, or its clock was set forward")))
		default:
			a.noting = append(a.noting, &job{run: run})
		}
	}
	a.noting, a.orders = append(a.noting, a.orders...), nil
	for _, j := range a.noting {
		begin = append(begin, j.run)
	}
	if len(due)+len(begin) == 0 {
		return
	}
	if err := a.spool.Begin(mark, begin...); err != nil {
		a.log.Debug("runs begin without a note on disk", "error", err)
	}
}

// sayRound tells people that a plan is repeated.
func (a *Agent) sayRound(now time.Time) {
	if round := a.agenda.runs.round(now); round > a.round {
		a.round = round
		a.log.Info("no newer plan came; repeating this one", "number", a.plan.Number, "time", round)
	}
}

// tooLate says that a run may begin no more. The tick allows for a slot of zero, and for a predecessor that just ends.
func tooLate(run *measure.Run, now time.Time) bool {
	return now.After(run.Latest().Add(tick)) || !now.Before(run.Limit())
}

// release lets begin what is noted.
func (a *Agent) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.noting) == 0 {
		return
	}
	a.ready = append(a.ready, a.noting...)
	a.noting = nil
	slices.SortStableFunc(a.ready, func(x, y *job) int { return x.run.Start.Compare(y.run.Start) })
	a.starter.ring()
}

// untilStart is how long to wait for a time of the wall clock, looking again once a tick: the clock may be stepped.
func (a *Agent) untilStart(at time.Time) time.Duration {
	return max(0, min(at.Sub(a.now()), tick))
}
