package packet

// Protocol numbers (IANA) that this package looks into.
const (
	ProtocolICMP   = 1
	ProtocolTCP    = 6
	ProtocolUDP    = 17
	ProtocolICMPv6 = 58

	protocolDCCP    = 33 // these three begin with their ports, as TCP and UDP do
	protocolSCTP    = 132
	protocolUDPLite = 136
)

// IPv6 extension headers (RFC 8200 section 4; AH: RFC 4302; mobility: RFC 6275). All but two give their length in units
// of 8 bytes beyond the first 8:
//
//	 0        1        2        3
//	+--------+--------+--------+--------+
//	|  next  | length | …               |   AH: length in units of 4 bytes, less 2
//	+--------+--------+--------+--------+
//	|  next  |reserved| offset      00M |   fragment header: 8 bytes; its offset counts 8 bytes, in the upper 13 bits
//	| identification                    |
//	+--------+--------+--------+--------+
const (
	hopByHop       = 0
	routing        = 43
	fragment       = 44
	authentication = 51
	destination    = 60
	mobility       = 135
)

// minTransport is the least that Transport takes for a transport header: what ICMP errors have always quoted (RFC 792),
// and the whole of UDP's and ICMP's header.
const minTransport = 8

// Transport returns the packet's transport protocol, after IPv6 extension headers, and the offset of its header. The
// offset is -1 in a later fragment, and if fewer than 8 bytes of that header are there.
func Transport(b []byte) (protocol byte, at int) {
	if b[0]>>4 == 6 {
		return transportV6(b)
	}
	at = v4HeaderLength(b)
	if be.Uint16(b[v4Fragment:])&offsetMask != 0 || at+minTransport > len(b) {
		at = -1
	}
	return b[v4Protocol], at
}

func transportV6(b []byte) (protocol byte, at int) {
	protocol, at = b[v6Next], v6Header
	for at+minTransport <= len(b) {
		switch protocol {
		case hopByHop, routing, destination, mobility:
			protocol, at = b[at], at+8+int(b[at+1])*8
		case authentication:
			protocol, at = b[at], at+8+int(b[at+1])*4
		case fragment:
			if be.Uint16(b[at+2:])&^7 != 0 {
				return b[at], -1
			}
			protocol, at = b[at], at+8
		default:
			return protocol, at
		}
	}
	return protocol, -1
}

// IsFragment reports whether the packet is a part of one that was fragmented, be it the first.
func IsFragment(b []byte) bool {
	offset, more := fragmentPlace(b)
	return offset > 0 || more
}

// fragmentPlace returns where in the whole packet's data a fragment belongs, and whether more follow it; 0 and false
// for what is no fragment, or all of one (RFC 6946).
func fragmentPlace(b []byte) (offset int, more bool) {
	if b[0]>>4 == 4 {
		place := be.Uint16(b[v4Fragment:])
		return int(place&offsetMask) * 8, place&moreToCome != 0
	}
	at, found := beforeFragment(b)
	if !found {
		return 0, false
	}
	place := be.Uint16(b[at+2:])
	return int(place &^ 7), place&1 != 0
}

// beforeFragment walks over the IPv6 extension headers that may stand before a fragment header. It returns where it
// stopped, and whether a fragment header begins there.
func beforeFragment(b []byte) (at int, found bool) {
	next, at := b[v6Next], v6Header
	for at+minTransport <= len(b) {
		switch next {
		case hopByHop, routing, destination:
			next, at = b[at], at+8+int(b[at+1])*8
		default:
			return at, next == fragment
		}
	}
	return at, false
}

// Ports returns the ports of TCP, UDP, SCTP, DCCP and UDP-Lite.
func Ports(b []byte) (source, target uint16, ok bool) {
	protocol, at := Transport(b)
	if at < 0 || !hasPorts(protocol) {
		return 0, 0, false
	}
	return be.Uint16(b[at:]), be.Uint16(b[at+2:]), true
}

func hasPorts(protocol byte) bool {
	switch protocol {
	case ProtocolTCP, ProtocolUDP, protocolSCTP, protocolDCCP, protocolUDPLite:
		return true
	}
	return false
}

// The UDP header (RFC 768), by byte:
//
//	  +--------+--------+--------+--------+
//	0 |  source port    |  target port    |
//	4 |  length         |  checksum       |
//	  +--------+--------+--------+--------+
const (
	udpHeader   = 8
	udpLength   = 4
	udpChecksum = 6
)

// behind returns where the payload begins: behind the transport header if that is known and whole, else behind the IP
// header and its extensions. It is at most len(b).
func behind(b []byte) int {
	protocol, at := Transport(b)
	if at < 0 {
		return min(len(b), networkHeader(b))
	}
	switch protocol {
	case ProtocolTCP:
		if n := tcpHeaderLength(b, at); n > 0 {
			return at + n
		}
	case ProtocolUDP:
		return at + udpHeader
	case ProtocolICMP, ProtocolICMPv6:
		return at + icmpHeader
	}
	return at
}

// networkHeader is the length of the IP header, with the extension headers of an IPv6 packet up to and with a fragment
// header; of a packet cut short it may be more than is there.
func networkHeader(b []byte) int {
	if b[0]>>4 == 4 {
		return v4HeaderLength(b)
	}
	at, found := beforeFragment(b)
	if found {
		at += 8
	}
	return at
}
