package beacon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// All packets begin alike; numbers are big-endian.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         magic "PWMB"                          |
//	|  version 1    |     kind      |     flags     | bytes of name |
//	|                            member                             |
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
const (
	magic       = "PWMB"
	version     = 1
	kindProbe   = 1
	kindReport  = 2
	headerBytes = 16
)

var (
	// ErrForeign is a packet that no beacon sent.
	ErrForeign = errors.New("not a packet of a multicast beacon")
	// ErrMalformed is one that claims to be a beacon's, and is none of this version.
	ErrMalformed = errors.New("malformed packet of a multicast beacon")
)

// Packet is a Probe or a ReceiverReport.
type Packet interface{ from() ID }

func (p *Probe) from() ID          { return p.Member }
func (r *ReceiverReport) from() ID { return r.Member }

// Probe is one of the packets that are measured. After it come bytes 0, as many as the sender likes.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        header, kind 1                         |   16 bytes; flags 0
//	|                           sequence                            |
//	|                            planned                            |
//	|                      interval in 1e-6 s                       |
//	|                            began                              |
//	|                                                               |
//	|                             sent                              |
//	|                                                               |
//	|        error estimate         |      TTL      |     DSCP      |
//	|                            name …                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Probe struct {
	Member      ID
	Name        string                // of 1 to 32 graphic characters of ASCII
	Sequence    uint32                // how many the member sent before: what could not be sent has no number
	Planned     uint32                // how many it means to send: 1 to MostProbes
	Interval    time.Duration         // at which it means to: 1 µs to mostInterval, in whole microseconds
	Began, Sent control.Timestamp     // when number 0, and when this one was sent, by the sender's wall clock
	Error       control.ErrorEstimate // of that clock
	TTL, DSCP   uint8                 // that it was sent with
}

const (
	probeBytes   = headerBytes + 32
	mostInterval = time.Hour
	mostDSCP     = 63
)

// Append appends the probe to b, with zeros until it has size bytes.
func (p *Probe) Append(b []byte, size int) []byte {
	start := len(b)
	b = appendHeader(b, kindProbe, 0, p.Name, p.Member)
	b = binary.BigEndian.AppendUint32(b, p.Sequence)
	b = binary.BigEndian.AppendUint32(b, p.Planned)
	b = binary.BigEndian.AppendUint32(b, uint32(p.Interval/time.Microsecond))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Began))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Sent))
	b = binary.BigEndian.AppendUint16(b, uint16(p.Error))
	b = append(append(b, p.TTL, p.DSCP), p.Name...)
	return append(b, make([]byte, max(0, size-(len(b)-start)))...)
}

func appendHeader(b []byte, kind, flags byte, name string, member ID) []byte {
	b = append(append(b, magic...), version, kind, flags, byte(len(name)))
	return binary.BigEndian.AppendUint64(b, uint64(member))
}

// Decode reads a packet. The error is ErrForeign or wraps ErrMalformed.
func Decode(b []byte) (Packet, error) {
	if len(b) < headerBytes || string(b[:4]) != magic {
		return nil, ErrForeign
	}
	if b[4] != version {
		return nil, fmt.Errorf("%w: version %d", ErrMalformed, b[4])
	}
	member := ID(binary.BigEndian.Uint64(b[8:]))
	switch b[5] {
	case kindProbe:
		return decodeProbe(member, int(b[7]), b)
	case kindReport:
		return decodeReport(member, int(b[7]), b)
	}
	return nil, fmt.Errorf("%w: kind %d", ErrMalformed, b[5])
}

func decodeProbe(member ID, name int, b []byte) (Packet, error) {
	if len(b) < probeBytes+name {
		return nil, fmt.Errorf("%w: probe of %d bytes", ErrMalformed, len(b))
	}
	p := &Probe{Member: member,
		Sequence: binary.BigEndian.Uint32(b[16:]), Planned: binary.BigEndian.Uint32(b[20:]),
		Interval: time.Duration(binary.BigEndian.Uint32(b[24:])) * time.Microsecond,
		Began:    control.Timestamp(binary.BigEndian.Uint64(b[28:])), Sent: control.Timestamp(binary.BigEndian.Uint64(b[36:])),
		Error: control.ErrorEstimate(binary.BigEndian.Uint16(b[44:])), TTL: b[46], DSCP: b[47],
		Name: string(b[probeBytes : probeBytes+name])}
	switch {
	case !goodName(p.Name):
		return nil, fmt.Errorf("%w: name %q", ErrMalformed, p.Name)
	case p.Planned > MostProbes || p.Sequence >= p.Planned:
		return nil, fmt.Errorf("%w: probe %d of %d", ErrMalformed, p.Sequence, p.Planned)
	case p.Interval <= 0 || p.Interval > mostInterval:
		return nil, fmt.Errorf("%w: interval %v", ErrMalformed, p.Interval)
	case p.Began == 0 || p.Sent == 0 || !p.Error.Valid() || p.Error.PTP():
		return nil, fmt.Errorf("%w: no time", ErrMalformed)
	case p.TTL == 0 || p.DSCP > mostDSCP:
		return nil, fmt.Errorf("%w: TTL %d, DSCP %d", ErrMalformed, p.TTL, p.DSCP)
	}
	return p, nil
}

// goodName reports whether a name can be told: what a terminal would take for more than characters is none.
func goodName(name string) bool {
	for _, c := range []byte(name) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return name != "" && len(name) <= mostName
}
