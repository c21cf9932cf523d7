package agent

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// job is a run that was claimed.
type job struct {
	run    measure.Run
	show   *show // nil: nobody watches
	class  string
	cancel context.CancelCauseFunc // once it is under way
}

// start begins noted runs when their time comes and there is room.
func (a *Agent) start(ctx context.Context) {
	for {
		wait := min(a.startDue(ctx), a.openDue(ctx))
		if !a.starter.wait(ctx, wait) {
			return
		}
	}
}

// startDue begins what can begin now, and returns how long nothing else can, if no run ends and none is added.
func (a *Agent) startDue(ctx context.Context) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, wait := a.now(), tick
	due := 0
	for due < len(a.ready) && !a.ready[due].run.Start.After(now) {
		due++
	}
	if due < len(a.ready) {
		wait = a.untilStart(a.ready[due].run.Start)
	}
	var waiting []*job
	for _, j := range a.ready[:due] {
		room, why := a.room(j)
		behind := now.Sub(j.run.Start) > tick
		switch {
		case tooLate(&j.run, now):
			if room {
				why = "its host was late"
			}
			a.finish(j, failed(&j.run, missed(&j.run, now, why)))
		case !room:
			waiting = append(waiting, j)
		case behind && time.Since(a.lastLate) < lateEvery:
			waiting = append(waiting, j)
			wait = min(wait, lateEvery)
		default:
			if behind {
				a.lastLate = time.Now()
			}
			a.begin(ctx, j)
		}
	}
	a.ready = append(waiting, a.ready[due:]...)
	return wait
}

// lateEvery keeps runs that are late apart: after a clock was set forward there may be many.
const lateEvery = 20 * time.Millisecond

// room says whether a run may begin beside those under way.
func (a *Agent) room(j *job) (room bool, why string) {
	if !j.run.Exclusive {
		return a.light < int(a.bounds.Light), fmt.Sprintf("%d runs were under way, as many as limits.light allows", a.light)
	}
	address, _ := netip.ParseAddr(j.run.Task.Target)
	j.class = a.policy.ClassOf(j.run.Target, address)
	return a.policy.Room(j.class, a.filling)
}

// begin gives a run its goroutine.
func (a *Agent) begin(ctx context.Context, j *job) {
	ctx, j.cancel = context.WithCancelCause(ctx)
	a.running[j.run.ID] = j
	a.occupy(j, 1)
	a.group.Go(func() {
		defer j.cancel(nil)
		r := a.measure(ctx, j)
		a.mu.Lock()
		delete(a.running, j.run.ID)
		a.occupy(j, -1)
		a.finish(j, r)
		a.mu.Unlock()
		a.starter.ring()
	})
}

// occupy counts a run among those under way.
func (a *Agent) occupy(j *job, n int) {
	if !j.run.Exclusive {
		a.light += n
		return
	}
	a.weigh(n)
	for _, class := range a.policy.Chain(j.class) {
		a.filling[class] += n
	}
}

// finish keeps a run's Result. Where somebody watches, it is on its way at once.
func (a *Agent) finish(j *job, r *measure.Result) {
	a.put(r)
	if j.show != nil {
		a.group.Go(func() { j.show.end(r) })
		a.keeper.ring()
	}
}
