package stamp

import (
	"encoding/binary"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Counters is the value of Direct Measurement (RFC 8972 section 4.5). A sender writes the first alone.
//
//	| packets that the sender sent : 32 | that came to the reflector : 32 | its answers : 32 |
type Counters struct{ Sent, Came, Answered uint32 }

// CountersBytes is how long it is.
const CountersBytes = 12

// Put writes it over the first CountersBytes bytes of b.
func (c Counters) Put(b []byte) {
	binary.BigEndian.PutUint32(b, c.Sent)
	binary.BigEndian.PutUint32(b[4:], c.Came)
	binary.BigEndian.PutUint32(b[8:], c.Answered)
}

// ReadCounters reads it; ok is false of a value of another length.
func ReadCounters(b []byte) (c Counters, ok bool) {
	if len(b) != CountersBytes {
		return c, false
	}
	return Counters{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])}, true
}

// FollowUp is the value of Follow-Up Telemetry (RFC 8972 section 4.7): when the answer before really left, which nobody knows before it does. A sender
// writes the zero value, and so does a reflector that does not know.
//
//	| sequence of that answer : 32 | when it left : 64 | method : 8 | 0 : 24 |
type FollowUp struct {
	Sequence uint32
	Left     control.Timestamp // in the format that the error estimate of the packet says; 0: not known
	Method   byte              // how it was stamped
}

// FollowUpBytes is how long it is.
const FollowUpBytes = 16

// Methods of stamping (RFC 8972 section 5.5).
const (
	stampedByHardware = 1 // HW Assist
	stampedByKernel   = 2 // SW Local
)

// Put writes it over the first FollowUpBytes bytes of b.
func (f FollowUp) Put(b []byte) {
	clear(b[:FollowUpBytes])
	binary.BigEndian.PutUint32(b, f.Sequence)
	binary.BigEndian.PutUint64(b[4:], uint64(f.Left))
	b[12] = f.Method
}

// ReadFollowUp reads it; ok is false of a value of another length.
func ReadFollowUp(b []byte) (f FollowUp, ok bool) {
	if len(b) != FollowUpBytes {
		return f, false
	}
	return FollowUp{binary.BigEndian.Uint32(b), control.Timestamp(binary.BigEndian.Uint64(b[4:])), b[12]}, true
}

// Stamped reports whether the time is known, by an adapter or a kernel, so that it is closer to the wire than what the answer itself says.
func (f FollowUp) Stamped() bool {
	return f.Left != 0 && (f.Method == stampedByHardware || f.Method == stampedByKernel)
}
