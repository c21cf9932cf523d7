package probe

import (
	"encoding/binary"
	"net/netip"

	"github.com/pathwise-net/pathwise/proto/changed"
	"github.com/pathwise-net/pathwise/proto/icmp"
)

// segment is the header of a TCP segment (RFC 9293, 3.1), as far as probes need it:
//
//	| source port : 16        | destination port : 16 |
//	| sequence number : 32                            |
//	| acknowledgement number : 32                     |
//	| words : 4 | 0 : 4 | flags : 8 | window : 16     |
//	| checksum : 16           | urgent pointer : 16   |
//	| options …               | data …                |
type segment struct {
	from, to uint16 // ports
	seq, ack uint32
	flags    uint8
}

// Flags of a segment (RFC 9293, 3.1).
const (
	flagFIN  = 0x01
	flagSYN  = 0x02
	flagRST  = 0x04
	flagPSH  = 0x08
	flagACK  = 0x10
	flagsECN = 0xc0 // ECE and CWR: a SYN asks for ECN (RFC 3168, 6.1.1)
)

const (
	segmentHeader = 20 // bytes, without options
	// synWindow and synMSS are what a SYN that wants no connection says: as any other does, so that nothing on the way minds it.
	synWindow = 64240
	synMSS    = 1460
	synHeader = segmentHeader + 4 // with the MSS
)

// marshal encodes a SYN whose only option is the MSS.
func (s segment) marshal(source, target netip.Addr) []byte {
	return s.marshalWith(mssOption(synMSS), nil, source, target)
}

// marshalWith encodes a segment with options, which fill words of four bytes, and data. Its checksum covers what the IP header has of the two addresses, too.
func (s segment) marshalWith(options, data []byte, source, target netip.Addr) []byte {
	header := segmentHeader + len(options)
	p := make([]byte, header+len(data))
	binary.BigEndian.PutUint16(p[0:], s.from)
	binary.BigEndian.PutUint16(p[2:], s.to)
	binary.BigEndian.PutUint32(p[4:], s.seq)
	binary.BigEndian.PutUint32(p[8:], s.ack)
	p[12], p[13] = byte(header/4)<<4, s.flags
	binary.BigEndian.PutUint16(p[14:], synWindow)
	copy(p[segmentHeader:], options)
	copy(p[header:], data)
	pseudo := append(source.AsSlice(), target.AsSlice()...) // RFC 9293, 3.1; RFC 8200, 8.1: the same sum for both families
	pseudo = binary.BigEndian.AppendUint32(pseudo, uint32(len(p)))
	pseudo = binary.BigEndian.AppendUint32(pseudo, icmp.ProtocolTCP)
	binary.BigEndian.PutUint16(p[16:], icmp.Checksum(append(pseudo, p...)))
	return p
}

// mssOption is the option that names the MSS (RFC 9293, 3.7.1).
func mssOption(mss uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{changed.OptionMSS, 4}, mss)
}

// parseSegment decodes the header of a segment. What an ICMP error quotes of one may be its first 8 bytes alone: then there are
// no flags. ok is false of anything shorter.
func parseSegment(p []byte) (s segment, ok bool) {
	if len(p) < 8 {
		return segment{}, false
	}
	s = segment{from: binary.BigEndian.Uint16(p[0:]), to: binary.BigEndian.Uint16(p[2:]), seq: binary.BigEndian.Uint32(p[4:])}
	if len(p) >= segmentHeader {
		s.ack, s.flags = binary.BigEndian.Uint32(p[8:]), p[13]
	}
	return s, true
}

// segmentData is what stands behind the header of a segment, and is part of p; ok is false where p has no whole header.
func segmentData(p []byte) (data []byte, ok bool) {
	if len(p) < segmentHeader {
		return nil, false
	}
	header := int(p[12]>>4) * 4
	if header < segmentHeader || header > len(p) {
		return nil, false
	}
	return p[header:], true
}
