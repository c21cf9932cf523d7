package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Do finds the route and returns a Result of kind "trace" with Samples.Hops up to the target, or up to the last hop that
// answered. Metrics hop_count is there only when the target answered, and path_mtu_bytes only when the kernel has learnt
// of an MTU below that of this host's interface. A route that does not reach the target is no error.
func (t Trace) Do(ctx context.Context) (*measure.Result, error) {
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
	return tryWays(result, ways, func(w way, last bool) error { return t.measureWay(ctx, w.to, last, result) })
}

// measureWay traces an address of the target. Unless it is the last, a route that ends before the target is not reported.
func (t Trace) measureWay(ctx context.Context, target netip.Addr, last bool, result *measure.Result) error {
	socket, err := sock.OpenUDP(target.Is6())
	if err != nil {
		return err
	}
	defer socket.Close()
	defer context.AfterFunc(ctx, socket.Interrupt)()

	run := &traceRun{Trace: t, socket: socket, target: target, route: newRoute(t.MaxTTL, t.Queries, t.Timeout)}
	err = run.do(ctx)
	if !last && ctx.Err() == nil {
		if why := run.noWay(err); why != "" {
			return &unreachableError{why}
		}
	}
	run.report(result)
	if ctx.Err() != nil { // whatever call it made fail
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("trace %s: %w", t.Target, err)
	}
	return nil
}

// traceRun is one trace under way. One goroutine sends and receives, so nothing in it is shared.
type traceRun struct {
	Trace
	socket *sock.Socket
	target netip.Addr
	route  *route
	shown  int // hops that Progress has seen
}

func (r *traceRun) do(ctx context.Context) error {
	for {
		now := time.Now()
		for {
			index, ok := r.route.toSend(now)
			if !ok {
				break
			}
			if err := r.send(index); err != nil {
				return err
			}
		}
		r.show(now, false)
		if r.route.done(now) {
			r.show(now, true)
			return nil
		}
		_, until := r.route.waiting(now, r.route.wait())
		event, err := r.socket.Receive(until)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("receive: %w", err)
		}
		r.handle(event)
	}
}

// noWay says why the route cannot reach the target, "" if it did or may.
func (r *traceRun) noWay(err error) string {
	switch {
	case r.route.next == 0 && isUnreachable(err):
		return err.Error()
	case err == nil && r.route.end > 0 && !r.route.target && noWay(r.route.reason):
		return fmt.Sprintf("%s at hop %d", r.route.reason, r.route.end)
	}
	return ""
}

func (r *traceRun) send(index int) error {
	if err := r.socket.SetTTL(r.route.ttl(index)); err != nil {
		return err
	}
	_, before, err := r.socket.Send(make([]byte, tracePayload), netip.AddrPortFrom(r.target, uint16(r.Port+index)))
	if err != nil {
		return err
	}
	r.route.sent(before)
	return nil
}

func (r *traceRun) handle(event sock.Event) {
	target := r.target.WithZone("")
	switch e := event.(type) {
	case sock.Sent:
		r.route.stamped(int(e.ID), e.Kernel)
	case sock.ICMPError:
		if e.To.Addr() == target {
			reason := e.Reason()
			reached := reason != sock.TimeExceeded && e.Offender == target || reason == sock.PortUnreachable
			r.route.answer(int(e.To.Port())-r.Port, e.Offender, e.At, reason, reached)
		}
	case sock.Packet: // somebody listens on that port
		if e.From.Addr() == target {
			r.route.answer(int(e.From.Port())-r.Port, target, e.At, "UDP reply", true)
		}
	}
}

// show passes the hops that are settled, or all of the route, to Progress.
func (r *traceRun) show(now time.Time, all bool) {
	for r.Progress != nil && r.shown < r.route.length() && (all || r.route.settled(r.shown+1, now)) {
		r.shown++
		r.Progress(r.route.hop(r.shown))
	}
}

func (r *traceRun) report(result *measure.Result) {
	for ttl := 1; ttl <= r.route.length(); ttl++ {
		result.Samples.Hops = append(result.Samples.Hops, r.route.hop(ttl))
	}
	sent, answered := r.route.counts()
	if sent == 0 {
		return
	}
	result.Metrics[measure.SentPackets] = float64(sent)
	result.Metrics[measure.ReceivedPackets] = float64(answered)
	switch {
	case r.route.target:
		result.Metrics[measure.HopCount] = float64(r.route.end)
	case r.route.end > 0:
		result.Note(fmt.Sprintf("the route ended at hop %d before the target: %s", r.route.end, r.route.reason))
	default:
		result.Note(fmt.Sprintf("the target did not answer; the last hop that did has TTL %d of %d", r.route.length(), r.MaxTTL))
	}
	if mtu, learnt, err := sock.RouteMTU(r.target); err == nil && learnt {
		result.Metrics[measure.PathMTU] = float64(mtu)
	}
}
