package sock

import (
	"encoding/binary"
	"net/netip"
)

// Flags of a TCP segment (RFC 9293 section 3.1).
const (
	FlagFIN = 1 << iota
	FlagSYN
	FlagRST
	FlagPSH
	FlagACK
)

// Tapped is a packet that an interface of this host received or sent: a TCP segment, or an ICMP error about one.
type Tapped struct {
	Interface int            // its index
	Out       bool           // it was sent
	Sender    netip.Addr     // of the packet
	TTL       int            // of the packet, or its hop limit
	From, To  netip.AddrPort // of the segment, or of that which the error is about
	Flags     uint8          // of the segment; 0 of an error
	Error     *ICMPError     // nil: it is a segment
}

const (
	ipv4Least  = 20
	ipv6Header = 40

	protocolICMP   = 1
	protocolTCP    = 6
	protocolICMPv6 = 58

	icmpHeader = 8  // before the packet that an error quotes (RFC 792, RFC 4443)
	tcpLeast   = 4  // the ports, which an error quotes at least
	flagsAt    = 13 // of a TCP header
)

// ipPacket is what a header of IP says, and what follows it.
type ipPacket struct {
	from, to netip.Addr
	ttl      int
	protocol byte
	rest     []byte
}

// parseIP decodes a header of IP. It follows no extension headers of IPv6, and of fragments takes the first alone.
//
//	IPv4  | version : 4, words : 4 | …  | offset : 13 (6) | TTL (8) | protocol (9) | … | source (12) | target (16) | options
//	IPv6  | version : 4, …         | …  | next header (6) | hop limit (7) | source (8) | target (24) |
func parseIP(b []byte) (p ipPacket, ok bool) {
	if len(b) < ipv4Least {
		return p, false
	}
	switch b[0] >> 4 {
	case 4:
		const offset = 0x1fff
		rest := afterIPv4Header(b)
		if rest == nil || binary.BigEndian.Uint16(b[6:])&offset != 0 {
			return p, false
		}
		return ipPacket{netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:])), int(b[8]), b[9], rest}, true
	case 6:
		if len(b) < ipv6Header {
			return p, false
		}
		return ipPacket{netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:])), int(b[7]), b[6], b[ipv6Header:]}, true
	}
	return p, false
}

// parseTapped decodes a packet from its IP header on; ok is false where it is neither a TCP segment nor an ICMP error about one.
//
//	TCP   | source port (0) | target port (2) | … | flags (13) | …
//	ICMP  | type (0) | code (1) | checksum | … | the packet that it is about, from its IP header to 64 bits of TCP at least (8)
func parseTapped(b []byte) (t Tapped, ok bool) {
	outer, ok := parseIP(b)
	if !ok {
		return t, false
	}
	t.Sender, t.TTL = outer.from, outer.ttl
	ipv6 := outer.from.Is6()
	switch {
	case outer.protocol == protocolTCP && len(outer.rest) > flagsAt:
		t.From, t.To = ends(outer)
		t.Flags = outer.rest[flagsAt]
		return t, true
	case (outer.protocol == protocolICMP && !ipv6 || outer.protocol == protocolICMPv6 && ipv6) && len(outer.rest) >= icmpHeader:
		e := &ICMPError{IPv6: ipv6, Type: outer.rest[0], Code: outer.rest[1], Offender: outer.from, TTL: outer.ttl}
		inner, whole := parseIP(outer.rest[icmpHeader:])
		if !isError(e) || !whole || inner.protocol != protocolTCP || len(inner.rest) < tcpLeast {
			return t, false
		}
		t.From, t.To = ends(inner)
		e.To = t.To
		t.Error = e
		return t, true
	}
	return t, false
}

// ends are those between which a segment goes.
func ends(p ipPacket) (from, to netip.AddrPort) {
	return netip.AddrPortFrom(p.from, binary.BigEndian.Uint16(p.rest)), netip.AddrPortFrom(p.to, binary.BigEndian.Uint16(p.rest[2:]))
}

// isError tells errors from questions and answers of ICMP, which quote no packet.
func isError(e *ICMPError) bool {
	if e.IPv6 {
		return e.Type < 128 // RFC 4443 section 2.1
	}
	return e.Type == 3 || e.Type == 11 || e.Type == 12 // RFC 792: unreachable, time exceeded, parameter problem
}
