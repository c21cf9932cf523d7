package lab

import (
	"encoding/binary"
	"net/netip"
)

// The IPv4 header (RFC 791 section 3.1), as far as a router looks at it:
//
//	 0      1      2      3
//	+------+------+------+------+
//	|ver ihl| tos | total length|
//	| identification|flags offs |
//	| TTL  | proto| checksum    |
//	| source address            |
//	| destination address       |
const (
	ipv4MinHeader = 20
	offTotal      = 2
	offFragment   = 6
	offTTL        = 8
	offProtocol   = 9
	offChecksum   = 10
	offSource     = 12
	offTarget     = 16
)

const (
	protocolICMP = 1
	protocolTCP  = 6
	protocolUDP  = 17
)

// ICMP types and codes (RFC 792).
const (
	icmpEchoReply       = 0
	icmpUnreachable     = 3
	icmpEchoRequest     = 8
	icmpTimeExceeded    = 11
	codeHostUnreachable = 1
	codePortUnreachable = 3
)

// validIPv4 reports whether b is one IPv4 packet whose header can be read, and cuts padding behind it.
func validIPv4(b []byte) ([]byte, bool) {
	if len(b) < ipv4MinHeader || b[0]>>4 != 4 {
		return nil, false
	}
	total, header := int(binary.BigEndian.Uint16(b[offTotal:])), headerLength(b)
	if header < ipv4MinHeader || total < header || total > len(b) {
		return nil, false
	}
	return b[:total], true
}

func headerLength(b []byte) int     { return int(b[0]&0x0f) * 4 }
func source(b []byte) netip.Addr    { return netip.AddrFrom4([4]byte(b[offSource:])) }
func target(b []byte) netip.Addr    { return netip.AddrFrom4([4]byte(b[offTarget:])) }
func laterFragment(b []byte) bool   { return binary.BigEndian.Uint16(b[offFragment:])&0x1fff != 0 }
func payload(b []byte) []byte       { return b[headerLength(b):] }
func setChecksum(b []byte, off int) { binary.BigEndian.PutUint16(b[off:], 0); putChecksum(b, off) }
func putChecksum(b []byte, off int) { binary.BigEndian.PutUint16(b[off:], checksum(b)) }
func isICMP(b []byte, typ byte) bool {
	return b[offProtocol] == protocolICMP && icmpType(b) == int(typ)
}

// icmpType returns the ICMP type, or -1 if it cannot be seen.
func icmpType(b []byte) int {
	if laterFragment(b) || len(payload(b)) < 8 {
		return -1
	}
	return int(payload(b)[0])
}

// decrementTTL lowers the TTL by one and mends the header checksum (RFC 1624).
func decrementTTL(b []byte) {
	b[offTTL]--
	sum := uint32(binary.BigEndian.Uint16(b[offChecksum:])) + 0x0100
	binary.BigEndian.PutUint16(b[offChecksum:], uint16(sum+sum>>16))
}

// checksum is the Internet checksum (RFC 1071) of b.
func checksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// mayAnswerWithError reports whether an ICMP error may be sent about b: never about an ICMP error, a later fragment,
// or a packet from nobody in particular (RFC 1812 section 4.3.2.7).
func mayAnswerWithError(b []byte) bool {
	if laterFragment(b) || !source(b).IsPrivate() {
		return false
	}
	if b[offProtocol] != protocolICMP {
		return true
	}
	t := icmpType(b)
	return t == icmpEchoRequest || t == icmpEchoReply
}

// maxQuoted keeps an ICMP error within 576 bytes (RFC 1812 section 4.3.2.3).
const maxQuoted = 576 - ipv4MinHeader - 8

// icmpError writes into buf the ICMP error that a router at from sends about the packet b, and returns it.
func icmpError(buf []byte, from netip.Addr, typ, code byte, b []byte) []byte {
	quoted := b[:min(len(b), maxQuoted)]
	out := ipv4Header(buf, from, source(b), 8+len(quoted))
	icmp := out[ipv4MinHeader:]
	copy(icmp, []byte{typ, code, 0, 0, 0, 0, 0, 0})
	copy(icmp[8:], quoted)
	putChecksum(icmp, 2)
	return out
}

// echoReply turns an echo request into its reply, in place.
func echoReply(b []byte) {
	src, dst := source(b).As4(), target(b).As4()
	copy(b[offSource:], dst[:])
	copy(b[offTarget:], src[:])
	b[offTTL] = routerTTL
	setChecksum(b[:headerLength(b)], offChecksum)
	icmp := payload(b)
	icmp[0] = icmpEchoReply
	setChecksum(icmp, 2)
}

// routerTTL is what routers commonly send with.
const routerTTL = 255

func ipv4Header(buf []byte, from, to netip.Addr, payloadLength int) []byte {
	out := buf[:ipv4MinHeader+payloadLength]
	clear(out[:ipv4MinHeader])
	out[0] = 0x45
	binary.BigEndian.PutUint16(out[offTotal:], uint16(len(out)))
	out[offTTL], out[offProtocol] = routerTTL, protocolICMP
	src, dst := from.As4(), to.As4()
	copy(out[offSource:], src[:])
	copy(out[offTarget:], dst[:])
	putChecksum(out[:ipv4MinHeader], offChecksum)
	return out
}
