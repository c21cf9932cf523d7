package packet

import (
	"encoding/binary"
	"net/netip"
)

// The IPv4 header (RFC 791 section 3.1; DSCP and ECN: RFC 2474, RFC 3168), by byte:
//
//	     0        1        2        3
//	   +--------+--------+--------+--------+
//	 0 |ver| ihl|dscp|ecn|  total length   |
//	 4 | identification  |0DM frag. offset |   D: don't fragment, M: more fragments follow
//	 8 |  TTL   |protocol| header checksum |
//	12 | source address                    |
//	16 | target address                    |
//	20 | options, up to 40 bytes           |
//	   +--------+--------+--------+--------+
const (
	v4MinHeader  = 20
	v4Length     = 2
	v4ID         = 4
	v4Fragment   = 6
	v4HopLimit   = 8
	v4Protocol   = 9
	v4Checksum   = 10
	v4Source     = 12
	v4Target     = 16
	dontFragment = 0x4000 // of the 16 bits at v4Fragment, as the next two
	moreToCome   = 0x2000
	offsetMask   = 0x1fff // counts 8 bytes
)

// The IPv6 header (RFC 8200 section 3), by byte:
//
//	     0        1        2        3
//	   +---+----+---+----+--------+--------+
//	 0 |ver|dscp |ecn|  flow label         |   DSCP and ECN lie across bytes 0 and 1
//	 4 | payload length  |  next  |hop lim.|
//	 8 | source address (16 bytes)         |
//	24 | target address (16 bytes)         |
//	   +--------+--------+--------+--------+
const (
	v6Header   = 40
	v6Length   = 4
	v6Next     = 6
	v6HopLimit = 7
	v6Source   = 8
	v6Target   = 24
)

var be = binary.BigEndian

// Whole returns the one IPv4 or IPv6 packet that b holds, without what lies behind it (Ethernet pads short frames). It
// is false if b holds no such packet, or only a part of one. IPv6 jumbograms (RFC 2675) are refused. Every other
// function of this package that takes bytes expects what Whole, or Quoted, returned.
func Whole(b []byte) ([]byte, bool) {
	inner, length, ok := readable(b)
	if !ok || length > len(b) {
		return nil, false
	}
	return inner[:length], true
}

// Quoted returns the packet that an ICMP error is about, as much of it as the error carries; it is false if b is no
// ICMP error, or quotes less than an IP header.
func Quoted(b []byte) ([]byte, bool) {
	if !IsICMPError(b) {
		return nil, false
	}
	_, at := Transport(b)
	inner, length, ok := readable(b[at+icmpHeader:])
	if !ok {
		return nil, false
	}
	return inner[:min(length, len(inner))], true
}

// readable checks that b begins with a whole IP header, and reads the length that the packet claims.
func readable(b []byte) (packet []byte, length int, ok bool) {
	switch {
	case len(b) >= v4MinHeader && b[0]>>4 == 4:
		header := v4HeaderLength(b)
		length = int(be.Uint16(b[v4Length:]))
		return b, length, header >= v4MinHeader && length >= header && len(b) >= header
	case len(b) >= v6Header && b[0]>>4 == 6:
		payload := int(be.Uint16(b[v6Length:]))
		jumbo := payload == 0 && b[v6Next] == hopByHop
		return b, v6Header + payload, !jumbo
	}
	return nil, 0, false
}

func v4HeaderLength(b []byte) int { return int(b[0]&0x0f) * 4 }

// Version is the IP version: 4 or 6.
func Version(b []byte) int { return int(b[0] >> 4) }

// Source is the address that the packet says it comes from.
func Source(b []byte) netip.Addr {
	if b[0]>>4 == 4 {
		return netip.AddrFrom4([4]byte(b[v4Source:]))
	}
	return netip.AddrFrom16([16]byte(b[v6Source:]))
}

// Target is the address that the packet goes to.
func Target(b []byte) netip.Addr {
	if b[0]>>4 == 4 {
		return netip.AddrFrom4([4]byte(b[v4Target:]))
	}
	return netip.AddrFrom16([16]byte(b[v6Target:]))
}

// trafficClass is the byte of DSCP (upper six bits) and ECN (lower two).
func trafficClass(b []byte) byte {
	if b[0]>>4 == 4 {
		return b[1]
	}
	return b[0]<<4 | b[1]>>4
}

