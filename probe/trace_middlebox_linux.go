package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/arrived"
	"github.com/pathwise-net/pathwise/proto/changed"
	"github.com/pathwise-net/pathwise/proto/icmp"
)

// middleboxes finds out what was changed, once the route is known: by what routers quote, by what the far end tells of a connection, and by how far the target is.
func (r *traceRun) middleboxes(ctx context.Context, result *measure.Result) error {
	found := &measure.Middleboxes{}
	points := r.plan.quotedPoints(r.flow)
	sent := r.flow.crafted.sent(r.flow, 0, farTTL)
	for _, f := range sentFields(sent) {
		found.Sent = append(found.Sent, measure.PacketField{Name: f[0], Value: f[1]})
	}
	distance, echoes := 0, []measure.Hop(nil)
	if r.plan.target() {
		var err error
		if distance, echoes, err = r.distance(ctx); err != nil {
			return err
		}
	}
	if !r.plan.opens() {
		found.FarError = "no connection opens at the port"
	} else if point, err := r.farEnd(ctx, distance, echoes, found); err != nil {
		return err
	} else if point != nil {
		points = append(points, *point)
	}
	for _, p := range points {
		found.Points = append(found.Points, measure.MiddleboxPoint{TTL: p.Hop, Far: p.Far, Shown: p.Shown})
	}
	found.Changes = []measure.PacketChange{}
	for _, c := range changed.Changes(points) {
		found.Changes = append(found.Changes, measure.PacketChange(c))
	}
	result.Samples.Middleboxes = found
	if len(points) > 0 {
		result.Metrics[measure.PacketChanges] = float64(len(found.Changes))
	}
	return nil
}

// opens reports whether somebody listens at the port: of SYNs to it on one flow, only the first gets a SYN ACK.
func (p *tracePlan) opens() bool {
	return p.target() && slices.ContainsFunc(p.probes, func(one traceProbe) bool {
		return one.answer != nil && one.answer.reached && one.answer.reply == replySYN
	})
}

// distance is how far the target is by ICMP echo, which proxies of TCP leave alone, and the hops there. 0: it does not answer.
func (r *traceRun) distance(ctx context.Context) (distance int, hops []measure.Hop, err error) {
	echo, err := Trace{Target: r.flow.target.String(), Protocol: traceICMP, MaxTTL: r.MaxTTL, Queries: r.Queries, Timeout: r.Timeout, Interval: r.Interval}.Do(ctx)
	if ctx.Err() != nil {
		return 0, nil, context.Cause(ctx)
	}
	if err != nil || echo.Samples.Route == nil || !echo.Samples.Route.Reached { // without it nothing is known of proxies
		return 0, nil, nil
	}
	return int(echo.Metrics[measure.HopCount]), echo.Samples.Hops, nil
}

// farEnd asks the far end what arrived; nil: it does not tell, for which found has the reason. Where it does not, and answers from nearer than the target is by echoes, a proxy is
// looked for.
func (r *traceRun) farEnd(ctx context.Context, distance int, echoes []measure.Hop, found *measure.Middleboxes) (*changed.Point, error) {
	point, itself, err := r.arrived(ctx, distance)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		found.FarError = err.Error()
	}
	if may := proxyOf(r.plan.end, distance, echoes, true); may != nil && !itself {
		found.Proxy = judgeProxy(*may, r.proxyTrials(ctx))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if found.Proxy != nil && !found.Proxy.Possible {
		found.FarError = "it is the proxy that answers"
	}
	if found.FarError != "" {
		return nil, nil
	}
	return &point, nil
}

// proxyTrials sends SYNs of other flows that live for as many hops as it took to an answer.
func (r *traceRun) proxyTrials(ctx context.Context) []proxyTrial {
	trials := make([]proxyTrial, 2*proxyFlows)
	var all sync.WaitGroup
	for i := range trials {
		t, port := &trials[i], r.Port
		if t.same = i < proxyFlows; !t.same {
			port = proxyPort + i - proxyFlows
		}
		all.Go(func() {
			tried, err := Trace{Target: r.flow.target.String(), Protocol: traceTCP, Port: port, MaxTTL: r.plan.end, Queries: proxyQueries, Timeout: r.Timeout, Interval: r.Interval, NewFlow: true}.Do(ctx)
			if err != nil || tried.Samples.Route == nil {
				return // as if nothing came
			}
			t.answered = tried.Samples.Route.Reached
			hops := tried.Samples.Hops
			t.passed = !t.answered && len(hops) == r.plan.end && len(hops[r.plan.end-1].Addresses) > 0 && hops[r.plan.end-1].Reply == ""
		})
	}
	all.Wait()
	return trials
}

// arrived asks the far end for the SYN of a connection as it came there, and says which of its fields are known. distance is how far that is by echoes. itself says that what tells has
// the target's address and got this SYN, not one that a proxy made: a translator of ports before it, or a box that hides sequence numbers, is then no proxy.
func (r *traceRun) arrived(ctx context.Context, distance int) (point changed.Point, itself bool, err error) {
	flow := newTraceFlow(r.Trace, way{r.flow.target, r.flow.from.Addr()})
	line, err := talkTCP(ctx, flow, arrived.Request(r.Secret))
	if err != nil {
		return point, false, fmt.Errorf("the far end does not tell what arrived: %w", err)
	}
	headers, err := arrived.Read(line)
	if err != nil {
		return point, false, err
	}
	seen, err := icmp.ParseQuote(headers)
	if err != nil || seen.Protocol != icmp.ProtocolTCP {
		return point, false, errors.New("what the far end tells are no headers of TCP")
	}
	if _, ours := flow.crafted.quoted(flow, seen, 1); !ours {
		return point, false, errors.New("what the far end tells is of another connection, which a proxy has opened")
	}
	hops := wayOf(seen.TTL, r.plan.end, distance)
	sent := flow.crafted.sent(flow, 0, farTTL)
	return changed.Point{Hop: hops, Far: true, Shown: changed.Shown(seen), Fields: changed.Fields(sent, seen, farTTL+1-hops)}, seen.To == r.flow.target.WithZone(""), nil
}
