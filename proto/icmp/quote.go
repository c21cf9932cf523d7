package icmp

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
)

// Quote is what an ICMP error shows of the packet that it is about: the packet as it was where the error was made. Of the transport
// header it may have 8 bytes alone (RFC 792), or none of an IPv6 packet whose options fill the quote.
type Quote struct {
	IPv6     bool
	From, To netip.Addr
	TTL      uint8 // what was left of it
	DSCP     uint8 // 0..63
	ECN      uint8 // 0..3
	ID       uint16
	Flow     uint32 // IPv6: the flow label
	Length   int    // bytes that the packet had, by its own header
	Protocol uint8
	// DontFragment is IPv4's flag. IPv6 has none: its routers never fragment.
	DontFragment bool
	// Transport is the quote from the transport header on, without the zeros of a router that quotes no more than leastTransport of it. It is nil of a fragment
	// that is not the first.
	Transport []byte
}

var errQuote = errors.New("ICMP error quotes no IP header")

// Numbers of protocols (IANA), and of IPv6's extension headers (RFC 8200, 4).
const (
	ProtocolICMP   = 1
	ProtocolTCP    = 6
	ProtocolUDP    = 17
	ProtocolICMPv6 = 58

	hopByHop    = 0
	routing     = 43
	fragment    = 44
	destination = 60
)

// The IP headers that are quoted (RFC 791, 3.1; RFC 8200, 3), by byte:
//
//	   IPv4                                      IPv6
//	 0 |ver| ihl|dscp|ecn|  total length   |     0 |ver|dscp |ecn|  flow label         |
//	 4 | identification  |flags, offset    |     4 | payload length  |  next  |hop lim.|
//	 8 |  TTL   |protocol| header checksum |     8 | source address (16 bytes)         |
//	12 | source address                    |    24 | target address (16 bytes)         |
//	16 | target address                    |    40 | extension headers, transport header
//	20 | options, transport header
const (
	header4    = 20
	header6    = 40
	offsetMask = 0x1fff

	dontFragment = 0x40 // in the byte of flags

	leastTransport = 8 // bytes of the transport header that each quote has (RFC 792)
)

// ParseQuote decodes the beginning of an IP packet. What lies behind the length that the packet had is left away. The Transport points
// into b.
func ParseQuote(b []byte) (Quote, error) {
	switch {
	case len(b) >= header4 && b[0]>>4 == 4:
		return parse4(b)
	case len(b) >= header6 && b[0]>>4 == 6:
		return parse6(b), nil
	}
	return Quote{}, errQuote
}

func parse4(b []byte) (Quote, error) {
	long := int(b[0]&0xf) * 4
	if long < header4 || long > len(b) {
		return Quote{}, errQuote
	}
	q := Quote{From: netip.AddrFrom4([4]byte(b[12:])), To: netip.AddrFrom4([4]byte(b[16:])), TTL: b[8], DSCP: b[1] >> 2, ECN: b[1] & 3,
		ID: binary.BigEndian.Uint16(b[4:]), Length: int(binary.BigEndian.Uint16(b[2:])), Protocol: b[9],
		DontFragment: b[6]&dontFragment != 0}
	if binary.BigEndian.Uint16(b[6:])&offsetMask == 0 {
		q.Transport = unfilled(upTo(b, q.Length)[min(long, len(upTo(b, q.Length))):])
	}
	return q, nil
}

func parse6(b []byte) Quote {
	word := binary.BigEndian.Uint32(b)
	q := Quote{IPv6: true, From: netip.AddrFrom16([16]byte(b[8:])), To: netip.AddrFrom16([16]byte(b[24:])), TTL: b[7],
		DSCP: uint8(word>>22) & 63, ECN: uint8(word>>20) & 3, Flow: word & 0xfffff, Length: header6 + int(binary.BigEndian.Uint16(b[4:])), Protocol: b[6]}
	q.Protocol, q.Transport = pastOptions(q.Protocol, upTo(b, q.Length)[header6:])
	return q
}

// pastOptions goes over the extension headers of IPv6. Each is at least 8 bytes long, so this ends.
func pastOptions(next uint8, b []byte) (protocol uint8, transport []byte) {
	for next == hopByHop || next == routing || next == destination || next == fragment {
		if len(b) < 8 {
			return next, nil
		}
		long := 8 + 8*int(b[1])
		if next == fragment {
			if long = 8; binary.BigEndian.Uint16(b[2:])>>3 != 0 { // a later fragment
				return b[0], nil
			}
		}
		if long > len(b) {
			return b[0], nil
		}
		next, b = b[0], b[long:]
	}
	return next, unfilled(b)
}

// unfilled is a quote from the transport header on without zeros that a router put where it quotes no more: those who quote the least have to fill it up to 128 bytes
// before extensions (RFC 4884, 3), which may be less than the packet had. No TCP header is zero there.
func unfilled(transport []byte) []byte {
	if len(transport) > leastTransport && !slices.ContainsFunc(transport[leastTransport:], func(b byte) bool { return b != 0 }) {
		return transport[:leastTransport]
	}
	return transport
}

// upTo is b without what lies behind a packet of a length: routers fill quotes up with zeros. A length of 0 is of a packet that an
// adapter had yet to cut, which says nothing.
func upTo(b []byte, length int) []byte {
	if length == 0 || length > len(b) {
		return b
	}
	if b[0]>>4 == 6 {
		return b[:max(length, header6)]
	}
	return b[:max(length, int(b[0]&0xf)*4)]
}

// Ports are the ports of a quoted UDP or TCP packet.
func (q Quote) Ports() (from, to uint16, ok bool) {
	if q.Protocol != ProtocolUDP && q.Protocol != ProtocolTCP || len(q.Transport) < 4 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(q.Transport), binary.BigEndian.Uint16(q.Transport[2:]), true
}

// UDP is the rest of a quoted UDP header (RFC 768), and what is quoted of its payload.
func (q Quote) UDP() (length int, checksum uint16, payload []byte, ok bool) {
	if q.Protocol != ProtocolUDP || len(q.Transport) < 8 {
		return 0, 0, nil, false
	}
	return int(binary.BigEndian.Uint16(q.Transport[4:])), binary.BigEndian.Uint16(q.Transport[6:]), q.Transport[8:], true
}

// Sequence is the sequence number of a quoted TCP segment, which the least quote has.
func (q Quote) Sequence() (sequence uint32, ok bool) {
	if q.Protocol != ProtocolTCP || len(q.Transport) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint32(q.Transport[4:]), true
}

// Types of ICMP echo requests (RFC 792, RFC 4443).
const (
	echo4 = 8
	echo6 = 128
)

// Echo is what tells a quoted echo request from others.
func (q Quote) Echo() (identifier, sequence, checksum uint16, ok bool) {
	protocol, kind := uint8(ProtocolICMP), uint8(echo4)
	if q.IPv6 {
		protocol, kind = ProtocolICMPv6, echo6
	}
	if q.Protocol != protocol || len(q.Transport) < 8 || q.Transport[0] != kind {
		return 0, 0, 0, false
	}
	word := binary.BigEndian.Uint16
	return word(q.Transport[4:]), word(q.Transport[6:]), word(q.Transport[2:]), true
}
