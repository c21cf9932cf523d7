package stamp

import "encoding/binary"

// What may stand behind the first LeastBytes bytes, one after the other (RFC 8972 section 4):
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|U|M|I| reserved|      type     |       length of the value     |
//	|                             value                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// A sender sets U, and a reflector that knows the type clears it. What begins without U is padding of a sender that knows no TLVs, as those of
// TWAMP-light: it goes back as it came.
const (
	tlvHead      = 4
	notKnown     = 0x80 // U
	malformed    = 0x40 // M: the lengths do not add up, or one is not that of its type
	extraPadding = 1
	timeSources  = 3 // Timestamp Information
	class        = 4 // Class of Service
	counted      = 5 // Direct Measurement
	access       = 6 // Access Report: what the sender says of its network, which is for others to use
)

// lengths are those of the values of the types that are known; -1: any.
var lengths = map[byte]int{extraPadding: -1, timeSources: 4, class: 4, counted: 12, access: 4}

// Values of Timestamp Information (RFC 8972 section 4.3).
const (
	fromNTP         = 1
	freeRunning     = 5
	stampedByKernel = 2 // SW Local
)

// seen is what a reflector knows of a packet that its TLVs ask for.
type seen struct {
	tos          int    // DSCP and ECN as they arrived; -1: not known
	synchronised bool   // its clock
	came, left   uint32 // packets of the session that came, with this one, and answers that left, with this one
}

// answerTLVs turns TLVs into those of the answer, in place.
func answerTLVs(b []byte, s seen) {
	for len(b) >= tlvHead && b[0]&notKnown != 0 {
		kind, length := b[1], int(binary.BigEndian.Uint16(b[2:]))
		if length > len(b)-tlvHead {
			b[0] |= malformed
			return
		}
		value := b[tlvHead : tlvHead+length]
		if want, known := lengths[kind]; known {
			b[0] &^= notKnown
			if want >= 0 && length != want {
				b[0] |= malformed
			} else {
				s.fill(kind, value)
			}
		}
		b = b[tlvHead+length:]
	}
}

// fill fills in what a reflector says in the value of a TLV of a type.
func (s seen) fill(kind byte, value []byte) {
	switch kind {
	case timeSources: // | of arrivals: source, how stamped | of answers: source, how stamped |
		source := byte(freeRunning)
		if s.synchronised {
			source = fromNTP
		}
		copy(value, []byte{source, stampedByKernel, source, stampedByKernel})
	case class: // | DSCP wanted : 6 | DSCP that arrived : 6 | ECN that arrived : 2 | refused : 2 | reserved : 16 |
		word := binary.BigEndian.Uint16(value) & 0xfc00
		if s.tos >= 0 {
			word |= uint16(s.tos>>2)<<4 | uint16(s.tos&3)<<2
		}
		if word&0xfc00 != 0 { // answers leave without a mark: who sends here could have them sent in any class
			word |= 1
		}
		binary.BigEndian.PutUint16(value, word)
	case counted: // | packets that the sender sent : 32 | that came here : 32 | answers : 32 |
		binary.BigEndian.PutUint32(value[4:], s.came)
		binary.BigEndian.PutUint32(value[8:], s.left)
	}
}
