package probe

import (
	"encoding/binary"
	"net/netip"
)

// segment is a TCP segment without data (RFC 9293, 3.1), as far as a ping by SYN needs it:
//
//	| source port : 16        | destination port : 16 |
//	| sequence number : 32                            |
//	| acknowledgement number : 32                     |
//	| words : 4 | 0 : 4 | flags : 8 | window : 16     |
//	| checksum : 16           | urgent pointer : 16   |
//	| options …
type segment struct {
	from, to uint16 // ports
	seq, ack uint32
	flags    uint8
}

const (
	segmentHeader = 20
	flagSYN       = 0x02
	flagRST       = 0x04
	flagACK       = 0x10
	// synWindow and synMSS are what a SYN that wants no connection says: as any other does, so that nothing on the way minds it.
	synWindow = 64240
	synMSS    = 1460
	mssOption = 2                 // its kind (RFC 9293, 3.1)
	synHeader = segmentHeader + 4 // with the option: its kind, its length and the MSS
)

// marshal encodes a SYN with an MSS, and its checksum over what the IP header has of the two addresses.
func (s segment) marshal(source, target netip.Addr) []byte { return s.marshalWith(0, source, target) }

// marshalWith encodes a SYN that carries so many bytes of zeros.
func (s segment) marshalWith(zeros int, source, target netip.Addr) []byte {
	p := make([]byte, synHeader+zeros)
	binary.BigEndian.PutUint16(p[0:], s.from)
	binary.BigEndian.PutUint16(p[2:], s.to)
	binary.BigEndian.PutUint32(p[4:], s.seq)
	binary.BigEndian.PutUint32(p[8:], s.ack)
	p[12], p[13] = synHeader/4<<4, s.flags
	binary.BigEndian.PutUint16(p[14:], synWindow)
	p[20], p[21] = mssOption, 4
	binary.BigEndian.PutUint16(p[22:], synMSS)
	const protocolTCP = 6
	pseudo := append(source.AsSlice(), target.AsSlice()...) // RFC 9293, 3.1; RFC 8200, 8.1: the same sum for both families
	pseudo = binary.BigEndian.AppendUint32(pseudo, uint32(len(p)))
	pseudo = binary.BigEndian.AppendUint32(pseudo, protocolTCP)
	binary.BigEndian.PutUint16(p[16:], checksum(append(pseudo, p...)))
	return p
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
