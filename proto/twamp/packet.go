package twamp

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Reflection is what a server makes of a packet of a client (RFC 5357 section 4.2.1).
type Reflection struct {
	Sequence       uint32            // how many were sent before in this session
	Received, Sent control.Timestamp // of the client's packet, and of this one
	Error          control.ErrorEstimate
	Packet         control.Packet // of the client
	TTL            uint8          // of it on arrival; 255: not known
}

// Sealer writes and reads the packets of one session, those of the client as its parent does, and their reflections. One goroutine uses it.
//
//	open                                         authenticated and encrypted
//	 0  sequence number (4)                       0  sequence number (4), zero (12)
//	 4  time sent (8)                            16  time sent (8)
//	12  error estimate (2), zero (2)             24  error estimate (2), zero (6)
//	16  time received (8)                        32  time received (8), zero (8)
//	24  client's sequence number (4)             48  client's sequence number (4), zero (12)
//	28  client's time sent (8)                   64  client's time sent (8)
//	36  client's error estimate (2), zero (2)    72  client's error estimate (2), zero (6)
//	40  client's TTL (1)                         80  client's TTL (1), zero (15)
//	41  padding                                  96  HMAC (16)
//	                                            112  padding
//
// With symmetrical sizes the client's packets have as many zeros before their padding as reflections are longer (RFC 6038 section 5).
type Sealer struct {
	*control.Sealer
	mode control.Mode
}

const (
	openReflection    = 41
	securedFields     = 96
	securedReflection = securedFields + control.BlockBytes
	noTTL             = 255
)

// NewSealer makes the keys of a session of those of its control connection. In the light mode all but the mode, which is open, is zero.
func NewSealer(m control.Mode, k control.Keys, id control.SID) *Sealer {
	return &Sealer{control.NewSealer(m, k, id), m}
}

// ReflectionBytes is how long a reflection is, without headers of UDP and IP.
func ReflectionBytes(m control.Mode, padding int) int {
	if m.Packets() == control.Open {
		return openReflection + padding
	}
	return securedReflection + padding
}

// SenderBytes is how long a packet of a client is, without headers of UDP and IP.
func SenderBytes(m control.Mode, padding int) int {
	if m&control.SymmetricalSize != 0 {
		return ReflectionBytes(m, padding)
	}
	return control.PacketBytes(m, padding)
}

// NewPacket is room for a packet of a client, with random padding, which nothing on the way can compress.
func NewPacket(m control.Mode, padding int) []byte {
	b := make([]byte, SenderBytes(m, padding))
	_, _ = rand.Read(b[SenderBytes(m, 0):]) // never fails, as crypto/rand says
	return b
}

// SealReflection writes the answer to a packet over that packet, which is no shorter, and moves the padding behind it.
func (s *Sealer) SealReflection(b []byte, r Reflection) {
	copy(b[ReflectionBytes(s.mode, 0):], b[SenderBytes(s.mode, 0):])
	if s.mode.Packets() == control.Open {
		clear(b[:openReflection])
		put(b, b[4:], control.Packet{Sequence: r.Sequence, Sent: r.Sent, Error: r.Error})
		binary.BigEndian.PutUint64(b[16:], uint64(r.Received))
		put(b[24:], b[28:], r.Packet)
		b[40] = r.TTL
		return
	}
	clear(b[:securedReflection])
	put(b, b[16:], control.Packet{Sequence: r.Sequence, Sent: r.Sent, Error: r.Error})
	binary.BigEndian.PutUint64(b[32:], uint64(r.Received))
	put(b[48:], b[64:], r.Packet)
	b[80] = r.TTL
	s.Protect(b, securedFields)
}

// OpenReflection reads an answer, and leaves b as it is. Errors: control.ErrCut, ErrSealed, ErrNoError.
func (s *Sealer) OpenReflection(b []byte) (r Reflection, err error) {
	if len(b) < ReflectionBytes(s.mode, 0) {
		return r, control.ErrCut
	}
	var own control.Packet
	if s.mode.Packets() == control.Open {
		own, r.Packet, r.TTL = packetIn(b, b[4:]), packetIn(b[24:], b[28:]), b[40]
		r.Received = control.Timestamp(binary.BigEndian.Uint64(b[16:]))
	} else {
		plain, err := s.Reveal(b, securedFields)
		if err != nil {
			return r, err
		}
		own, r.Packet, r.TTL = packetIn(plain, plain[16:]), packetIn(plain[48:], plain[64:]), plain[80]
		r.Received = control.Timestamp(binary.BigEndian.Uint64(plain[32:]))
	}
	r.Sequence, r.Sent, r.Error = own.Sequence, own.Sent, own.Error
	if !r.Error.Valid() {
		return r, control.ErrNoError
	}
	return r, nil
}

// put writes a sequence number, and a time with its error estimate.
func put(number, time []byte, p control.Packet) {
	binary.BigEndian.PutUint32(number, p.Sequence)
	binary.BigEndian.PutUint64(time, uint64(p.Sent))
	binary.BigEndian.PutUint16(time[8:], uint16(p.Error))
}

func packetIn(number, time []byte) control.Packet {
	return control.Packet{Sequence: binary.BigEndian.Uint32(number), Sent: control.Timestamp(binary.BigEndian.Uint64(time)),
		Error: control.ErrorEstimate(binary.BigEndian.Uint16(time[8:]))}
}
