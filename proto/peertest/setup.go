package peertest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// Greeting is the first message of a server (RFC 4656 section 3.1):
//
//	Unused (12) | Modes (4) | Challenge (16) | Salt (16) | Count (4) | MBZ (12)
type Greeting struct {
	Modes           Mode
	Challenge, Salt [16]byte
	Count           uint32
}

// ServerStart is the answer of a server to a setup (RFC 4656 section 3.1):
//
//	MBZ (15) | Accept (1) | Server-IV (16) | Start-Time (8) | MBZ (8)     the last 16 octets are encrypted
type ServerStart struct {
	Accept    byte
	StartTime Timestamp
}

// Login is how a client sets up a connection.
type Login struct {
	Mode   Mode
	KeyID  string // unused in open mode, as is Secret
	Secret string
	TwoWay bool // a TWAMP server is expected, whose greeting may offer more than an OWAMP server's
}

// Control is one end of a control connection that has been set up.
type Control struct {
	Greeting Greeting
	Start    ServerStart
	Mode     Mode
	KeyID    string // which the client gave
	Keys     Keys   // zero in open mode
	stream
}

// Connect sets up a connection as a client. An Accept field that is not zero is returned as Refused.
func Connect(conn net.Conn, login Login) (*Control, error) {
	c := &Control{Mode: login.Mode, KeyID: login.KeyID, stream: stream{conn: conn}}
	b := make([]byte, 64)
	if _, err := io.ReadFull(conn, b); err != nil {
		return nil, fmt.Errorf("read Server Greeting: %w", err)
	}
	if err := c.Greeting.decode(b, login.TwoWay); err != nil {
		return nil, err
	}
	if login.Mode&^c.Greeting.Modes != 0 {
		return nil, fmt.Errorf("server offers modes %d, want %d", c.Greeting.Modes, login.Mode)
	}
	response, clientIV, err := c.response(login)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(response); err != nil {
		return nil, fmt.Errorf("send Set-Up-Response: %w", err)
	}
	return c, c.readStart(clientIV)
}

// decode reads a greeting. Without a mode that needs a secret, what serves secrets is unused.
func (g *Greeting) decode(b []byte, twoWay bool) error {
	const section = "RFC 4656 section 3.1"
	g.Modes = Mode(binary.BigEndian.Uint32(b[12:]))
	g.Challenge, g.Salt = [16]byte(b[16:]), [16]byte(b[32:])
	g.Count = binary.BigEndian.Uint32(b[48:])
	if g.Modes == 0 {
		return violated(section, "the server greets with Modes 0: it does not want to talk")
	}
	if !twoWay && g.Modes>>3 != 0 {
		return violated(section, "Modes are %#x, and the first 29 bits must be zero", uint32(g.Modes))
	}
	if g.Modes.secure() && (g.Count < 1024 || g.Count&(g.Count-1) != 0) {
		return violated(section, "Count is %d, and must be a power of 2 of at least 1024", g.Count)
	}
	return zero(section, "MBZ of Server Greeting", b[52:])
}

// response makes a Set-Up-Response (RFC 4656 section 3.1), of which open mode uses the first field only:
//
//	Mode (4) | KeyID (80) | Token (64) | Client-IV (16)
func (c *Control) response(login Login) (b []byte, clientIV [16]byte, err error) {
	b = make([]byte, 164)
	binary.BigEndian.PutUint32(b, uint32(login.Mode))
	if !login.Mode.secure() {
		return b, clientIV, nil
	}
	rand.Read(c.Keys.AES[:])
	rand.Read(c.Keys.HMAC[:])
	rand.Read(clientIV[:])
	copy(b[4:84], login.KeyID)
	copy(b[84:], c.Greeting.Challenge[:])
	copy(b[100:], c.Keys.AES[:])
	copy(b[116:], c.Keys.HMAC[:])
	block, err := tokenCipher(login.Secret, c.Greeting)
	if err != nil {
		return nil, clientIV, err
	}
	cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(b[84:148], b[84:148])
	copy(b[148:], clientIV[:])
	return b, clientIV, nil
}

// tokenCipher is AES with the key that PBKDF2 derives from a shared secret, in HMAC-SHA1, of 16 octets (RFC 4656 section 3.1).
func tokenCipher(secret string, g Greeting) (cipher.Block, error) {
	key, err := pbkdf2.Key(sha1.New, secret, g.Salt[:], int(g.Count), 16)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return aes.NewCipher(key)
}

// readStart reads a Server-Start. One that refuses has no more than its first 32 octets to say.
func (c *Control) readStart(clientIV [16]byte) error {
	const section = "RFC 4656 section 3.1"
	b := make([]byte, 32)
	if _, err := io.ReadFull(c.conn, b); err != nil {
		return fmt.Errorf("read Server-Start: %w", err)
	}
	if err := zero(section, "MBZ before Accept of Server-Start", b[:15]); err != nil {
		return err
	}
	if c.Start.Accept = b[15]; c.Start.Accept != 0 {
		return &Refused{"Server-Start", c.Start.Accept}
	}
	if c.Mode.secure() {
		if err := c.encrypt(c.Keys, clientIV, [16]byte(b[16:])); err != nil {
			return err
		}
	}
	last, err := c.read(16)
	if err != nil {
		return err
	}
	c.Start.StartTime = Timestamp(binary.BigEndian.Uint64(last))
	return zero(section, "MBZ after Start-Time of Server-Start", last[8:])
}
