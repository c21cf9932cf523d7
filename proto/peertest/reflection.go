package peertest

import (
	"bytes"
	"encoding/binary"
)

// Reflection is a test packet of a TWAMP reflector (RFC 5357 section 4.2.1):
//
//	open             Sequence Number (4) | Timestamp (8) | Error Estimate (2) | MBZ (2) | Receive Timestamp (8)
//	                 Sender Sequence Number (4) | Sender Timestamp (8) | Sender Error Estimate (2) | MBZ (2) | Sender TTL (1) | Padding
//	secure           Sequence Number (4) | MBZ (12) | Timestamp (8) | Error Estimate (2) | MBZ (6)
//	                 Receive Timestamp (8) | MBZ (8) | Sender Sequence Number (4) | MBZ (12)
//	                 Sender Timestamp (8) | Sender Error Estimate (2) | MBZ (6) | Sender TTL (1) | MBZ (15) | HMAC (16) | Padding
//
// Authenticated mode encrypts the first 16 octets and has the HMAC over them; encrypted mode has all 96 before the HMAC.
type Reflection struct {
	Seq         uint32
	Sent        Timestamp
	Error       ErrorEstimate
	Received    Timestamp
	SenderSeq   uint32
	SenderSent  Timestamp
	SenderError ErrorEstimate
	SenderTTL   byte
	Padding     []byte
}

const (
	openReflection   = 41  // octets without padding
	secureReflection = 112 // the same in the secure modes
)

// Encode makes the octets of a reflection.
func (r Reflection) Encode(mode Mode, keys Keys) []byte {
	if mode.ofPackets() == Open {
		b := make([]byte, openReflection, openReflection+len(r.Padding))
		binary.BigEndian.PutUint32(b, r.Seq)
		binary.BigEndian.PutUint64(b[4:], uint64(r.Sent))
		binary.BigEndian.PutUint16(b[12:], uint16(r.Error))
		binary.BigEndian.PutUint64(b[16:], uint64(r.Received))
		binary.BigEndian.PutUint32(b[24:], r.SenderSeq)
		binary.BigEndian.PutUint64(b[28:], uint64(r.SenderSent))
		binary.BigEndian.PutUint16(b[36:], uint16(r.SenderError))
		b[40] = r.SenderTTL
		return append(b, r.Padding...)
	}
	b := make([]byte, secureReflection, secureReflection+len(r.Padding))
	binary.BigEndian.PutUint32(b, r.Seq)
	binary.BigEndian.PutUint64(b[16:], uint64(r.Sent))
	binary.BigEndian.PutUint16(b[24:], uint16(r.Error))
	binary.BigEndian.PutUint64(b[32:], uint64(r.Received))
	binary.BigEndian.PutUint32(b[48:], r.SenderSeq)
	binary.BigEndian.PutUint64(b[64:], uint64(r.SenderSent))
	binary.BigEndian.PutUint16(b[72:], uint16(r.SenderError))
	b[80] = r.SenderTTL
	sealPacket(b, mode, keys)
	return append(b, r.Padding...)
}

// DecodeReflection reads a reflection, its HMAC and what must be zero.
func DecodeReflection(b []byte, mode Mode, keys Keys) (Reflection, error) {
	const section = "RFC 5357 section 4.2.1"
	if mode.ofPackets() == Open {
		if len(b) < openReflection {
			return Reflection{}, violated(section, "a reflected packet has %d octets, want %d at least", len(b), openReflection)
		}
		r := Reflection{binary.BigEndian.Uint32(b), Timestamp(binary.BigEndian.Uint64(b[4:])), ErrorEstimate(binary.BigEndian.Uint16(b[12:])),
			Timestamp(binary.BigEndian.Uint64(b[16:])), binary.BigEndian.Uint32(b[24:]), Timestamp(binary.BigEndian.Uint64(b[28:])),
			ErrorEstimate(binary.BigEndian.Uint16(b[36:])), b[40], b[openReflection:]}
		return r, first(r.Error.check(), zero(section, "MBZ after Error Estimate", b[14:16]),
			zero(section, "MBZ after Sender Error Estimate", b[38:40]))
	}
	if len(b) < secureReflection {
		return Reflection{}, violated(section, "a reflected packet has %d octets, want %d at least", len(b), secureReflection)
	}
	head := bytes.Clone(b[:secureReflection])
	if err := openPacket(section, head, mode, keys); err != nil {
		return Reflection{}, err
	}
	r := Reflection{binary.BigEndian.Uint32(head), Timestamp(binary.BigEndian.Uint64(head[16:])),
		ErrorEstimate(binary.BigEndian.Uint16(head[24:])), Timestamp(binary.BigEndian.Uint64(head[32:])),
		binary.BigEndian.Uint32(head[48:]), Timestamp(binary.BigEndian.Uint64(head[64:])),
		ErrorEstimate(binary.BigEndian.Uint16(head[72:])), head[80], b[secureReflection:]}
	return r, first(r.Error.check(), zero(section, "MBZ after Sequence Number", head[4:16]), zero(section, "MBZ after Error Estimate", head[26:32]),
		zero(section, "MBZ after Receive Timestamp", head[40:48]), zero(section, "MBZ after Sender Sequence Number", head[52:64]),
		zero(section, "MBZ after Sender Error Estimate", head[74:80]), zero(section, "MBZ after Sender TTL", head[81:96]))
}
