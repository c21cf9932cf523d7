package probe

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"

	"github.com/pathwise-net/pathwise/analysis/multipath"
	"github.com/pathwise-net/pathwise/measure"
)

// livePaths is what a search found before the rounds.
type livePaths struct {
	flows []int // that cover it
	paths *measure.PathsSample
	notes []string

	share  func(ttl int, address netip.Addr) float64
	tossed map[int]bool // see liveFlows
}

// findPaths looks for all paths over a wire, which it closes, and opens another one for the rounds. That has the same flows and another token, so that
// what answers the search late answers nothing of theirs.
func (l *LiveTrace) findPaths(ctx context.Context, t Trace, w way, wire traceWire, flow *traceFlow) (_ traceWire, _ *traceFlow, found livePaths, err error) {
	run, err := newPathsRun(t, flow, wire)
	if err != nil {
		wire.close()
		return nil, nil, found, err
	}
	run.after = func() {
		g := run.search.Graph()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.searching = fmt.Sprintf("%d packets, %d routers and hosts so far", g.Probes, len(g.Vertices))
	}
	err = run.do(ctx)
	wire.close()
	found.paths = run.paths(run.search.Graph())
	if run.nameless {
		found.notes = append(found.notes, namelessPaths)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, found, fmt.Errorf("trace %s: %w", t.Target, err)
	}
	all := false
	if found.flows, all = run.search.Cover(liveMostFlows); !all {
		found.notes = append(found.notes, fmt.Sprintf("there are more ways than the rounds have flows: they are of %d, which do not pass all of them", liveMostFlows))
	}
	if len(found.flows) == 1 && t.Protocol == traceICMP {
		found.notes = append(found.notes, "routers that balance flows by their ports send all ICMP echo one way: --proto udp or tcp shows the ways of those")
	}
	if t.Protocol == traceUDP {
		found.notes = append(found.notes, "hosts limit how often they say that a UDP port is closed, which looks as if the path lost packets: --proto icmp or tcp does not")
	}
	found.share, found.tossed = sharesOf(found.paths), tossedHops(found.paths)
	again := newTraceFlow(t, w)
	again.from, again.ports = flow.from, make([]atomic.Uint32, liveNumbers)
	if wire, err = openWire(ctx, t, again); err != nil {
		return nil, nil, found, fmt.Errorf("trace %s: open what the rounds leave by: %w", t.Target, err)
	}
	return wire, again, found, nil
}

// sharesOf says what share of the flows that were seen at a hop were answered by an address.
func sharesOf(s *measure.PathsSample) func(ttl int, address netip.Addr) float64 {
	type place struct {
		ttl     int
		address string
	}
	all, of := map[int]int{}, map[place]int{}
	for _, v := range s.Vertices {
		all[v.TTL] += v.Flows
		of[place{v.TTL, v.Address}] += v.Flows
	}
	return func(ttl int, address netip.Addr) float64 {
		if all[ttl] == 0 {
			return 0
		}
		return float64(of[place{ttl, address.String()}]) / float64(all[ttl])
	}
}

// tossedHops are the TTLs at which packets of one flow pass several routers: those behind one that balances by packet, up to where there is one again.
func tossedHops(s *measure.PathsSample) map[int]bool {
	tossed, wide := map[int]bool{}, map[int]int{}
	for _, v := range s.Vertices {
		wide[v.TTL]++
	}
	for _, v := range s.Vertices { // in the order of their hops
		if v.Balancing == string(multipath.PerPacket) || tossed[v.TTL] && wide[v.TTL+1] > 1 {
			tossed[v.TTL+1] = true
		}
	}
	return tossed
}

// report puts what was found into a Result.
func (p livePaths) report(r *measure.Result) {
	r.Samples.Paths = p.paths
	for _, note := range p.notes {
		r.Note(note)
	}
}
