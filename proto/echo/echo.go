// Package echo measures round trips to many hosts at once by ICMP echo (RFC 792, RFC 4443): the packets, lists of targets, and a
// Pinger, which has one socket for all targets of a family and tells what becomes of each request.
//
// It keeps counts of each target and hands each round trip to its caller: what these mean is not its business.
package echo

import "encoding/binary"

// Message is an ICMP echo request or reply (RFC 792 page 14, RFC 4443 section 4):
//
//	| type : 8 | code : 8 | checksum : 16 |
//	| identifier : 16     | sequence : 16 |
//	| payload …
type Message struct {
	Reply    bool
	Ident    uint16 // the kernel gives datagram sockets one of its own, whatever their requests say
	Sequence uint16
	Payload  []byte
}

// HeaderBytes is the length of a message without payload.
const HeaderBytes = 8

const (
	request4 = 8
	reply4   = 0
	request6 = 128
	reply6   = 129
)

// kinds are the types of requests and replies of a family.
func kinds(ipv6 bool) (request, reply uint8) {
	if ipv6 {
		return request6, reply6
	}
	return request4, reply4
}

// Append adds the message to b. The checksum of ICMPv6 covers addresses as well and is left to the kernel.
func (m Message) Append(b []byte, ipv6 bool) []byte {
	kind, reply := kinds(ipv6)
	if m.Reply {
		kind = reply
	}
	start := len(b)
	b = append(b, kind, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, m.Ident)
	b = binary.BigEndian.AppendUint16(b, m.Sequence)
	b = append(b, m.Payload...)
	if !ipv6 {
		binary.BigEndian.PutUint16(b[start+2:], checksum(b[start:]))
	}
	return b
}

// Parse reads an echo request or reply, whole or only its header as ICMP errors quote it; ok is false for anything else. The payload
// is part of packet. Checksums are for the kernel to verify.
func Parse(packet []byte, ipv6 bool) (m Message, ok bool) {
	request, reply := kinds(ipv6)
	if len(packet) < HeaderBytes || packet[1] != 0 || packet[0] != request && packet[0] != reply {
		return Message{}, false
	}
	return Message{Reply: packet[0] == reply, Ident: binary.BigEndian.Uint16(packet[4:]),
		Sequence: binary.BigEndian.Uint16(packet[6:]), Payload: packet[HeaderBytes:]}, true
}

// checksum is the Internet checksum (RFC 1071) of a packet whose checksum field is zero.
func checksum(packet []byte) uint16 {
	var sum uint64
	for ; len(packet) >= 2; packet = packet[2:] {
		sum += uint64(binary.BigEndian.Uint16(packet))
	}
	if len(packet) == 1 {
		sum += uint64(packet[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// Mark begins the payload of a request to one of many targets, so that its reply is known from whatever address it comes, and beyond
// the 16 bits of its sequence number:
//
//	| token : 64 | place : 32 | sequence : 32 |
type Mark struct {
	Token    uint64 // tells a reply to us from one to another process that happened to choose our identifier
	Place    uint32 // which target
	Sequence uint32 // which request to it, from 0; its lower half is the message's sequence number
}

// MarkBytes is the length of a Mark, and so the least payload of a request that has one.
const MarkBytes = 16

// Put writes the mark to the first MarkBytes of a payload.
func (m Mark) Put(payload []byte) {
	binary.BigEndian.PutUint64(payload, m.Token)
	binary.BigEndian.PutUint32(payload[8:], m.Place)
	binary.BigEndian.PutUint32(payload[12:], m.Sequence)
}

// MarkOf reads the mark that a payload begins with; ok is false of one that is too short.
func MarkOf(payload []byte) (m Mark, ok bool) {
	if len(payload) < MarkBytes {
		return Mark{}, false
	}
	return Mark{Token: binary.BigEndian.Uint64(payload), Place: binary.BigEndian.Uint32(payload[8:]),
		Sequence: binary.BigEndian.Uint32(payload[12:])}, true
}
