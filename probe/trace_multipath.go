package probe

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/analysis/multipath"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// A trace with Multipath asks what analysis/multipath wants to know. What its flows differ in, all else being the same in all:
//
//	udp   destination port, from that of the trace on
//	tcp   source port, from the one that is held on; only with raw sockets
//	icmp  checksum, and, with raw sockets, identifier: routers look at one, the other or none of them
const (
	// multipathProbes is how many packets it sends at most: with flows that have the port of the trace and those above it there are enough ports.
	multipathProbes = 20000
	// multipathTypical is what it sends on a path of ten hops of which the middle ones are four wide, as the tests of analysis/multipath count them.
	multipathTypical = 1000
	// multipathBusy is what a router may take for an answer beside the way there and back: those that answer in software do so within some tens of milliseconds.
	multipathBusy = 200 * time.Millisecond
)

// checkMultipath says what does not go with Multipath, or is of no use without it.
func (t Trace) checkMultipath() error {
	switch {
	case t.Confidence != 0 && !t.Multipath:
		return &input.Error{Field: "confidence", Value: strconv.FormatFloat(t.Confidence, 'g', -1, 64), Remedy: "give it with multipath"}
	case t.Confidence < 0 || t.Confidence > 0.9999:
		return &input.Error{Field: "confidence", Value: strconv.FormatFloat(t.Confidence, 'g', -1, 64), Remedy: "give a ratio above 0 and up to 0.9999"}
	}
	return nil
}

// flowPort is the destination port of a flow: that of the trace, then those that follow.
func (f *traceFlow) flowPort(flow int) uint16 {
	if flow == 0 {
		return f.to.Port()
	}
	return f.distinctPort(flow - 1)
}

// flowMark is what makes a flow: the destination port of UDP, the source port of TCP, the number of an ICMP flow.
func (f *traceFlow) flowMark(flow int) uint16 {
	switch f.protocol {
	case traceTCP:
		const system, all = 1024, 1 << 16 // ports below are not for everybody
		return uint16(system + (int(f.from.Port())-system+flow)%(all-system))
	case traceICMP:
		return uint16(flow)
	}
	return f.flowPort(flow)
}

// source is the source port of a probe, or its identifier.
func (f *traceFlow) source(id int) uint16 {
	switch {
	case f.ports == nil || f.protocol == traceUDP || f.protocol == traceICMP && !f.idents:
		return f.from.Port()
	case f.protocol == traceICMP:
		return f.from.Port() + uint16(f.ports[id].Load())
	}
	return uint16(f.ports[id].Load())
}

// pathsSample is a graph as a Result has it. rtt is the least round trip to an address at a hop, nil where none is known.
func pathsSample(g *multipath.Graph, rtt func(ttl int, address netip.Addr) *float64) *measure.PathsSample {
	s := &measure.PathsSample{Vertices: []measure.PathVertex{}, Links: []measure.PathLink{}, Confidence: g.Confidence, Complete: g.Complete, SentPackets: g.Probes, Flows: g.Flows}
	for _, v := range g.Vertices {
		vertex := measure.PathVertex{TTL: v.TTL, Final: v.Final, Balancing: string(v.Balancing), Flows: v.Flows}
		if !v.Silent() {
			vertex.Address, vertex.RTT = v.Address.String(), rtt(v.TTL, v.Address)
		}
		s.Vertices = append(s.Vertices, vertex)
	}
	for _, l := range g.Links {
		s.Links = append(s.Links, measure.PathLink(l))
	}
	return s
}

// graphOf is the graph that a Result has.
func graphOf(s *measure.PathsSample) *multipath.Graph {
	g := &multipath.Graph{Confidence: s.Confidence, Complete: s.Complete, Probes: s.SentPackets, Flows: s.Flows}
	for _, v := range s.Vertices {
		address, _ := netip.ParseAddr(v.Address) // the zero Addr of one that is silent
		g.Vertices = append(g.Vertices, multipath.Vertex{TTL: v.TTL, Address: address, Final: v.Final, Balancing: multipath.Balancing(v.Balancing), Flows: v.Flows})
	}
	for _, l := range s.Links {
		if n := len(s.Vertices); l.From >= 0 && l.From < n && l.To >= 0 && l.To < n && s.Vertices[l.From].TTL < s.Vertices[l.To].TTL { // as all that a trace finds
			g.Links = append(g.Links, multipath.Link(l))
		}
	}
	return g
}

// PathsText draws the ways that a trace found.
func PathsText(s *measure.PathsSample) string {
	g, rtts := graphOf(s), map[netip.Addr]string{}
	for i, v := range s.Vertices {
		if v.RTT != nil {
			rtts[g.Vertices[i].Address] = "  " + quantity.FormatSeconds(*v.RTT)
		}
	}
	return multipath.Draw(g, func(a netip.Addr) string { return a.String() + rtts[a] })
}
