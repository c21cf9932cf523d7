package stamp

import (
	"encoding/binary"
	"slices"
)

// Values of Timestamp Information (RFC 8972 sections 5.4 and 5.5).
const (
	fromNTP         = 1
	freeRunning     = 5
	stampedByKernel = 2 // SW Local
)

// Networks that an Access Report may tell of (RFC 8972 section 4.6).
const (
	access3GPP    = 1
	accessNot3GPP = 2
)

// seen is what a reflector knows of a packet that its TLVs ask for.
type seen struct {
	tos          int    // DSCP and ECN as they arrived; -1: not known
	marks        []int  // DSCPs that answers may be asked to leave with
	synchronised bool   // its clock
	counted      bool   // it counts the packets of the session:
	came, left   uint32 // those that came, with this one, and answers that left, with this one
}

// fill fills in what a reflector says in the value of a TLV of a type, and with which DSCP the answer leaves; false: it does not know.
func (s seen) fill(kind byte, value []byte, tos *int) bool {
	switch kind {
	case TimestampInfo: // | of arrivals: source, how stamped | of answers: source, how stamped |
		source := byte(freeRunning)
		if s.synchronised {
			source = fromNTP
		}
		copy(value, []byte{source, stampedByKernel, source, stampedByKernel})
	case ClassOfService:
		*tos = s.class(value)
	case DirectMeasurement: // | packets that the sender sent : 32 | that came here : 32 | answers : 32 |
		if !s.counted {
			return false
		}
		binary.BigEndian.PutUint32(value[4:], s.came)
		binary.BigEndian.PutUint32(value[8:], s.left)
	case AccessReport: // | network : 4 | 0 : 4 | return code : 8 | 0 : 16 |
		network := value[0] >> 4
		return network == access3GPP || network == accessNot3GPP
	}
	return true
}

// class fills in the value of Class of Service, and says with which DSCP and ECN the answer leaves: with the DSCP that is wanted if that is
// allowed, else with that of the packet, and says so (RFC 8972 section 4.4). A DSCP that the packet itself had, or 0, is always allowed.
//
//	| DSCP wanted : 6 | DSCP that arrived : 6 | ECN that arrived : 2 | refused : 2 | reserved : 16 |
func (s seen) class(value []byte) (tos int) {
	wanted, arrived := int(value[0]>>2), max(s.tos, 0)
	word := uint16(wanted)<<10 | uint16(arrived>>2)<<4 | uint16(arrived&3)<<2
	if wanted != 0 && wanted != arrived>>2 && !slices.Contains(s.marks, wanted) {
		word |= 1
		wanted = arrived >> 2
	}
	binary.BigEndian.PutUint16(value, word)
	return wanted << 2
}
