package probe

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// ManyTraces traces many targets at once, and asks no router too often: see hopPace. Its memory does not grow with the number of targets but by their
// names, as each Result is passed on when it is its turn.
type ManyTraces struct {
	Trace            // of each target; its own target, its family, NewFlow and Progress are of no use, and Multipath is refused
	Targets []Target // each address once
	HopRate float64  // packets a second to what is believed to be one router; 0: 200

	// Finished is called with the Result of each target, in their order, by the goroutine of Do. failed is the Result's error; nil: there is none.
	Finished func(r *measure.Result, failed error)
}

// Target is one of many.
type Target struct {
	Name    string
	Address netip.Addr
}

// Limits of ManyTraces.
const (
	ManyHopRate = 200   // packets a second: what routers that limit their answers give one host as a rule
	ManyFastest = 10000 // packets a second
	manySlowest = 0.1
	manyTick    = time.Millisecond
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (m *ManyTraces) Validate() error {
	t := m.Trace
	t.Target = cmp.Or(t.Target, "many")
	switch {
	case t.Multipath:
		return &input.Error{Field: "multipath", Value: "true", Remedy: "give one target with it"}
	case t.Both:
		return &input.Error{Field: "both", Value: "true", Remedy: "give one target with it"}
	case t.Middlebox:
		return &input.Error{Field: "middlebox", Value: "true", Remedy: "give one target with it"}
	case m.HopRate != 0 && (m.HopRate < manySlowest || m.HopRate > ManyFastest):
		return &input.Error{Field: "hop rate", Value: strconv.FormatFloat(m.HopRate, 'g', -1, 64), Remedy: fmt.Sprintf("give %g to %d packets a second", manySlowest, ManyFastest)}
	}
	return t.Validate()
}

// Do traces all targets. The error is that of ctx, or of this host, which cannot go on; what failed of single targets their Results say.
func (m *ManyTraces) Do(ctx context.Context) error {
	if err := m.Validate(); err != nil {
		return err
	}
	rate := m.HopRate
	setDefault(&rate, ManyHopRate)
	t := m.Trace.withDefaults()
	t.Progress, t.NewFlow = nil, true // since all of them share a port
	r := &manyRun{ManyTraces: m, trace: t, plan: newManyPlan(t, len(m.Targets), rate), wires: newManyWires(ctx, t), byFlow: map[*traceFlow]*manyRunning{},
		running: map[*manyTrace]*manyRunning{}, done: map[int]manyDone{}, clock: measure.NewClock(sock.ClockQuality())}
	defer r.wires.close()
	err := r.do(ctx)
	if err != nil {
		for _, u := range r.running {
			r.finish(u, err)
		}
		r.failRest(err)
	}
	return err
}

// manyRun is many traces under way. The goroutine of Do has all of it to itself.
type manyRun struct {
	*ManyTraces
	trace Trace
	plan  *manyPlan
	wires *manyWires
	clock measure.Clock

	running map[*manyTrace]*manyRunning
	byFlow  map[*traceFlow]*manyRunning // those of them that have a flow
	done    map[int]manyDone            // by target: what is not passed on yet, as one before it is not done
	passed  int                         // Results that Finished has
}

// manyRunning is one trace under way.
type manyRunning struct {
	*manyTrace
	run    *traceRun
	result *measure.Result
	watch  stopwatch
}

// manyDone is what became of a target.
type manyDone struct {
	result *measure.Result
	failed error
}

// do sends what is due once a millisecond, and hears what comes back meanwhile.
func (r *manyRun) do(ctx context.Context) error {
	tick := time.NewTicker(manyTick)
	defer tick.Stop()
	for r.passed < len(r.Targets) {
		r.begin(ctx)
		due, done := r.plan.due(time.Now())
		for _, d := range due {
			r.send(d)
		}
		for _, t := range done {
			r.finish(r.running[t], nil)
		}
		if err := r.hear(ctx, tick); err != nil {
			return err
		}
	}
	return nil
}

// hear takes what comes until the next tick.
func (r *manyRun) hear(ctx context.Context, tick *time.Ticker) error {
	for {
		select {
		case e := <-r.wires.events:
			if failed, is := e.event.(error); is {
				return failed
			}
			u := r.byFlow[e.flow]
			if u == nil { // it is over
				continue
			}
			switch event := e.event.(type) {
			case traceStamp:
				u.plan.stamped(event.id, event.kernel)
			case traceAnswer:
				r.plan.hear(u.manyTrace, event, time.Now())
			}
		case <-tick.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin opens the traces that may begin.
func (r *manyRun) begin(ctx context.Context) {
	for _, t := range r.plan.begin() {
		to := r.Targets[t.index]
		u := &manyRunning{manyTrace: t, result: r.newResult(to), watch: startWatch()}
		r.running[t] = u
		from, err := sock.Source(to.Address)
		if err == nil {
			u.result.Source.Address = from.String()
			flow := newTraceFlow(r.trace, way{to.Address, from})
			u.run = &traceRun{Trace: r.trace, plan: t.plan, flow: flow, learnt: learntMTU(to.Address)}
			u.run.Target = to.Name
			u.run.wire, err = r.wires.open(ctx, flow)
			r.byFlow[flow] = u
		}
		if err != nil {
			r.plan.drop(t)
			r.finish(u, err)
		}
	}
}

func (r *manyRun) newResult(to Target) *measure.Result {
	result := measure.NewResult("trace", time.Now())
	result.Source.Name, _ = os.Hostname() // a host without a name still has its address
	result.Target.Name, result.Target.Address, result.Clock = to.Name, to.Address.String(), r.clock
	result.Parameters = recorded(traceFields(), &r.trace)
	return result
}

func (r *manyRun) send(d manyDue) {
	u := r.running[d.manyTrace]
	if u == nil { // it failed since
		return
	}
	before, err := u.run.wire.send(len(d.plan.probes), d.ttl, d.plan.distinct)
	if err != nil {
		r.plan.drop(d.manyTrace)
		r.finish(u, err)
		return
	}
	d.plan.sent(d.ttl, before)
}

// finish makes the Result of a trace, and passes on those whose turn it is.
func (r *manyRun) finish(u *manyRunning, failed error) {
	delete(r.running, u.manyTrace)
	if u.run != nil {
		delete(r.byFlow, u.run.flow)
		if u.run.wire != nil {
			u.run.report(u.result)
			u.run.wire.close()
		}
	}
	if failed != nil {
		failed = fmt.Errorf("trace %s: %w", u.result.Target.Name, failed)
	}
	u.watch.stop(u.result)
	u.result.Fail(failed)
	r.done[u.index] = manyDone{u.result, failed}
	for next, done := r.done[r.passed]; done; next, done = r.done[r.passed] {
		delete(r.done, r.passed)
		r.pass(next.result, next.failed)
	}
}

// pass gives Finished the Result of the next target.
func (r *manyRun) pass(result *measure.Result, failed error) {
	r.passed++
	if r.Finished != nil {
		r.Finished(result, failed)
	}
}

// failRest passes on a Result of each target that was not begun.
func (r *manyRun) failRest(why error) {
	for r.passed < len(r.Targets) {
		to := r.Targets[r.passed]
		failed := fmt.Errorf("trace %s: %w", to.Name, why)
		result := r.newResult(to)
		result.Fail(failed)
		r.pass(result, failed)
	}
}
