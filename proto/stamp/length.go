package stamp

import "encoding/binary"

// Control is the value of Reflected Test Packet Control (RFC 10052 section 3): how long the answer shall be, so that one way is measured by packets of
// a size and the other is not.
//
//	| bytes of the answer's payload : 16 | answers : 16 | time between them, ns : 32 | head of a part of its own, which is not used : 32 |
//
// The answer is of that length where it is one alone and no longer than the probe, so that whoever forges a sender's address sends as much as that one gets,
// and has room for what has to be in it. Else it is as long as the probe, and C is set.
type Control struct {
	Bytes int // of the answer's UDP payload; 0: as many as the probe has
}

// ControlBytes is how long it is.
const ControlBytes = 12

const controlFixed = 8 // without the part of its own

// Put writes it over the first ControlBytes bytes of b.
func (c Control) Put(b []byte) {
	clear(b[:ControlBytes])
	binary.BigEndian.PutUint16(b, uint16(c.Bytes))
	binary.BigEndian.PutUint16(b[2:], 1)
}

// control is how long an answer shall be by the value of a TLV; asAsked is false where that is not to be had, and ok where the value is none.
func (s seen) control(value []byte) (bytes int, asAsked, ok bool) {
	if len(value) < controlFixed {
		return 0, false, false
	}
	bytes = int(binary.BigEndian.Uint16(value))
	if answers := binary.BigEndian.Uint16(value[2:]); answers > 1 || bytes > s.room {
		return 0, false, true
	}
	return bytes, true, true
}

// resized is a packet, whose TLVs begin at a place, made as long as is wanted, by what extra padding stands at its end. What is not padding stays: it is
// longer then than was wanted, and it is up to three bytes shorter where there is no room for the head of a TLV.
func resized(packet []byte, at, want int) []byte {
	end := at
	for rest := packet[at:]; ; {
		tlv, after, is := first(rest, 0)
		if !is {
			break
		}
		if rest = after; tlv[1] != ExtraPadding {
			end = len(packet) - len(rest)
		}
	}
	packet = packet[:end]
	if padding := want - end - tlvHead; padding >= 0 {
		packet = append(packet, 0, ExtraPadding)
		packet = binary.BigEndian.AppendUint16(packet, uint16(padding))
		packet = append(packet, make([]byte, padding)...)
	}
	return packet
}
