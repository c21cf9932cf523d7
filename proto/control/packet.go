package control

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"hash"
)

// Bytes of a test packet before its padding.
const (
	openBytes    = 14
	securedBytes = 48
	fieldsBytes  = 32 // of them, before the HMAC
)

// Packet is what a test packet of a sender tells, in OWAMP and in TWAMP alike.
type Packet struct {
	Sequence uint32
	Sent     Timestamp
	Error    ErrorEstimate
}

// Sealer writes and reads the test packets of one session. One goroutine uses it.
//
//	open                              authenticated and encrypted
//	 0  sequence number (4)            0  sequence number (4), zero (12)
//	 4  time stamp (8)                16  time stamp (8)
//	12  error estimate (2)            24  error estimate (2), zero (6)
//	14  padding                       32  HMAC (16)
//	                                  48  padding
//
// The authenticated mode encrypts the first 16 bytes and has the HMAC of them, so that the time stamp is read last and sent at once; the
// encrypted one encrypts all that stands before the HMAC. The HMAC, of the plain text, and the padding are not encrypted.
type Sealer struct {
	mode  Mode
	block cipher.Block
	mac   hash.Hash
	plain []byte
}

// NewSealer makes the keys of a session of those of its control connection.
func NewSealer(m Mode, k Keys, id SID) *Sealer {
	s := &Sealer{mode: m.Packets()}
	if s.mode != Open {
		k = k.ForSession(id)
		s.block, s.mac = Cipher(k.AES), hmac.New(sha1.New, k.HMAC[:])
	}
	return s
}

// PacketBytes is how long a test packet of a sender is, without headers of UDP and IP.
func PacketBytes(m Mode, padding int) int {
	if m.Packets() == Open {
		return openBytes + padding
	}
	return securedBytes + padding
}

// NewPacket is room for a packet, with random padding, which nothing on the way can compress.
func NewPacket(m Mode, padding int) []byte {
	b := make([]byte, PacketBytes(m, padding))
	_, _ = rand.Read(b) // never fails, as crypto/rand says
	return b
}

// Seal writes a packet before the padding of b, which NewPacket made.
func (s *Sealer) Seal(b []byte, p Packet) {
	if s.mode == Open {
		binary.BigEndian.PutUint32(b, p.Sequence)
		binary.BigEndian.PutUint64(b[4:], uint64(p.Sent))
		binary.BigEndian.PutUint16(b[12:], uint16(p.Error))
		return
	}
	clear(b[:fieldsBytes])
	binary.BigEndian.PutUint32(b, p.Sequence)
	binary.BigEndian.PutUint64(b[16:], uint64(p.Sent))
	binary.BigEndian.PutUint16(b[24:], uint16(p.Error))
	s.Protect(b, fieldsBytes)
}

// Errors of what is no packet of a session.
var (
	ErrCut     = errors.New("shorter than a test packet is")
	ErrSealed  = errors.New("its HMAC is wrong")
	ErrNoError = errors.New("the multiplier of its error estimate is 0")
)

// Open reads a packet, and leaves b as it is. Errors: ErrCut, ErrSealed, ErrNoError.
func (s *Sealer) Open(b []byte) (p Packet, err error) {
	if len(b) < PacketBytes(s.mode, 0) {
		return p, ErrCut
	}
	if s.mode == Open {
		p = Packet{binary.BigEndian.Uint32(b), Timestamp(binary.BigEndian.Uint64(b[4:])), ErrorEstimate(binary.BigEndian.Uint16(b[12:]))}
	} else {
		plain, err := s.Reveal(b, fieldsBytes)
		if err != nil {
			return p, err
		}
		p = Packet{binary.BigEndian.Uint32(plain), Timestamp(binary.BigEndian.Uint64(plain[16:])),
			ErrorEstimate(binary.BigEndian.Uint16(plain[24:]))}
	}
	if !p.Error.Valid() {
		return p, ErrNoError
	}
	return p, nil
}

// Protect encrypts a packet of a mode that is not open, by so many bytes of fields, and writes its HMAC behind them.
func (s *Sealer) Protect(b []byte, fields int) {
	secret := b[:s.secret(fields)]
	copy(b[fields:fields+BlockBytes], s.digest(secret))
	cipher.NewCBCEncrypter(s.block, make([]byte, BlockBytes)).CryptBlocks(secret, secret)
}

// Reveal returns the fields of a packet that Protect made, and leaves b as it is. They are valid until the next. Errors: ErrCut, ErrSealed.
func (s *Sealer) Reveal(b []byte, fields int) (plain []byte, err error) {
	if len(b) < fields+BlockBytes {
		return nil, ErrCut
	}
	s.plain = append(s.plain[:0], b[:fields]...)
	secret := s.plain[:s.secret(fields)]
	cipher.NewCBCDecrypter(s.block, make([]byte, BlockBytes)).CryptBlocks(secret, secret)
	if !hmac.Equal(s.digest(secret), b[fields:fields+BlockBytes]) {
		return nil, ErrSealed
	}
	return s.plain, nil
}

// secret is how many of the bytes of fields are encrypted, and enter the digest.
func (s *Sealer) secret(fields int) int {
	if s.mode == Encrypted {
		return fields
	}
	return BlockBytes
}

func (s *Sealer) digest(b []byte) []byte {
	s.mac.Reset()
	s.mac.Write(b)
	return s.mac.Sum(nil)[:BlockBytes]
}
