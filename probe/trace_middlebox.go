package probe

import (
	"cmp"
	"slices"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/changed"
)

// checkMiddlebox says what does not go with Middlebox.
func (t Trace) checkMiddlebox() error {
	switch {
	case !t.Middlebox:
		return nil
	case t.Multipath || t.Both || t.MTU:
		return &input.Error{Field: "middlebox", Value: "true", Remedy: "give it without multipath, both and mtu"}
	case t.Protocol != "" && t.Protocol != traceTCP:
		return &input.Error{Field: "protocol", Value: t.Protocol, Remedy: "give tcp with middlebox, or leave it away"}
	}
	return nil
}

const (
	// farTTL is what the SYN to the far end leaves with, as those of most systems.
	farTTL = 64
	// replySYN is of a target at whose port somebody listens.
	replySYN = "SYN ACK"
)

// quotedPoints are the hops that quoted a probe, by the first answer of each.
func (p *tracePlan) quotedPoints(f *traceFlow) (points []changed.Point) {
	seen := map[int]bool{}
	for ttl := 1; ttl <= p.length(); ttl++ {
		for id := range p.probes {
			a := p.probes[id].answer
			if p.probes[id].ttl != ttl || a == nil || a.told == nil || seen[ttl] {
				continue
			}
			seen[ttl] = true
			want := 0
			if a.expired {
				want = 1
			}
			points = append(points, changed.Point{Hop: ttl, Shown: changed.Shown(*a.told), Fields: changed.Fields(f.crafted.sent(f, id, ttl), *a.told, want)})
		}
	}
	return points
}

// proxyOf says who may answer SYNs in the target's name: a SYN-ACK comes from nearer than the target is. end is where it comes from, distance how far the
// target is by echoes, whose hops are echoes; 0 where that is not known. A router has to have said there or beyond that an echo's TTL ran out: where all are silent the target may be
// as near, and its first answers lost.
func proxyOf(end, distance int, echoes []measure.Hop, answers bool) *measure.Proxy {
	if !answers || end < 1 || end >= distance || distance > len(echoes) {
		return nil
	}
	if !slices.ContainsFunc(echoes[end-1:distance-1], func(h measure.Hop) bool { return len(h.Addresses) > 0 }) {
		return nil
	}
	return &measure.Proxy{TTL: end, Distance: distance, Addresses: echoes[end-1].Addresses}
}

// proxyTrial is what came back of a SYN of another flow, which may live for as many hops as the one that was answered from nearer than the target is.
type proxyTrial struct {
	same     bool // it is to the same port; else to one that nobody is expected to serve, or to answer in another's name
	answered bool // in the target's name
	passed   bool // a router said that the SYN's time was over, so that it goes on to farther away
}

const (
	// proxyFlows are SYNs to the same port, and as many to others. Of two ways by flow, all to one port take the shorter, and all others the longer, once in 2^8 times.
	proxyFlows = 4
	// proxyQueries are packets for each hop of a flow: the first of all is to find out how far the target is, and tells of no hop.
	proxyQueries = 2
	// proxyPort is the first of the other ports: those of traceroute.
	proxyPort = tracePort
)

// judgeProxy says whether what may be a proxy is one. nil: it is none, since flows to the same port go on, so there are ways of different lengths. It is sure where SYNs to other ports
// go on and none is answered; else TCP may have a shorter way than echoes.
//
//	flows to the port      to other ports
//	one goes on            -                     none: ways differ by flow
//	all are answered       all go on             a proxy, for this port
//	all are answered       one is answered       a proxy for all ports, or a shorter way
func judgeProxy(may measure.Proxy, trials []proxyTrial) *measure.Proxy {
	goesOn, answered := false, false
	for _, t := range trials {
		if t.same && t.passed {
			return nil
		}
		goesOn = goesOn || !t.same && t.passed
		answered = answered || !t.same && t.answered
	}
	may.Possible = answered || !goesOn
	return &may
}

// wayOf is how many hops a SYN passed that the far end tells of: as many as TCP or echoes take, so that it is not taken for a changed TTL.
func wayOf(seen uint8, byTCP, byEcho int) int {
	if farTTL+1-int(seen) == byEcho {
		return byEcho
	}
	return cmp.Or(byTCP, byEcho)
}
