package control

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Sizes in bytes.
const (
	BlockBytes    = 16 // messages on a connection that is set up are whole blocks
	GreetingBytes = 64
	SetUpBytes    = 164
	StartBytes    = 48
	startClear    = 32 // of a Start; its last block is the first of the server's stream
	keyIDBytes    = 80
	tokenBytes    = 64
)

// DefaultCount is how often a secret is hashed to make a key of it, as the deployed server asks for.
const DefaultCount = 2048

const (
	leastCount = 1024    // RFC 4656, section 3.1
	mostCount  = 1 << 18 // a tenth of a second of a processor, which a far end can make a client spend
)

// Greeting is what a server begins with. Modes 0 says that it will not talk.
//
//	 0  unused (12)
//	12  modes (4)
//	16  challenge (16)
//	32  salt (16)
//	48  count (4)
//	52  zero (12)
type Greeting struct {
	Modes           Mode
	Challenge, Salt [16]byte
	Count           uint32 // how often a secret is hashed: a power of two, 1024 at least
}

// Encode returns the message.
func (g Greeting) Encode() []byte {
	b := make([]byte, GreetingBytes)
	binary.BigEndian.PutUint32(b[12:], uint32(g.Modes))
	copy(b[16:], g.Challenge[:])
	copy(b[32:], g.Salt[:])
	binary.BigEndian.PutUint32(b[48:], g.Count)
	return b
}

// ErrShort is a message that is shorter than it has to be.
var ErrShort = errors.New("message is cut short")

// DecodeGreeting reads a message.
func DecodeGreeting(b []byte) (g Greeting, err error) {
	if len(b) < GreetingBytes {
		return g, fmt.Errorf("greeting of %d bytes: %w", len(b), ErrShort)
	}
	return Greeting{Modes: Mode(binary.BigEndian.Uint32(b[12:])), Challenge: [16]byte(b[16:]), Salt: [16]byte(b[32:]),
		Count: binary.BigEndian.Uint32(b[48:])}, nil
}

// checkCount says whether a client hashes a secret as often as a greeting asks.
func (g Greeting) checkCount() error {
	if g.Count < leastCount || g.Count > mostCount || g.Count&(g.Count-1) != 0 {
		return fmt.Errorf("greeting: count %d: want a power of two, %d to %d", g.Count, leastCount, mostCount)
	}
	return nil
}

// SetUp is a client's answer to a Greeting. In open mode all but Mode is zero.
//
//	  0  mode (4)
//	  4  key ID (80), UTF-8, then zeros
//	 84  token (64)
//	148  client IV (16)
type SetUp struct {
	Mode  Mode
	KeyID string // names the secret
	Token [tokenBytes]byte
	IV    [16]byte
}

// Encode returns the message. A key ID that is too long is cut; see CheckKeyID.
func (s SetUp) Encode() []byte {
	b := make([]byte, SetUpBytes)
	binary.BigEndian.PutUint32(b, uint32(s.Mode))
	copy(b[4:4+keyIDBytes], s.KeyID)
	copy(b[84:], s.Token[:])
	copy(b[148:], s.IV[:])
	return b
}

// DecodeSetUp reads a message.
func DecodeSetUp(b []byte) (s SetUp, err error) {
	if len(b) < SetUpBytes {
		return s, fmt.Errorf("set-up response of %d bytes: %w", len(b), ErrShort)
	}
	id, _, _ := bytes.Cut(b[4:4+keyIDBytes], []byte{0})
	return SetUp{Mode: Mode(binary.BigEndian.Uint32(b)), KeyID: string(id), Token: [tokenBytes]byte(b[84:]), IV: [16]byte(b[148:])}, nil
}

// CheckKeyID says what keeps a text from naming a secret on the wire.
func CheckKeyID(id string) error {
	if id == "" || len(id) > keyIDBytes || strings.ContainsRune(id, 0) {
		return fmt.Errorf("key ID %q: want 1 to %d bytes without a zero", id, keyIDBytes)
	}
	return nil
}

// Start is the server's verdict on a SetUp. Its last block is encrypted and enters the HMAC of the server's stream, which has no digest here.
//
//	 0  zero (15)
//	15  accept (1)
//	16  server IV (16)
//	32  start time of the server (8)
//	40  zero (8)
type Start struct {
	Accept Accept
	IV     [16]byte
	Since  Timestamp // when the server began; session IDs do not repeat from then on
}

// Encode returns the message as it is before its last block is encrypted.
func (s Start) Encode() []byte {
	b := make([]byte, StartBytes)
	b[15] = byte(s.Accept)
	copy(b[16:], s.IV[:])
	binary.BigEndian.PutUint64(b[32:], uint64(s.Since))
	return b
}

// DecodeStart reads a message whose last block is decrypted.
func DecodeStart(b []byte) (s Start, err error) {
	if len(b) < StartBytes {
		return s, fmt.Errorf("server start of %d bytes: %w", len(b), ErrShort)
	}
	return Start{Accept: Accept(b[15]), IV: [16]byte(b[16:]), Since: Timestamp(binary.BigEndian.Uint64(b[32:]))}, nil
}
