package agent

import (
	"context"
	"net/netip"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/retrace"
)

// traceBack traces the route to who an opening is for, within the policy: as slowly as rate wants, in bit/s, 0 being any, and while the class has bytes left of the
// day. What it sent is counted when the test is over.
func (a *Agent) traceBack(o fleet.Opening, rate float64) retrace.Tracer {
	return func(ctx context.Context, to netip.Addr, ask retrace.Ask) (retrace.Route, error) {
		ask = probe.PaceTraceBack(to, ask, rate)
		demand := probe.TraceBackDemand(to, ask)
		err := a.decide(policy.Request{Host: o.Source, Address: to, Open: o.Responder.Kind, Port: o.Responder.Port, Rate: demand.BitsPerSecond, Bytes: demand.Bytes})
		if err != nil {
			return retrace.Route{}, err
		}
		return probe.TraceBack(ctx, to, ask)
	}
}
