package probe

import (
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

// proxyOf says who answers SYNs in the target's name, if somebody does: a SYN-ACK comes from nearer than the target is. end is where it comes from, distance how far the
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
