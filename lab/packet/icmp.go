package packet

import "net/netip"

// The ICMP header (RFC 792, RFC 4443 section 2.1), by byte. The last four depend on the type:
//
//	  +--------+--------+--------+--------+
//	0 |  type  |  code  |  checksum       |
//	4 |  identifier     |  sequence       |   echo request, echo reply
//	4 |  0              |  next-hop MTU   |   v4, unreachable: fragmentation needed (RFC 1191 section 4)
//	4 |  MTU                              |   v6, packet too big
//	  +--------+--------+--------+--------+
//	8 |  errors: the packet that it is about, or the beginning of it
const (
	icmpHeader   = 8
	icmpChecksum = 2
	icmpID       = 4
	icmpMTU      = 4
)

// Types of ICMP (RFC 792) and ICMPv6 (RFC 4443).
const (
	v4EchoReply     = 0
	v4Unreachable   = 3
	v4SourceQuench  = 4
	v4Redirect      = 5
	v4EchoRequest   = 8
	v4TimeExceeded  = 11
	v4BadParameter  = 12
	v6Unreachable   = 1
	v6PacketTooBig  = 2
	v6TimeExceeded  = 3
	v6BadParameter  = 4
	v6EchoRequest   = 128
	v6EchoReply     = 129
	v6Redirect      = 137 // RFC 4861
	v6Informational = 128 // types below are errors (RFC 4443 section 2.1)
)

// Trouble is what an ICMP error is about.
type Trouble uint8

// The troubles that a router or host tells a sender about.
const (
	HopsUsedUp Trouble = iota // time exceeded in transit
	NoRouteTo                 // no way to the target; v4: host unreachable, as RFC 7915 section 5.2 translates v6's
	PortClosed                // nobody listens
	TooBigFor                 // it exceeds the MTU of the next link
	Prohibited                // administratively filtered
	NoNetwork                 // no way to the network
	NoHost                    // no way to the host
	NoProtocol                // the protocol is not spoken
)

// codes are the type and code of each trouble.
var codes = [...]struct{ v4, v6 [2]byte }{
	HopsUsedUp: {[2]byte{v4TimeExceeded, 0}, [2]byte{v6TimeExceeded, 0}},
	NoRouteTo:  {[2]byte{v4Unreachable, 1}, [2]byte{v6Unreachable, 0}},
	PortClosed: {[2]byte{v4Unreachable, 3}, [2]byte{v6Unreachable, 4}},
	TooBigFor:  {[2]byte{v4Unreachable, 4}, [2]byte{v6PacketTooBig, 0}},
	Prohibited: {[2]byte{v4Unreachable, 13}, [2]byte{v6Unreachable, 1}},
	NoNetwork:  {[2]byte{v4Unreachable, 0}, [2]byte{v6Unreachable, 0}},
	NoHost:     {[2]byte{v4Unreachable, 1}, [2]byte{v6Unreachable, 3}},
	NoProtocol: {[2]byte{v4Unreachable, 2}, [2]byte{v6BadParameter, 1}},
}

// What an ICMP error may be long at most: RFC 1812 section 4.3.2.3, RFC 4443 section 2.4(c).
const (
	v4MaxError = 576
	v6MaxError = 1280
)

const (
	// routerHopLimit is what routers commonly send with.
	routerHopLimit = 255
	// errorClass is precedence "internetwork control" (DSCP CS6), which RFC 1812 section 4.3.2.5 asks of IPv4's errors.
	errorClass = 0xc0
)

// Complaint returns the ICMP error that from sends to a packet's source, or nil if none may be sent: about an ICMP
// error or redirect, a later fragment, a packet to many, or one from nobody in particular (RFC 1812 section 4.3.2.7,
// RFC 4443 section 2.4(e)), and if from is not an address of the packet's family. It quotes as much of the packet as
// may be, of a super-packet the first segment, with the checksums that it had on the wire. The MTU is for TooBigFor
// only.
func Complaint(o *Pool, from netip.Addr, about *Packet, what Trouble, mtu int) *Packet {
	return ComplaintTelling(o, from, about, what, mtu, Told{})
}