func setTrafficClass(b []byte, v byte) {
	if b[0]>>4 == 6 {
		b[0] = 0x60 | v>>4
		b[1] = v<<4 | b[1]&0x0f
		return
	}
	old := be.Uint16(b)
	b[1] = v
	mend(b[v4Checksum:], old, be.Uint16(b))
}

// DSCP is the differentiated services code point (RFC 2474), 0 to 63.
func DSCP(b []byte) byte { return trafficClass(b) >> 2 }

// SetDSCP changes the code point to the lower six bits of v, and leaves ECN.
func SetDSCP(b []byte, v byte) { setTrafficClass(b, v<<2|trafficClass(b)&3) }

// The values of ECN (RFC 3168 section 5).
const (
	NotECT = 0 // the transport does not know ECN
	ECT1   = 1
	ECT0   = 2
	CE     = 3 // congestion was experienced
)

// ECN is NotECT, ECT1, ECT0 or CE.
func ECN(b []byte) byte { return trafficClass(b) & 3 }

// SetECN changes the ECN bits to the lower two of v, and leaves the DSCP.
func SetECN(b []byte, v byte) { setTrafficClass(b, trafficClass(b)&^3|v&3) }

// HopLimit is IPv6's hop limit or IPv4's TTL.
func HopLimit(b []byte) byte {
	if b[0]>>4 == 4 {
		return b[v4HopLimit]
	}
	return b[v6HopLimit]
}

// setHopLimit changes the hop limit of a header, whose checksum it mends.
func setHopLimit(b []byte, limit byte) {
	if b[0]>>4 == 6 {
		b[v6HopLimit] = limit
		return
	}
	old := be.Uint16(b[v4HopLimit:])
	b[v4HopLimit] = limit
	mend(b[v4Checksum:], old, be.Uint16(b[v4HopLimit:]))
}

// Hop takes one from the hop limit, unless it is zero already.
func Hop(b []byte) {
	if b[0]>>4 == 6 {
		b[v6HopLimit] -= min(b[v6HopLimit], 1)
		return
	}
	old := be.Uint16(b[v4HopLimit:])
	b[v4HopLimit] -= min(b[v4HopLimit], 1)
	mend(b[v4Checksum:], old, be.Uint16(b[v4HopLimit:]))
}

// writeHeader writes a header without options for a packet of len(b) bytes. IPv4 packets get "don't fragment" and
// identification 0, as RFC 6864 section 4 has it for a packet that is never fragmented.
func writeHeader(b []byte, source, target netip.Addr, protocol, class, hopLimit byte) {
	if target.Is4() {
		clear(b[:v4MinHeader])
		b[0], b[1] = 0x45, class
		be.PutUint16(b[v4Length:], uint16(len(b)))
		be.PutUint16(b[v4Fragment:], dontFragment)
		b[v4HopLimit], b[v4Protocol] = hopLimit, protocol
		setSource(b, source)
		setTarget(b, target)
		sealV4(b)
		return
	}
	clear(b[:v6Header])
	b[0], b[1] = 0x60|class>>4, class<<4
	be.PutUint16(b[v6Length:], uint16(len(b)-v6Header))
	b[v6Next], b[v6HopLimit] = protocol, hopLimit
	setSource(b, source)
	setTarget(b, target)
}

// minHeader is the length of an IP header without options in the family of an address.
func minHeader(a netip.Addr) int {
	if a.Is4() {
		return v4MinHeader
	}
	return v6Header
}

// sealV4 writes the IPv4 header's checksum.
func sealV4(b []byte) {
	be.PutUint16(b[v4Checksum:], 0)
	be.PutUint16(b[v4Checksum:], ^sum(b[:v4HeaderLength(b)]))
}

func setSource(b []byte, a netip.Addr) { putAddress(b, v4Source, v6Source, a) }
func setTarget(b []byte, a netip.Addr) { putAddress(b, v4Target, v6Target, a) }

func putAddress(b []byte, at4, at6 int, a netip.Addr) {
	if a.Is4() {
		four := a.As4()
		copy(b[at4:], four[:])
		return
	}
	sixteen := a.As16()
	copy(b[at6:], sixteen[:])
}
