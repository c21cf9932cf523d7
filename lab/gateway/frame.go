package gateway

import (
	"encoding/binary"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// An Ethernet frame (IEEE 802.3 clause 3.1.1, IEEE 802.1Q clause 9.5) as packet.Packet holds it: the header in Frame, what
// follows in Data.
//
//	0        6        12      14               0
//	+--------+--------+-------+                +------------
//	| target | source | type  |                | Data          FrameLength 14
//	+--------+--------+-------+-------+------+ +------------
//	| target | source | TPID  |  tag  | type | | Data          FrameLength 18
//	+--------+--------+-------+-------+------+ +------------
const (
	addressLength = 6
	plainHeader   = 14
	taggedHeader  = 18
)

// Types of frames, after the header.
const (
	typeIPv4 = 0x0800
	typeIPv6 = 0x86dd
	typeLLDP = 0x88cc
	typeVLAN = 0x8100 // customer tag, where the kernel does not say which
)

var be = binary.BigEndian

type address [addressLength]byte

// fate is what becomes of a frame.
type fate uint8

const (
	crosses   fate = iota // IP: over the link
	neighbour             // neighbour discovery: takes the delay alone
	passes                // at once
	stays                 // is not for the other side
)

// fateOf decides about a frame that came in by an interface of the given address. The padding of one that crosses is cut.
func fateOf(p *packet.Packet, own address) fate {
	if target := address(p.Frame[:addressLength]); target == own || onOneWire(target) {
		return stays
	}
	switch be.Uint16(p.Frame[p.FrameLength-2:]) {
	case typeIPv4, typeIPv6:
	case typeLLDP:
		return stays // one of its addresses is spanning tree's
	default:
		return passes
	}
	whole, ok := packet.Whole(p.Data)
	if !ok {
		return passes
	}
	p.Data = whole
	if findsNeighbours(whole) {
		return neighbour
	}
	return crosses
}

// onOneWire tells the addresses that no bridge lets pass: 01-80-C2-00-00-01 to -0F (IEEE 802.1Q table 8-1). The table's
// first, which spanning tree uses, is left out: see the package's comment.
func onOneWire(target address) bool {
	last := target[addressLength-1]
	return target == address{0x01, 0x80, 0xc2, 0, 0, last} && last >= 0x01 && last <= 0x0f
}

// Router solicitation, the first of the types of neighbour discovery, and redirect, the last (RFC 4861 section 4). What has
// been forwarded, so that its hop limit is not 255, is no neighbour discovery.
const (
	firstDiscovery    = 133
	lastDiscovery     = 137
	discoveryHopLimit = 255
)

func findsNeighbours(b []byte) bool {
	if packet.Version(b) != 6 || packet.HopLimit(b) != discoveryHopLimit {
		return false
	}
	protocol, at := packet.Transport(b)
	return protocol == packet.ProtocolICMPv6 && at >= 0 && b[at] >= firstDiscovery && b[at] <= lastDiscovery
}

// setTag puts back the VLAN tag that the kernel took out of a received frame.
func setTag(p *packet.Packet, tpid, tag uint16) {
	f := &p.Frame
	copy(f[taggedHeader-2:], f[plainHeader-2:plainHeader])
	be.PutUint16(f[plainHeader-2:], tpid)
	be.PutUint16(f[plainHeader:], tag)
	p.FrameLength = taggedHeader
}

// answerTo addresses p to where a frame came from, in the same VLAN.
func answerTo(p, came *packet.Packet) {
	p.Frame, p.FrameLength = came.Frame, came.FrameLength
	copy(p.Frame[:], came.Frame[addressLength:2*addressLength])
	copy(p.Frame[addressLength:], came.Frame[:addressLength])
}
