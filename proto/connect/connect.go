// Package connect says why a TCP port answers, or why not, from what one end or both ends of the path saw of connections to it.
//
// It is pure: it opens no connection and watches no interface; package probe does. What it is given and what it says are a measure.PortCheck.
//
// A SYN passes these places on its way, and its answer the same ones back. An interface shows packets between firewall and path, so that what is
// missing at one place and was seen at the one before it is dropped in between:
//
//	near program
//	     |         near firewall      what left by no interface
//	near interface
//	     |         the path           what left and did not arrive
//	far interface
//	     |         far firewall       what arrived, and got no answer although somebody listens, or the kernel would refuse
//	far kernel                        accept queue, sockets that listen
package connect

import (
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// What is found, as measure.PortCheck.Finding has it.
const (
	Open           = "open"
	Closes         = "closes-at-once" // it is open, and whoever answers ends the connection at once
	Nothing        = "nothing-listens"
	Refused        = "refused"           // by the target: nobody listens, or its firewall refuses; the far end would know
	OtherAddress   = "listens-elsewhere" // on another address of the host
	QueueFull      = "accept-queue-full"
	FarDrops       = "far-firewall-drops"
	FarRejects     = "far-firewall-rejects"
	FarReversePath = "far-reverse-path"    // the far kernel drops what came by another interface than the answer would leave by (RFC 3704)
	FarForwards    = "far-host-forwards"   // to a container or another host, where nothing answers or which refuses
	NearDrops      = "near-firewall-drops" // what this host sends
	NearDropsBack  = "near-firewall-deaf"  // what comes back to it
	NearRejects    = "near-firewall-rejects"
	NextHopSilent  = "next-hop-silent" // this host does not get the link address of its next hop
	Router         = "router-refuses"
	NoWay          = "no-way"             // a router knows no way to the target, or cannot reach it on the last link
	Between        = "refused-on-the-way" // by RST in the target's name
	DroppedThere   = "dropped-on-the-way"
	DroppedBack    = "dropped-on-the-way-back"
	NoAnswer       = "no-answer" // and what was seen does not tell why
)

// IsOpen reports whether a finding is that connections open.
func IsOpen(finding string) bool { return finding == Open || finding == Closes }

// Judge says what was seen means. to is what people call the port, such as carol:22. far is nil where nobody watched at the far end.
func Judge(to string, near measure.PortNear, far *measure.PortFar) measure.PortCheck {
	near.Packets = own(near.Packets, near.Attempts)
	if far != nil {
		kept := *far
		kept.Packets = own(far.Packets, near.Attempts)
		far = &kept
	}
	j := judge{to: to, near: near, far: far}
	j.gather()
	j.decide()
	return measure.PortCheck{Finding: j.finding, Says: j.says, Evidence: j.evidence(), Unknown: j.unknown, Near: near, Far: far}
}

// own are the packets of the connections that were tried, without those of other programs. Where there are none all are kept: address translation
// then gave them other ports.
func own(packets []measure.PortPacket, attempts []measure.PortAttempt) (kept []measure.PortPacket) {
	for _, p := range packets {
		if slices.ContainsFunc(attempts, func(a measure.PortAttempt) bool { return a.Local == p.Near }) {
			kept = append(kept, p)
		}
	}
	if kept == nil {
		return packets
	}
	return kept
}

// judge is one verdict in the making.
type judge struct {
	to   string
	near measure.PortNear
	far  *measure.PortFar

	target  netip.AddrPort
	attempt measure.PortAttempt // the one that tells most
	left    bool                // a SYN left by an interface of the near host
	back    *measure.PortPacket // an answer that came to one; nil: none was seen
	own     *measure.PortPacket // an RST that came from this host itself, in the target's name
	onward  *measure.PortPacket // a SYN that the far host handed on; nil: none was seen
	arrived bool                // a SYN came to an interface of the far host
	sent    *measure.PortPacket // an answer that left by one; nil: none was seen

	finding, says, unknown string
}

// loopback is the interface of what never leaves a host.
const loopback = "lo"

// gather finds what decides.
func (j *judge) gather() {
	j.target, _ = netip.ParseAddrPort(j.near.Target) // the zero value is nobody's
	for _, a := range j.near.Attempts {
		if j.attempt.Outcome == "" || rank(a.Outcome) < rank(j.attempt.Outcome) {
			j.attempt = a
		}
	}
	for i := range j.near.Packets {
		p := &j.near.Packets[i]
		switch {
		case p.Interface == loopback && !j.near.Itself:
			if p.Kind == measure.PacketRST && !p.Out {
				j.own = p
			}
		case p.Out && p.Kind == measure.PacketSYN:
			j.left = true
		case !p.Out && p.Kind != measure.PacketSYN && j.back == nil:
			j.back = p
		}
	}
	if j.far == nil {
		return
	}
	for i := range j.far.Packets {
		p := &j.far.Packets[i]
		switch {
		case !p.Out && p.Kind == measure.PacketSYN:
			j.arrived = true
		case p.Out && p.Kind != measure.PacketSYN && j.sent == nil:
			j.sent = p
		case p.Out && p.Kind == measure.PacketSYN && !j.near.Itself:
			j.onward = p
		}
	}
}

// rank is lower for outcomes that tell more.
func rank(outcome string) int {
	for i, o := range []string{measure.PortOpen, measure.PortUnreachable, measure.PortForbidden, measure.PortRefused} {
		if o == outcome {
			return i
		}
	}
	return 4 // silence, after the four of them
}

// covering is a listener that takes connections to the address; nil: there is none.
func (j *judge) covering() *measure.PortListener {
	if j.far == nil {
		return nil
	}
	for i := range j.far.Listeners {
		if l := &j.far.Listeners[i]; l.Covers || j.far.Foreign { // behind address translation any of them may be meant
			return l
		}
	}
	return nil
}

// queueFull reports whether the listener takes no more connections, since too many wait for its program (include/net/sock.h, sk_acceptq_is_full).
func (j *judge) queueFull() bool {
	l := j.covering()
	return l != nil && l.Waiting > l.Most
}

// Names of counts that bear on a port.
const (
	countOverflows   = "TcpExt.ListenOverflows"
	countReversePath = "TcpExt.IPReversePathFilter"
)

// Counts are the names of what a far host's kernel counts that bears on a port.
var Counts = []string{countOverflows, "TcpExt.ListenDrops", countReversePath}
