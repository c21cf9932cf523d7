// Package stamp reflects STAMP packets (RFC 8762, with the sessions and TLVs of RFC 8972), by which a sender learns what each way to here and
// back takes, and reads and writes such packets. TWAMP-light senders get the same answers.
//
// It knows the unauthenticated and the authenticated mode: see Sealer. It sends no probes: package probe does. Readers and writers touch no socket.
package stamp

import (
	"encoding/binary"

	"github.com/pathwise-net/pathwise/proto/control"
)

const (
	// DefaultPort is where reflectors answer (RFC 8762 section 4.1).
	DefaultPort = 862
	// SparePort is where this one answers where only root may open the other.
	SparePort = 5862
	// LeastBytes are the bytes of payload of a packet in the unauthenticated mode, both ways, so that no answer is longer than what asked for it
	// (RFC 8762 section 4.2).
	LeastBytes = 44
)

// Probe is what a sender sends (RFC 8762 section 4.2.1, RFC 8972 section 3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           sequence                            |
//	|                       time when it left                       |
//	|                                                               |
//	|        error estimate         |            session            |
//	|                           28 bytes 0                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Probe struct {
	Sequence uint32
	Sent     control.Timestamp
	Error    control.ErrorEstimate
	Session  uint16 // of the sender's choice; 0: it tells none apart
}

// Answer is what a reflector makes of a Probe (RFC 8762 section 4.3.1).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           sequence                            |
//	|                     time when it answered                     |
//	|                                                               |
//	|        error estimate         |            session            |
//	|                   time when the probe arrived                 |
//	|                                                               |
//	|                  sequence of the probe                        |
//	|                  time when the probe left                     |
//	|                                                               |
//	|   error estimate of the probe |               0               |
//	| TTL of probe  |                       0                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Answer struct {
	Sequence uint32 // how many the reflector has answered before in this session, if it counts them; else the probe's
	Answered control.Timestamp
	Error    control.ErrorEstimate
	Arrived  control.Timestamp
	Probe    Probe
	TTL      uint8 // of the probe on arrival; 0: not known
}

// Put writes the packet over the first LeastBytes bytes of b.
func (p Probe) Put(b []byte) {
	clear(b[:LeastBytes])
	p.put(b, p.Session)
}

func (p Probe) put(b []byte, session uint16) {
	binary.BigEndian.PutUint32(b, p.Sequence)
	binary.BigEndian.PutUint64(b[4:], uint64(p.Sent))
	binary.BigEndian.PutUint16(b[12:], uint16(p.Error))
	binary.BigEndian.PutUint16(b[14:], session)
}

// ReadProbe reads a packet; ok is false of one that is too short.
func ReadProbe(b []byte) (p Probe, ok bool) {
	if len(b) < LeastBytes {
		return p, false
	}
	return Probe{
		Sequence: binary.BigEndian.Uint32(b), Sent: control.Timestamp(binary.BigEndian.Uint64(b[4:])),
		Error: control.ErrorEstimate(binary.BigEndian.Uint16(b[12:])), Session: binary.BigEndian.Uint16(b[14:]),
	}, true
}

// Put writes the packet over the first LeastBytes bytes of b.
func (a Answer) Put(b []byte) {
	clear(b[:LeastBytes])
	Probe{Sequence: a.Sequence, Sent: a.Answered, Error: a.Error}.put(b, a.Probe.Session)
	binary.BigEndian.PutUint64(b[16:], uint64(a.Arrived))
	a.Probe.put(b[24:], 0)
	b[40] = a.TTL
}

// ReadAnswer reads a packet; ok is false of one that is too short.
func ReadAnswer(b []byte) (a Answer, ok bool) {
	own, ok := ReadProbe(b)
	if !ok {
		return a, false
	}
	a = Answer{Sequence: own.Sequence, Answered: own.Sent, Error: own.Error,
		Arrived: control.Timestamp(binary.BigEndian.Uint64(b[16:])), TTL: b[40]}
	a.Probe = Probe{Sequence: binary.BigEndian.Uint32(b[24:]), Sent: control.Timestamp(binary.BigEndian.Uint64(b[28:])),
		Error: control.ErrorEstimate(binary.BigEndian.Uint16(b[36:])), Session: own.Session}
	return a, true
}
