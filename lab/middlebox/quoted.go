package middlebox

import (
	"net/netip"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// errorInward translates an ICMP error for the outside address: its own target, and the source of the packet that it
// quotes, which is what this NAT had made of it (RFC 5508 REQ-4). One about a packet of the router's own is left alone.
func (n *translator) errorInward(t int64, p *packet.Packet) outcome {
	inner, ok := packet.Quoted(p.Data)
	if !ok {
		return untouched
	}
	if source, _ := addresses(inner); source != n.own[family(inner)] {
		return untouched
	}
	e := endsOf(inner)
	if !e.hasSource {
		return unmapped
	}
	i, ok := n.findOutside(t, outsidePortOf(inner[0]>>4, e.protocol, e.source))
	if !ok {
		return unmapped
	}
	inside := n.at(i).inside
	switch n.quotes {
	case QuotesLeft:
	case QuotesAddresses:
		p.RewriteQuotedAddresses(true, inside)
	default:
		p.RewriteQuoted(true, inside)
	}
	p.Rewrite(false, inside)
	return translated
}

// errorOutward translates an ICMP error from inside: its own source, and the target of the packet that it quotes.
func (n *translator) errorOutward(t int64, p *packet.Packet) outcome {
	if !n.quotedTarget(t, p) {
		return unmapped
	}
	n.setSource(p, 0)
	return translated
}

// ownError translates what the router itself quotes of a packet that Arrive had given its target inside; its own address
// stays.
func (n *translator) ownError(t int64, p *packet.Packet) outcome {
	if packet.IsICMPError(p.Data) && n.quotedTarget(t, p) {
		return translated
	}
	return untouched
}

// quotedTarget puts the outside address and port into an ICMP error, in place of the endpoint inside that the quoted
// packet went to; it is false if that has no mapping. It is for errors about what was sent to the outside address: one to
// a host inside may be about a packet to another there, which that host knows by its own address.
func (n *translator) quotedTarget(t int64, p *packet.Packet) bool {
	inner, ok := packet.Quoted(p.Data)
	if !ok {
		return false
	}
	e := endsOf(inner)
	if !e.hasTarget {
		return false
	}
	_, target := addresses(inner)
	i, ok := n.findInside(t, endpoint{target, e.target, e.protocol, inner[0] >> 4})
	if !ok {
		return false
	}
	p.RewriteQuoted(false, netip.AddrPortFrom(n.address[family(inner)], n.at(i).outside))
	return true
}

// ends are a packet's ports, or what stands for them: the identifier of an ICMP echo is the port of the host that asks,
// and its other end has none.
type ends struct {
	protocol             byte
	flags                byte // TCP's
	source, target       uint16
	hasSource, hasTarget bool
}

// endsOf returns nothing for other protocols than TCP, UDP and ICMP echo, and for later fragments.
func endsOf(b []byte) (e ends) {
	protocol, at := packet.Transport(b)
	e.protocol = protocol
	if at < 0 {
		return e
	}
	const (
		v4, v6                   = 4<<16 | packet.ProtocolICMP<<8, 6<<16 | packet.ProtocolICMPv6<<8
		echoReply, echoRequest   = 0, 8
		echoRequest6, echoReply6 = 128, 129
		identifier               = 4
	)
	if protocol == packet.ProtocolTCP || protocol == packet.ProtocolUDP {
		e.source, e.hasSource = be.Uint16(b[at:]), true
		e.target, e.hasTarget = be.Uint16(b[at+2:]), true
		if protocol == packet.ProtocolTCP && at+tcpFlags < len(b) {
			e.flags = b[at+tcpFlags]
		}
		return e
	}
	switch int(b[0]>>4)<<16 | int(protocol)<<8 | int(b[at]) {
	case v4 | echoRequest, v6 | echoRequest6:
		e.source, e.hasSource = be.Uint16(b[at+identifier:]), true
	case v4 | echoReply, v6 | echoReply6:
		e.target, e.hasTarget = be.Uint16(b[at+identifier:]), true
	}
	return e
}
