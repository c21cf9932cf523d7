package probe

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// hop is what is known of one TTL.
func (p *tracePlan) hop(ttl int, dscp int) measure.Hop {
	h := measure.Hop{TTL: ttl, Addresses: []string{}}
	for i := range p.probes {
		probe := &p.probes[i]
		if probe.ttl != ttl || probe.void || len(h.RTTSeconds) == p.queries {
			continue
		}
		if probe.answer == nil {
			h.RTTSeconds = append(h.RTTSeconds, nil)
			continue
		}
		rtt, _ := sock.Elapsed(probe.sent, probe.answer.at)
		h.RTTSeconds = append(h.RTTSeconds, new(rtt.Seconds()))
		if from := probe.answer.from.String(); !slices.Contains(h.Addresses, from) {
			h.Addresses = append(h.Addresses, from)
		}
		tell(&h, probe.answer, dscp)
	}
	for len(h.RTTSeconds) < p.queries { // the trace ended before they were sent
		h.RTTSeconds = append(h.RTTSeconds, nil)
	}
	return h
}

// tell adds what an answer says beside that it came.
func tell(h *measure.Hop, a *traceAnswer, dscp int) {
	if !a.expired && h.Reply == "" {
		h.Reply, h.Annotation = a.reply, a.annotation
	}
	if h.ReturnHops == 0 {
		h.ReturnHops = hopsOf(a.ttl)
	}
	if a.told != nil {
		notAsSent(&h.DSCP, int(a.told.DSCP), dscp)
		notAsSent(&h.ECN, int(a.told.ECN), a.ecn)
		if a.expired {
			notAsSent(&h.QuotedTTL, int(a.told.TTL), 1)
		}
	}
	if h.Translated == "" {
		h.Translated = a.translated
	}
	if h.MPLS == nil {
		for _, l := range a.extensions.Labels {
			h.MPLS = append(h.MPLS, measure.MPLSLabel{Label: l.Label, Class: int(l.Class), TTL: int(l.TTL)})
		}
	}
	if h.Interfaces == nil {
		for _, i := range a.extensions.Interfaces {
			port := measure.HopPort{Role: i.Role.String(), Index: i.Index, Name: i.Name, MTU: i.MTU}
			if i.Address.IsValid() {
				port.Address = i.Address.String()
			}
			h.Interfaces = append(h.Interfaces, port)
		}
	}
	if h.Fault == "" {
		h.Fault = a.extensions.Fault
	}
}

// distinctNote is of a trace whose plan was nameless.
const distinctNote = "a router quotes too little of a packet to tell it from others without root: each packet had a port of its own, so hops may be of several paths"

// notAsSent keeps what the first answer told that is not as it was sent.
func notAsSent(at **int, told, sent int) {
	if *at == nil && told != sent {
		*at = &told
	}
}

// length is the TTL of the last hop worth showing: the end of the route, or else the last that answered.
func (p *tracePlan) length() int {
	if p.end > 0 {
		return p.end
	}
	if p.scouted() && !slices.Contains(p.asked[1:], 0) {
		return p.maxTTL
	}
	return p.far
}

// scouted says that the scout's TTL ran out at the highest one, so that somebody answers there, who may have been asked by nothing else.
func (p *tracePlan) scouted() bool {
	return len(p.probes) > 0 && p.probes[0].answer != nil && p.probes[0].answer.expired
}

// target says whether the target answered at the end of the route.
func (p *tracePlan) target() bool { return p.last() != nil && p.last().reached }

// last is an answer that ended the route; nil: none has.
func (p *tracePlan) last() *traceAnswer {
	for i := range p.probes {
		if a := p.probes[i].answer; a != nil && !a.expired && p.probes[i].ttl == p.end {
			return a
		}
	}
	return nil
}

// counts returns how many probes were sent to the hops of the route and how many of them were answered, and how many in all.
func (p *tracePlan) counts() (sent, answered, all int) {
	for i := range p.probes {
		all++
		if probe := &p.probes[i]; !probe.void && (p.end == 0 || probe.ttl <= p.end) {
			sent++
			if probe.answer != nil {
				answered++
			}
		}
	}
	return sent, answered, all
}

// routeOf is what hops say as a whole; over says of a last hop which ended the route what ended it, nil if nothing did, and met that the
// target answered, if only the scout.
func routeOf(hops []measure.Hop, over *traceAnswer, met bool) measure.RouteSample {
	r := measure.RouteSample{Reached: met || over != nil && over.reached}
	loop := loopOf(hops)
	for i, h := range hops {
		if loop != nil && h.TTL >= loop.TTLs[0] { // all of the loop forward
			r.LastForwards = h.TTL
			continue
		}
		beyond := i < len(hops)-1 || met && over == nil
		switch _, answered := h.Least(); {
		case beyond:
			r.LastForwards = h.TTL
			if !answered && r.FirstSilent == 0 {
				r.FirstSilent = h.TTL
			}
		case over != nil && !over.reached:
			r.NotForwarding, r.Certain, r.Why = h.TTL, true, over.said()
			if i > 0 && sole(h) != "" && sole(h) == sole(hops[i-1]) { // who answered as the TTL ran out answers again, for what goes farther
				r.NotForwarding, r.LastForwards = hops[i-1].TTL, i-1
			}
		case over == nil:
			r.NotForwarding = h.TTL
		}
		if h.DSCP != nil && r.DSCPChanged == 0 {
			r.DSCPChanged = h.TTL
		}
	}
	return r
}

// said is what an answer that ended a route says, with traceroute's letters where it has some.
func (a *traceAnswer) said() string {
	if a.annotation == "" {
		return a.reply
	}
	return a.reply + ", " + a.annotation
}

func (r *traceRun) report(result *measure.Result) {
	p := r.plan
	for ttl := 1; ttl <= p.length(); ttl++ {
		result.Samples.Hops = append(result.Samples.Hops, p.hop(ttl, r.DSCP))
	}
	sent, answered, all := p.counts()
	if all == 0 {
		return
	}
	over := p.last()
	route := routeOf(result.Samples.Hops, over, p.met)
	route.Remarks = remarksOf(result.Samples.Hops, r.flow.to.Addr().String(), route.LastForwards, !p.distinct && r.wire.by() != byConnections)
	route.Answers, route.SentPackets, route.SentBytes = r.wire.by(), all, all*r.flow.bytes()
	result.Samples.Route = &route
	result.Metrics[measure.SentPackets] = float64(sent)
	result.Metrics[measure.ReceivedPackets] = float64(answered)
	switch {
	case p.target():
		result.Metrics[measure.HopCount] = float64(p.end)
	case over != nil:
		result.Note(fmt.Sprintf("the route ended at hop %d before the target: %s", p.end, over.reply))
	case p.met:
		result.Note(fmt.Sprintf("the target answered one packet alone; the last hop that answered has TTL %d of %d", p.length(), r.MaxTTL))
	default:
		result.Note(fmt.Sprintf("the target did not answer; the last hop that did has TTL %d of %d", p.length(), r.MaxTTL))
	}
	if p.distinct {
		result.Note(distinctNote)
	}
	if r.learnt > 0 {
		result.Metrics[measure.PathMTU] = float64(r.learnt)
	}
}

// bytes are those of a probe, from the IP header on.
func (f *traceFlow) bytes() int {
	header := ipHeader(f.to.Addr())
	if f.protocol == traceUDP {
		header += udpHeader
	}
	return header + len(f.request(0))
}
