package probe

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Do finds the route and returns a Result of kind "trace" with Samples.Hops up to the target, or up to the last hop that
// answered, and Samples.Route. Metrics hop_count is there only when the target answered, and path_mtu_bytes only when the kernel has learnt
// of an MTU below that of this host's interface. A route that does not reach the target is no error.
func (t Trace) Do(ctx context.Context) (*measure.Result, error) {
	if t.Rounds > 0 {
		return t.doRounds(ctx)
	}
	return measured(ctx, "trace", t.Target, t.measure)
}

func (t Trace) measure(ctx context.Context, result *measure.Result) error {
	if err := t.Validate(); err != nil {
		return err
	}
	t = t.withDefaults()
	result.Parameters = recorded(traceFields(), &t)
	ways, err := waysTo(ctx, nil, t.Target, t.Family)
	if err != nil {
		return err
	}
	err = tryWays(result, ways, func(w way, last bool) error { return t.measureWay(ctx, w, last, result) })
	if err == nil && t.MTU {
		err = t.sizes(ctx, result)
	}
	if err == nil && t.Both {
		err = t.back(ctx, result)
	}
	return err
}

// measureWay traces an address of the target. Unless it is the last, a route that ends before the target is not reported.
func (t Trace) measureWay(ctx context.Context, w way, last bool, result *measure.Result) error {
	run := &traceRun{Trace: t, plan: newTracePlan(t), flow: newTraceFlow(t, w), learnt: learntMTU(w.to)}
	if t.Multipath {
		return t.measurePaths(ctx, run.flow, result)
	}
	var err error
	if run.wire, err = openWire(ctx, t, run.flow); err != nil {
		return err
	}
	err = run.do(ctx)
	run.wire.close()
	if !last && ctx.Err() == nil {
		if why := run.noWay(err); why != "" {
			return &unreachableError{why}
		}
	}
	run.report(result)
	if run.flow.strayed {
		result.Note(strayedNote)
	}
	if ctx.Err() != nil { // whatever call it made fail
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("trace %s: %w", t.Target, err)
	}
	if t.Middlebox {
		return run.middleboxes(ctx, result)
	}
	return nil
}

// newTraceFlow is the flow of a trace whose parameters are whole. It has no port of this host yet.
func newTraceFlow(t Trace, w way) *traceFlow {
	f := &traceFlow{protocol: t.Protocol, from: netip.AddrPortFrom(w.from, 0), to: netip.AddrPortFrom(w.to.WithZone(""), uint16(t.Port)), target: w.to}
	_, _ = rand.Read(f.token[:]) // never fails, as crypto/rand says
	if t.Middlebox {
		f.crafted = &craftedSYN{dscp: t.DSCP}
	}
	return f
}

// traceRun is one trace under way. The goroutine of Do has all of it to itself.
type traceRun struct {
	Trace
	flow   *traceFlow
	wire   traceWire
	plan   *tracePlan
	learnt int // bytes of the path MTU that the kernel knew of before; 0: of none
	shown  int // hops that Progress has seen
}

// learntMTU is the MTU of the path to an address that the kernel has learnt, if that is below the interface's, else 0. A trace asks before it sends anything: its own packets
// are small, so that what the kernel is told meanwhile, which it believes of anyone while raw sockets are open, is not of them.
func learntMTU(to netip.Addr) int {
	if mtu, learnt, err := sock.RouteMTU(to); err == nil && learnt {
		return mtu
	}
	return 0
}

// do sends what the plan says, not faster than its gap, and hears what comes back, until there is nothing left to send or to wait for.
func (r *traceRun) do(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var free time.Time // when the next probe may leave
	for {
		now := time.Now()
		ttl, more := r.plan.next(now)
		if more && !now.Before(free) {
			before, err := r.wire.send(len(r.plan.probes), ttl, r.plan.distinct)
			if err != nil {
				return err
			}
			r.plan.sent(ttl, before)
			free = before.Add(r.plan.gap)
		}
		waiting, until := r.plan.waiting(now)
		if more {
			until = free
		} else if waiting == 0 {
			r.show(now, true)
			return nil
		}
		r.show(now, false)
		timer.Reset(time.Until(until))
		select {
		case event := <-r.wire.heard():
			if err := deliver(event, r.plan); err != nil {
				return err
			}
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// noWay says why the route cannot reach the target, "" if it did or may.
func (r *traceRun) noWay(err error) string {
	over := r.plan.last()
	switch {
	case len(r.plan.probes) == 0 && isUnreachable(err):
		return err.Error()
	case err == nil && over != nil && !over.reached && noWay(sock.Reason(over.reply)):
		return fmt.Sprintf("%s at hop %d", over.reply, r.plan.end)
	}
	return ""
}

// show passes the hops that are settled, or all of the route, to Progress.
func (r *traceRun) show(now time.Time, all bool) {
	for r.Progress != nil && r.shown < r.plan.length() && (all || r.plan.settled(r.shown+1, now)) {
		r.shown++
		r.Progress(r.plan.hop(r.shown, r.DSCP))
	}
}
