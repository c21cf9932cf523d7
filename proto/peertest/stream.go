package peertest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1"
	"fmt"
	"hash"
	"io"
	"net"
)

// Mode are the bits of the Modes and Mode fields.
type Mode uint32

const (
	Open            Mode = 1  // RFC 4656 section 3.1
	Authenticated   Mode = 2  // the same
	Encrypted       Mode = 4  // the same
	Mixed           Mode = 8  // RFC 5618: the control connection is encrypted, test packets are open
	ReflectOctets   Mode = 32 // RFC 6038 section 4
	SymmetricalSize Mode = 64 // RFC 6038 section 4
)

// security are the bits of which a client chooses one.
const security = Open | Authenticated | Encrypted | Mixed

// secure reports whether the control connection is encrypted.
func (m Mode) secure() bool { return m&(Authenticated|Encrypted|Mixed) != 0 }

// ofPackets is the mode of test packets: open ones are those of the mixed mode, too (RFC 5618 section 3).
func (m Mode) ofPackets() Mode {
	if m&(Open|Mixed) != 0 {
		return Open
	}
	return m & security
}

// Keys are the two keys of a control connection or of a test session.
type Keys struct {
	AES  [16]byte
	HMAC [32]byte
}

// stream is a control connection after its setup: encrypted with AES in CBC mode in each direction, and with an HMAC at the end
// of each message over all that was sent since the HMAC before (RFC 4656 sections 3.1 and 3.2). In open mode there is neither.
type stream struct {
	conn       net.Conn
	secure     bool
	out, in    cipher.BlockMode
	sent, seen hash.Hash
}

// encrypt sets the keys of a stream, and the vectors of both directions.
func (s *stream) encrypt(keys Keys, outIV, inIV [16]byte) error {
	block, err := aes.NewCipher(keys.AES[:])
	if err != nil {
		return err
	}
	s.secure = true
	s.out, s.in = cipher.NewCBCEncrypter(block, outIV[:]), cipher.NewCBCDecrypter(block, inIV[:])
	s.sent, s.seen = hmac.New(sha1.New, keys.HMAC[:]), hmac.New(sha1.New, keys.HMAC[:])
	return nil
}

// seal are the octets of plain blocks on the wire; all but an HMAC are counted into the next HMAC.
func (s *stream) seal(plain []byte) []byte {
	if !s.secure {
		return plain
	}
	s.sent.Write(plain)
	sealed := make([]byte, len(plain))
	s.out.CryptBlocks(sealed, plain)
	return sealed
}

// sealHMAC is an HMAC on the wire. In open mode the field is zero.
func (s *stream) sealHMAC() []byte {
	sealed := make([]byte, 16)
	if s.secure {
		s.out.CryptBlocks(sealed, s.sent.Sum(nil)[:16])
		s.sent.Reset()
	}
	return sealed
}

// send writes a message and its HMAC at once.
func (s *stream) send(message []byte) error {
	if _, err := s.conn.Write(append(s.seal(message), s.sealHMAC()...)); err != nil {
		return fmt.Errorf("send control message: %w", err)
	}
	return nil
}

// read reads blocks of a message.
func (s *stream) read(octets int) ([]byte, error) {
	b := make([]byte, octets)
	if _, err := io.ReadFull(s.conn, b); err != nil {
		return nil, fmt.Errorf("read control message: %w", err)
	}
	if s.secure {
		s.in.CryptBlocks(b, b)
		s.seen.Write(b)
	}
	return b, nil
}

// readHMAC reads the HMAC of what was read since the one before, and checks it.
func (s *stream) readHMAC(message string) error {
	b := make([]byte, 16)
	if _, err := io.ReadFull(s.conn, b); err != nil {
		return fmt.Errorf("read HMAC of %s: %w", message, err)
	}
	if !s.secure {
		return nil // section 3.2: there is no key in open mode; the field says nothing
	}
	s.in.CryptBlocks(b, b)
	want := s.seen.Sum(nil)[:16]
	s.seen.Reset()
	if !bytes.Equal(b, want) {
		return violated("RFC 4656 section 3.2", "the HMAC of %s is % x, want % x", message, b, want)
	}
	return nil
}

// readMessage reads a message of a known length and its HMAC.
func (s *stream) readMessage(message string, octets int) ([]byte, error) {
	b, err := s.read(octets)
	if err != nil {
		return nil, err
	}
	return b, s.readHMAC(message)
}
