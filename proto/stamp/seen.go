package stamp

import (
	"encoding/binary"
	"slices"
)

// Sources of clocks in Timestamp Information (RFC 8972 section 5.4).
const (
	fromNTP     = 1
	freeRunning = 5
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
	before       FollowUp
	room         int // bytes that the answer may have at most
}

// leaving is how an answer leaves.
type leaving struct {
	tos     int  // its DSCP and ECN
	stamped bool // the kernel is to say when, for the answer that follows
	bytes   int  // that it shall have, none of which a router may cut off; 0: as many as the probe
	refused bool // the length that was asked for
}

// fill fills in what a reflector says in the value of a TLV of a type, and how the answer leaves; false: it does not know.
func (s seen) fill(kind byte, value []byte, how *leaving) bool {
	switch kind {
	case TimestampInfo: // | of arrivals: source, how stamped | of answers: source, how stamped |
		source := byte(freeRunning)
		if s.synchronised {
			source = fromNTP
		}
		copy(value, []byte{source, stampedByKernel, source, stampedByKernel})
	case ClassOfService:
		how.tos = s.class(value)
	case DirectMeasurement:
		if !s.counted {
			return false
		}
		Counters{binary.BigEndian.Uint32(value), s.came, s.left}.Put(value)
	case FollowUpTelemetry: // of a session that is not counted nothing is known, and that is what it says (RFC 8972 section 4.7)
		s.before.Put(value)
		how.stamped = s.counted
	case AccessReport: // | network : 4 | 0 : 4 | return code : 8 | 0 : 16 |
		network := value[0] >> 4
		return network == access3GPP || network == accessNot3GPP
	case ReflectedControl:
		bytes, asAsked, ok := s.control(value)
		how.bytes, how.refused = bytes, !asAsked
		return ok
	}
	return true
}

// class fills in the value of Class of Service, and says with which DSCP and ECN the answer leaves: with the DSCP that is wanted if that is
// allowed, else with that of the packet, and says so (RFC 8972 section 4.4). A DSCP that the packet itself had, or 0, is always allowed.
func (s seen) class(value []byte) (tos int) {
	arrived := max(s.tos, 0)
	c := Class{Wanted: int(value[0] >> 2), DSCP: arrived >> 2, ECN: arrived & 3}
	c.Refused = c.Wanted != 0 && c.Wanted != c.DSCP && !slices.Contains(s.marks, c.Wanted)
	c.Put(value)
	return c.Left() << 2
}
