package agent

import (
	"context"
	"errors"
	"net/netip"
	"sync"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/retrace"
)

var errTracing = errors.New("it is tracing for the same run already")

// traceBack traces the route to who an opening is for, within the policy: one at a time, as slowly as rate wants, in bit/s, 0 being any, and while the class has bytes
// left of the day. What it sent is counted when the test is over.
func (a *Agent) traceBack(o fleet.Opening, rate float64, trace retrace.Tracer) retrace.Tracer {
	var tracing sync.Mutex
	return func(ctx context.Context, to netip.Addr, ask retrace.Ask) (retrace.Route, error) {
		if !tracing.TryLock() {
			return retrace.Route{}, errTracing
		}
		defer tracing.Unlock()
		ask = probe.PaceTraceBack(to, ask, rate)
		demand := probe.TraceBackDemand(to, ask)
		err := a.decide(policy.Request{Host: o.Source, Address: to, Open: o.Responder.Kind, Port: o.Responder.Port, Rate: demand.BitsPerSecond, Bytes: demand.Bytes})
		if err != nil {
			return retrace.Route{}, err
		}
		return trace(ctx, to, ask)
	}
}
