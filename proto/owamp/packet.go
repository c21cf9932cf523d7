package owamp

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"hash"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Bytes of a test packet before its padding.
const (
	openBytes    = 14
	securedBytes = 48
	digestAt     = 32
)

// Packet is what a test packet tells.
type Packet struct {
	Sequence uint32
	Sent     control.Timestamp
	Error    control.ErrorEstimate
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
// encrypted one does so with the first 32 bytes. The HMAC, of the plain text, and the padding are not encrypted.
type Sealer struct {
	mode  control.Mode
	block cipher.Block
	mac   hash.Hash
	plain [digestAt]byte
}

// NewSealer makes the keys of a session of those of its control connection (RFC 4656, section 4.1.2): each encrypted with the session's ID
// as the key.
func NewSealer(m control.Mode, k control.Keys, id control.SID) *Sealer {
	s := &Sealer{mode: m.Protection()}
	if s.mode == control.Open {
		return s
	}
	by := control.Cipher(id)
	by.Encrypt(k.AES[:], k.AES[:])
	cipher.NewCBCEncrypter(by, make([]byte, control.BlockBytes)).CryptBlocks(k.HMAC[:], k.HMAC[:])
	s.block, s.mac = control.Cipher(k.AES), hmac.New(sha1.New, k.HMAC[:])
	return s
}

// PacketBytes is how long a test packet is, without headers of UDP and IP.
func PacketBytes(m control.Mode, padding int) int {
	if m.Protection() == control.Open {
		return openBytes + padding
	}
	return securedBytes + padding
}

// NewPacket is room for a packet, with random padding, which nothing on the way can compress.
func NewPacket(m control.Mode, padding int) []byte {
	b := make([]byte, PacketBytes(m, padding))
	_, _ = rand.Read(b) // never fails, as crypto/rand says
	return b
}

// Seal writes a packet before the padding of b, which NewPacket made.
func (s *Sealer) Seal(b []byte, p Packet) {
	if s.mode == control.Open {
		binary.BigEndian.PutUint32(b, p.Sequence)
		binary.BigEndian.PutUint64(b[4:], uint64(p.Sent))
		binary.BigEndian.PutUint16(b[12:], uint16(p.Error))
		return
	}
	clear(b[:digestAt])
	binary.BigEndian.PutUint32(b, p.Sequence)
	binary.BigEndian.PutUint64(b[16:], uint64(p.Sent))
	binary.BigEndian.PutUint16(b[24:], uint16(p.Error))
	secret := b[:s.secret()]
	copy(b[digestAt:securedBytes], s.digest(secret))
	cipher.NewCBCEncrypter(s.block, make([]byte, control.BlockBytes)).CryptBlocks(secret, secret)
}

var (
	errShort  = errors.New("shorter than a test packet is")
	errForged = errors.New("its HMAC is wrong")
	errError  = errors.New("the multiplier of its error estimate is 0")
)

// Open reads a packet, and leaves b as it is.
func (s *Sealer) Open(b []byte) (p Packet, err error) {
	if len(b) < PacketBytes(s.mode, 0) {
		return p, errShort
	}
	if s.mode == control.Open {
		p = Packet{binary.BigEndian.Uint32(b), control.Timestamp(binary.BigEndian.Uint64(b[4:])),
			control.ErrorEstimate(binary.BigEndian.Uint16(b[12:]))}
	} else {
		copy(s.plain[:], b)
		secret := s.plain[:s.secret()]
		cipher.NewCBCDecrypter(s.block, make([]byte, control.BlockBytes)).CryptBlocks(secret, secret)
		if !hmac.Equal(s.digest(secret), b[digestAt:securedBytes]) {
			return p, errForged
		}
		p = Packet{binary.BigEndian.Uint32(s.plain[:]), control.Timestamp(binary.BigEndian.Uint64(s.plain[16:])),
			control.ErrorEstimate(binary.BigEndian.Uint16(s.plain[24:]))}
	}
	if !p.Error.Valid() {
		return p, errError
	}
	return p, nil
}

// secret is how many bytes are encrypted, and enter the digest.
func (s *Sealer) secret() int {
	if s.mode == control.Encrypted {
		return digestAt
	}
	return control.BlockBytes
}

func (s *Sealer) digest(b []byte) []byte {
	s.mac.Reset()
	s.mac.Write(b)
	return s.mac.Sum(nil)[:control.BlockBytes]
}