// ComplaintTelling is a Complaint of a router that tells more, or less, than others. Where it has extensions, and the error has a place for
// them, the quote is 128 bytes long, filled up with zeros.
func ComplaintTelling(o *Pool, from netip.Addr, about *Packet, what Trouble, mtu int, told Told) *Packet {
	from = from.Unmap()
	v4 := Version(about.Data) == 4
	if !from.IsValid() || from.Is4() != v4 || !mayComplain(about.Data, what) {
		return nil
	}
	protocol, class, most, code := byte(ProtocolICMPv6), byte(0), v6MaxError, codes[what].v6
	if v4 {
		protocol, class, most, code = ProtocolICMP, errorClass, v4MaxError, codes[what].v4
	}
	first := o.Cut(about, 0, 1)
	at := minHeader(from)
	quote := first.Data[:min(len(first.Data), most-at-icmpHeader)]
	if told.Quote > 0 {
		quote = quote[:min(len(quote), networkHeader(first.Data)+told.Quote)]
	}
	behind, size := told.extensions(), len(quote)
	lengthAt, unit := lengths(code[0], v4)
	if unit == 0 {
		behind = nil
	}
	if behind != nil {
		size = extendedQuote
	}
	c := o.Get(at + icmpHeader + size + len(behind))
	clear(c.Data[at+icmpHeader+copy(c.Data[at+icmpHeader:at+icmpHeader+size], quote):])
	copy(c.Data[at+icmpHeader+size:], behind)
	if told.HopLimit != nil && len(quote) > 0 {
		setHopLimit(c.Data[at+icmpHeader:], *told.HopLimit)
	}
	writeHeader(c.Data, from, Source(first.Data), protocol, class, routerHopLimit)
	o.Put(first)
	clear(c.Data[at : at+icmpHeader])
	copy(c.Data[at:], code[:])
	if what == TooBigFor {
		be.PutUint32(c.Data[at+icmpMTU:], uint32(min(max(mtu, 0), 0xffff)))
	}
	if behind != nil {
		c.Data[at+lengthAt] = byte(size / unit)
	}
	seal(c.Data, protocol, at)
	if told.Spoil == SpoilChecksum {
		c.Data[at+icmpChecksum] ^= 1
	}
	return c
}

func mayComplain(b []byte, what Trouble) bool {
	source, target := Source(b), Target(b)
	if source.IsUnspecified() || source.IsMulticast() || source.IsLoopback() {
		return false
	}
	if source.Is4() && (source.As4()[0] >= 240 || target == broadcast) { // class E, with the broadcast address
		return false
	}
	if target.IsMulticast() && (source.Is4() || what != TooBigFor) {
		return false
	}
	protocol, at := Transport(b)
	if isICMP(b, protocol) {
		return at >= 0 && !IsICMPError(b) && b[at] != v6Redirect
	}
	offset, _ := fragmentPlace(b)
	return offset == 0 || source.Is6() // RFC 4443 has nothing against later fragments
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// Everybody is the address of all hosts on a link, of the family of another: limited broadcast (RFC 919 section 7), or all nodes (RFC 4291
// section 2.7.1).
func Everybody(like netip.Addr) netip.Addr {
	if like.Unmap().Is4() {
		return broadcast
	}
	return netip.IPv6LinkLocalAllNodes()
}

// isICMP tells ICMP of the packet's own IP version.
func isICMP(b []byte, protocol byte) bool {
	return protocol == ProtocolICMP && b[0]>>4 == 4 || protocol == ProtocolICMPv6 && b[0]>>4 == 6
}

// IsICMPError reports whether the packet is an ICMP error, which quotes another packet.
func IsICMPError(b []byte) bool {
	protocol, at := Transport(b)
	if at < 0 || !isICMP(b, protocol) {
		return false
	}
	if protocol == ProtocolICMPv6 {
		return b[at] < v6Informational
	}
	switch b[at] {
	case v4Unreachable, v4SourceQuench, v4Redirect, v4TimeExceeded, v4BadParameter:
		return true
	}
	return false
}

// echo tells whether the packet is an echo request or reply, and where its ICMP header is.
func echo(b []byte) (request, reply bool, at int) {
	protocol, at := Transport(b)
	if at < 0 || !isICMP(b, protocol) {
		return false, false, -1
	}
	if protocol == ProtocolICMPv6 {
		return b[at] == v6EchoRequest, b[at] == v6EchoReply, at
	}
	return b[at] == v4EchoRequest, b[at] == v4EchoReply, at
}

// IsEchoRequest reports whether the packet is an echo request that can be answered, which a fragment cannot.
func IsEchoRequest(b []byte) bool {
	request, _, _ := echo(b)
	return request && !IsFragment(b)
}

// EchoReply turns an echo request into its reply, in place. A checksum that was wrong stays wrong.
func EchoReply(b []byte) {
	_, _, at := echo(b)
	source, target := Source(b), Target(b) // swapped: the checksums' sums stay
	setSource(b, target)
	setTarget(b, source)
	old := be.Uint16(b[at:])
	if source.Is4() {
		b[at] = v4EchoReply
		oldHop := be.Uint16(b[v4HopLimit:])
		b[v4HopLimit] = routerHopLimit
		mend(b[v4Checksum:], oldHop, be.Uint16(b[v4HopLimit:]))
	} else {
		b[at], b[v6HopLimit] = v6EchoReply, routerHopLimit
	}
	mend(b[at+icmpChecksum:], old, be.Uint16(b[at:]))
}
