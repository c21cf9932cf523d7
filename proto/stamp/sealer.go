package stamp

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Sealer writes and reads packets of one mode. One goroutine uses it.
//
// In the authenticated mode (RFC 8762 sections 4.2.2, 4.3.2 and 4.4) the fields of a packet stand each at the beginning of a block of 16 bytes,
// and behind six blocks stands their HMAC: SHA-256, of which the first 16 bytes are sent.
//
//	 probe                                    answer
//	 0  sequence (4), zero (12)               0  sequence (4), zero (12)
//	16  time when it left (8)                16  time when it answered (8)
//	24  error estimate (2), session (2)      24  error estimate (2), session (2), zero (4)
//	28  zero (68)                            32  time when the probe arrived (8), zero (8)
//	                                         48  sequence of the probe (4), zero (12)
//	                                         64  time when the probe left (8)
//	                                         72  its error estimate (2), zero (6)
//	                                         80  its TTL (1), zero (15)
//	96  HMAC (16)                            96  HMAC (16)
type Sealer struct {
	mac    hash.Hash // of packets; nil: the unauthenticated mode
	tlvs   hash.Hash // of TLVs; nil: none can be sealed, or taken for intact
	digest [sha256.Size]byte
}

// SecuredBytes are the bytes of payload of a packet in the authenticated mode, both ways.
const SecuredBytes = 112

const (
	digestAt    = 96
	digestBytes = 16
	// leastKey and mostKey are how long a key may be: 128 bits, as the digest has them, up to a block of SHA-256, beyond which HMAC hashes it.
	leastKey = 16
	mostKey  = 64
)

// RunKey is the key of the packets of one run, whose secret both ends were told: HKDF of it with SHA-256 (RFC 5869), so that who learns the key has not
// learned the secret.
func RunKey(secret string) []byte {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "STAMP packets of a run", sha256.Size)
	if err != nil { // of lengths that HKDF does not have
		panic(err)
	}
	return key
}

var (
	// ErrShort is a packet that is shorter than those of its mode are.
	ErrShort = errors.New("shorter than a packet of its mode is")
	// ErrForged is a packet, or what stands behind it, that was not sent by who has the key, or was changed on its way.
	ErrForged = errors.New("its HMAC is wrong")
)

// NewSealer is of the authenticated mode with a key, and of the unauthenticated mode without.
func NewSealer(key []byte) *Sealer {
	if len(key) == 0 {
		return &Sealer{}
	}
	mac := hmac.New(sha256.New, key)
	return &Sealer{mac: mac, tlvs: mac}
}

// NewTLVSealer is of the unauthenticated mode with a key that seals the TLVs alone, where a packet has room for that (RFC 8972 section 4.8).
func NewTLVSealer(key []byte) *Sealer { return &Sealer{tlvs: hmac.New(sha256.New, key)} }

// LeastBytes are the bytes of payload of a packet without TLVs, both ways.
func (s *Sealer) LeastBytes() int {
	if s.mac == nil {
		return LeastBytes
	}
	return SecuredBytes
}

// SealProbe writes a packet over the first LeastBytes bytes of b, and into an HMAC TLV behind them, if there is one.
func (s *Sealer) SealProbe(b []byte, p Probe) {
	if s.tlvs != nil {
		behind := b[s.LeastBytes():]
		at, _, _ := sealIn(behind, notKnown)
		s.sealTLVs(p.Sequence, behind, at)
	}
	if s.mac == nil {
		p.Put(b)
		return
	}
	clear(b[:SecuredBytes])
	putSecured(b, p, p.Session)
	copy(b[digestAt:SecuredBytes], s.hmac(s.mac, b[:digestAt], nil))
}

// OpenProbe reads a packet. Errors: ErrShort, ErrForged.
func (s *Sealer) OpenProbe(b []byte) (p Probe, err error) {
	switch {
	case len(b) < s.LeastBytes():
		return p, ErrShort
	case s.mac == nil:
		p, _ = ReadProbe(b)
		return p, nil
	case !hmac.Equal(s.hmac(s.mac, b[:digestAt], nil), b[digestAt:SecuredBytes]):
		return p, ErrForged
	}
	return readSecured(b), nil
}

// SealAnswer writes a packet over the first LeastBytes bytes of b. The TLVs behind it were sealed before, so that nothing but this stands between
// the time when it answered and its leaving.
func (s *Sealer) SealAnswer(b []byte, a Answer) {
	if s.mac == nil {
		a.Put(b)
		return
	}
	clear(b[:SecuredBytes])
	putSecured(b, Probe{Sequence: a.Sequence, Sent: a.Answered, Error: a.Error}, a.Probe.Session)
	binary.BigEndian.PutUint64(b[32:], uint64(a.Arrived))
	putSecured(b[48:], a.Probe, 0)
	b[80] = a.TTL
	copy(b[digestAt:SecuredBytes], s.hmac(s.mac, b[:digestAt], nil))
}

// OpenAnswer reads a packet. Errors: ErrShort, ErrForged.
func (s *Sealer) OpenAnswer(b []byte) (a Answer, err error) {
	own, err := s.OpenProbe(b)
	switch {
	case err != nil:
		return a, err
	case s.mac == nil:
		a, _ = ReadAnswer(b)
		return a, nil
	}
	a = Answer{Sequence: own.Sequence, Answered: own.Sent, Error: own.Error, Arrived: control.Timestamp(binary.BigEndian.Uint64(b[32:])),
		Probe: readSecured(b[48:]), TTL: b[80]}
	a.Probe.Session = own.Session
	return a, nil
}

// hmac is the digest of two pieces. It is valid until the next.
func (s *Sealer) hmac(mac hash.Hash, one, two []byte) []byte {
	mac.Reset()
	mac.Write(one)
	mac.Write(two)
	return mac.Sum(s.digest[:0])[:digestBytes]
}

// putSecured writes the first two blocks of a packet, or the two that repeat a probe.
func putSecured(b []byte, p Probe, session uint16) {
	binary.BigEndian.PutUint32(b, p.Sequence)
	binary.BigEndian.PutUint64(b[16:], uint64(p.Sent))
	binary.BigEndian.PutUint16(b[24:], uint16(p.Error))
	binary.BigEndian.PutUint16(b[26:], session)
}

func readSecured(b []byte) Probe {
	return Probe{Sequence: binary.BigEndian.Uint32(b), Sent: control.Timestamp(binary.BigEndian.Uint64(b[16:])),
		Error: control.ErrorEstimate(binary.BigEndian.Uint16(b[24:])), Session: binary.BigEndian.Uint16(b[26:])}
}
