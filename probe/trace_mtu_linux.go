package probe

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// sizes measures the largest packet that comes to each hop of a route that was found, from the target back to this host: what comes to the target comes to all hops. Where that is
// less than this host sends, the hop that narrows the path is sought, and from there the search goes on with what comes to that hop.
//
//	this host ---9000--- hop 1 ---1500--- hop 2 ---1400--- target
//	                                               <-1400->        comes to the target; one byte more comes as far as hop 2
//	                              <-1500-> comes to hop 2; one byte more comes as far as hop 1
//	          <-9000-> comes to hop 1, which is all that this host sends
func (t Trace) sizes(ctx context.Context, result *measure.Result) error {
	to, err := netip.ParseAddr(result.Target.Address)
	if err != nil || len(result.Samples.Hops) == 0 || result.Samples.Route == nil {
		return err
	}
	from, err := netip.ParseAddr(result.Source.Address)
	if err != nil {
		return err
	}
	s, err := newMTUSearch(to)
	if err != nil {
		return err
	}
	w := way{to, from}
	run, end, err := t.sizeRun(ctx, w, s, result.Samples.Hops)
	if err != nil || run == nil {
		return err
	}
	defer run.wire.close()
	defer context.AfterFunc(ctx, run.wire.interrupt)()
	if end < mtuTTL {
		result.Note(fmt.Sprintf("the target answers nothing by which sizes are measured; the MTU is that up to hop %d", end))
	}
	if err = run.steps(s, end, from, result); err == nil && end == mtuTTL {
		narrowings := result.Samples.Route.Narrowings
		if n := len(narrowings); run.stamps() == nil && n > 0 && !narrowings[n-1].Refused {
			err = t.sizesApart(ctx, &mtuSearch{least: s.least, most: s.most}, run.wait, w, result)
		} else {
			err = run.back(ctx, int(result.Metrics[measure.PathMTU]), w, result)
		}
	}
	if err != nil {
		if ctx.Err() != nil { // whatever call it made fail
			err = context.Cause(ctx)
		}
		return fmt.Errorf("find MTU to %s: %w", t.Target, err)
	}
	run.countIn(result.Samples.Route)
	return nil
}

// sizesApart measures the sizes of both ways apart where echoes, which come back as large as they went, vanish: if the target has a reflector that answers by as few bytes as it is asked
// to, what echoes told is forgotten.
func (t Trace) sizesApart(ctx context.Context, s *mtuSearch, wait time.Duration, w way, result *measure.Result) error {
	run, _, err := reflected(ctx, w, wait, t.Timeout)
	if run == nil {
		return err
	}
	defer run.wire.close()
	defer context.AfterFunc(ctx, run.wire.interrupt)()
	both := int(result.Metrics[measure.PathMTU])
	s.passes, s.told = max(both, run.wire.least()), both
	result.Samples.Route.Narrowings = nil
	for i := range result.Samples.Hops {
		result.Samples.Hops[i].MTU = 0
	}
	if err = run.steps(s, mtuTTL, w.from, result); err == nil {
		err = run.back(ctx, int(result.Metrics[measure.PathMTU]), w, result)
	}
	run.countIn(result.Samples.Route)
	return err
}

// countIn adds the packets of a run to those of a route.
func (r *mtuRun) countIn(route *measure.RouteSample) {
	route.SentPackets += len(r.sent)
	for _, p := range r.sent {
		route.SentBytes += p.size
	}
}

// sizeRun is a run by what the target answers, and the TTL of packets to it. Where the target answers nothing it is one by what hops answer, and the TTL is that of the last that
// does; nil: none does.
func (t Trace) sizeRun(ctx context.Context, w way, s *mtuSearch, hops []measure.Hop) (run *mtuRun, end int, err error) {
	for _, trial := range (MTU{Timeout: t.Timeout}).trials() {
		if run, err = t.openRun(ctx, trial.open, w, s); err != nil && !isPermission(err) {
			return nil, 0, err
		} else if run == nil {
			continue
		}
		stop := context.AfterFunc(ctx, run.wire.interrupt)
		answered, err := run.contact(s.passes)
		if stop(); answered && err == nil {
			return run, mtuTTL, nil
		}
		run.wire.close()
		if err != nil {
			return nil, 0, err
		}
	}
	for _, h := range hops {
		if len(h.Addresses) > 0 && h.Reply == "" {
			end = h.TTL
		}
	}
	if end == 0 {
		return nil, 0, nil
	}
	if run, err = t.openRun(ctx, openMTUEcho, w, s); isPermission(err) {
		run, err = t.openRun(ctx, openMTUStamp(tracePort), w, s)
	}
	return run, end, err
}

// openRun opens a run, whose search begins with its least packets, which every path carries; nil: there is none.
func (t Trace) openRun(ctx context.Context, open func(context.Context, way) (mtuWire, error), w way, s *mtuSearch) (*mtuRun, error) {
	wire, err := open(ctx, w)
	if err != nil || wire == nil {
		return nil, err
	}
	s.passes = max(s.least, wire.least())
	return &mtuRun{wire: wire, wait: t.Timeout, timeout: t.Timeout}, nil
}

// steps goes from the end of the route back to this host.
func (r *mtuRun) steps(s *mtuSearch, end int, from netip.Addr, result *measure.Result) error {
	hops, route := result.Samples.Hops, result.Samples.Route
	for range mtuSearches {
		narrows, again, err := r.step(s, end, from, result)
		if err != nil {
			return err
		}
		if again {
			continue
		}
		n := measure.Narrowing{Before: 1}
		if narrows != nil {
			n = narrowingOf(narrows, s.passes)
			route.Narrowings = slices.Insert(route.Narrowings, 0, n)
		}
		for i := range hops {
			if hops[i].TTL >= n.Before && hops[i].TTL <= end { // what is between is not known to get it, or not
				hops[i].MTU = s.passes
			}
		}
		if n.TTL == 0 || n.TTL >= end || n.TTL > len(r.ttls) {
			return nil
		}
		end, r.ttls = n.TTL, r.ttls[:n.TTL]
		for i := range r.ttls {
			r.ttls[i].target = i == end-1
		}
		s = &mtuSearch{least: s.least, most: s.most, passes: n.Bytes + 1}
	}
	result.Note(fmt.Sprintf("what comes to hops up to %d is not known: the path narrows at more places than are sought, or at others each time", min(end, len(hops))))
	return nil
}
