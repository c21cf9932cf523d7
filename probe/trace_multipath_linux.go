package probe

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/analysis/multipath"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// pathsRun is a trace of all paths under way. The goroutine of Do has all of it to itself.
type pathsRun struct {
	Trace
	flow     *traceFlow
	wire     *packetWire
	search   *multipath.Search
	probes   []pathsProbe
	open     int // probes of this batch that nothing answered yet
	answered int
	longest  time.Duration // round trip so far
	nameless bool          // an answer did not say to which probe
	trips    map[multipath.Vertex][]float64
	after    func() // each batch; nil: nothing
}

// pathsProbe is a probe that left. over: it was answered or given up.
type pathsProbe struct {
	multipath.Probe
	sent sock.Stamp
	over bool
}

// measurePaths looks for all paths of an address of the target.
func (t Trace) measurePaths(ctx context.Context, flow *traceFlow, result *measure.Result) error {
	flow.ports = make([]atomic.Uint32, multipathProbes)
	wire, err := openWire(ctx, t, flow)
	if err != nil {
		return err
	}
	r, err := newPathsRun(t, flow, wire)
	if err != nil {
		wire.close()
		return err
	}
	err = r.do(ctx)
	wire.close()
	r.report(result)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("trace %s: %w", t.Target, err)
	}
	return nil
}

// newPathsRun is a search over a wire, which it does not close.
func newPathsRun(t Trace, flow *traceFlow, wire traceWire) (*pathsRun, error) {
	packets, raw := wire.(*packetWire)
	if !raw {
		return nil, &sock.PermissionError{Op: "send TCP packets of many flows", Err: unix.EPERM, Remedy: "run as root, setcap cap_net_raw+ep on this program, or take --proto udp"}
	}
	search, err := multipath.New(multipath.Config{Confidence: t.Confidence, MaxTTL: t.MaxTTL, MaxProbes: multipathProbes, Seed: uint64(flow.base())})
	return &pathsRun{Trace: t, flow: flow, wire: packets, search: search, trips: map[multipath.Vertex][]float64{}}, err
}

// do sends what the search asks for, batch by batch, and tells it what came back.
func (r *pathsRun) do(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for batch := r.search.Next(); len(batch) > 0; batch = r.search.Next() {
		first := len(r.probes)
		for _, p := range batch {
			before, err := r.send(p)
			if err != nil {
				return err
			}
			if err := r.listen(ctx, timer, before.Add(r.Interval), false); err != nil {
				return err
			}
		}
		if err := r.listen(ctx, timer, time.Now().Add(r.patience()), true); err != nil {
			return err
		}
		for i := first; i < len(r.probes); i++ {
			if p := &r.probes[i]; !p.over {
				p.over = true
				r.search.Tell(p.Probe, multipath.Answer{})
			}
		}
		r.open = 0
		if r.after != nil {
			r.after()
		}
	}
	return nil
}

// patience is how long the last probes of a batch may take to be answered: the timeout, until something tells how long answers take here. After that three of the longest
// round trips are enough, as Debian's traceroute has it (--wait), with what a busy router takes beside.
func (r *pathsRun) patience() time.Duration {
	if r.answered == 0 {
		return r.Timeout
	}
	return min(r.Timeout, multipathBusy+3*r.longest)
}

func (r *pathsRun) send(p multipath.Probe) (time.Time, error) {
	id, mark, port := len(r.probes), r.flow.flowMark(p.Flow), r.flow.to.Port()
	if r.Protocol == traceUDP {
		port = mark
	}
	if err := r.wire.sender.SetTTL(p.TTL); err != nil {
		return time.Time{}, err
	}
	r.flow.ports[id].Store(uint32(mark))
	r.wire.sent.Store(int64(id + 1)) // before it leaves, as packetWire.send has it
	_, before, err := r.wire.sender.Send(r.flow.request(id), netip.AddrPortFrom(r.flow.target, port))
	r.probes = append(r.probes, pathsProbe{Probe: p, sent: sock.Stamp{User: before}})
	r.open++
	return before, err
}

// listen takes what comes until a time, or, with all, until every probe is answered, if that is sooner.
func (r *pathsRun) listen(ctx context.Context, timer *time.Timer, until time.Time, all bool) error {
	timer.Reset(time.Until(until))
	for !all || r.open > 0 {
		select {
		case event := <-r.wire.heard():
			if err := deliver(event, r); err != nil {
				return err
			}
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// stamped records the kernel's send stamp of a probe.
func (r *pathsRun) stamped(id int, kernel time.Time) {
	if id >= 0 && id < len(r.probes) {
		r.probes[id].sent.Kernel = kernel
	}
}

// hear takes an answer into account, and says whether it counts: as the first to a probe that is still waited for, in time.
func (r *pathsRun) hear(a traceAnswer) bool {
	r.nameless = r.nameless || a.nameless
	if a.nameless || a.id < 0 || a.id >= len(r.probes) || r.probes[a.id].over {
		return false
	}
	p := &r.probes[a.id]
	rtt, _ := sock.Elapsed(p.sent, a.at)
	if rtt < 0 || rtt > r.Timeout {
		return false
	}
	p.over = true
	r.open--
	r.answered++
	r.longest = max(r.longest, rtt)
	place := multipath.Vertex{TTL: p.TTL, Address: a.from}
	r.trips[place] = append(r.trips[place], rtt.Seconds())
	r.search.Tell(p.Probe, multipath.Answer{Address: a.from, Final: !a.expired, Shift: a.changed()})
	return true
}

// report puts the graph into the Result, and the hops that it has, each with the addresses that answered there.
func (r *pathsRun) report(result *measure.Result) {
	g := r.search.Graph()
	result.Samples.Paths = r.paths(g)
	result.Metrics[measure.SentPackets] = float64(g.Probes)
	result.Metrics[measure.ReceivedPackets] = float64(r.answered)
	for _, v := range result.Samples.Paths.Vertices {
		for len(result.Samples.Hops) < v.TTL {
			result.Samples.Hops = append(result.Samples.Hops, measure.Hop{TTL: len(result.Samples.Hops) + 1, Addresses: []string{}})
		}
		h := &result.Samples.Hops[v.TTL-1]
		h.RTTSeconds = append(h.RTTSeconds, v.RTT)
		if v.Address != "" && !slices.Contains(h.Addresses, v.Address) {
			h.Addresses = append(h.Addresses, v.Address)
		}
		if _, known := result.Metrics[measure.HopCount]; v.Final && !known {
			result.Metrics[measure.HopCount] = float64(v.TTL)
		}
	}
	if !g.Reached() {
		result.Note("the target did not answer")
	}
	if r.nameless {
		result.Note(namelessPaths)
	}
}

// paths is a graph as a Result has it, with the least round trip to each address.
func (r *pathsRun) paths(g *multipath.Graph) *measure.PathsSample {
	return pathsSample(g, func(ttl int, address netip.Addr) *float64 {
		trips := r.trips[multipath.Vertex{TTL: ttl, Address: address}]
		if len(trips) == 0 {
			return nil
		}
		least := slices.Min(trips)
		return &least
	})
}

// namelessPaths is of a trace of several flows, which cannot have a port for each packet.
const namelessPaths = "a router quotes too little of a packet to tell it from others without root: it is as if it did not answer"
