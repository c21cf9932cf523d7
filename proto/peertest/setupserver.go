package peertest

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"net"
	"strings"
	"time"
	"unicode/utf8"
)

// Host is how a server sets up connections.
type Host struct {
	Modes   Mode
	Count   uint32            // of PBKDF2; zero means 1024
	Secrets map[string]string // by KeyID
}

// Answer sets up a connection as a server. It refuses a client whose KeyID or secret is not known, and returns Refused.
func Answer(conn net.Conn, host Host) (*Control, error) {
	c := &Control{stream: stream{conn: conn}}
	c.Greeting = Greeting{Modes: host.Modes, Count: max(host.Count, 1024)}
	rand.Read(c.Greeting.Challenge[:])
	rand.Read(c.Greeting.Salt[:])
	if _, err := conn.Write(c.Greeting.encode()); err != nil {
		return nil, fmt.Errorf("send Server Greeting: %w", err)
	}
	b := make([]byte, 164)
	if _, err := io.ReadFull(conn, b); err != nil {
		return nil, fmt.Errorf("read Set-Up-Response: %w", err)
	}
	known, err := c.decodeResponse(b, host)
	if err != nil {
		return nil, err
	}
	if !known {
		start := make([]byte, 48)
		start[15] = 1 // section 3.3: failure, reason unspecified
		conn.Write(start)
		return nil, &Refused{"Server-Start to " + c.KeyID, 1}
	}
	return c, c.sendStart([16]byte(b[148:]))
}

func (g Greeting) encode() []byte {
	b := make([]byte, 64)
	binary.BigEndian.PutUint32(b[12:], uint32(g.Modes))
	copy(b[16:], g.Challenge[:])
	copy(b[32:], g.Salt[:])
	binary.BigEndian.PutUint32(b[48:], g.Count)
	return b
}

// decodeResponse reads a Set-Up-Response, and reports whether the client knows the secret.
func (c *Control) decodeResponse(b []byte, host Host) (known bool, err error) {
	const section = "RFC 4656 section 3.1"
	c.Mode = Mode(binary.BigEndian.Uint32(b))
	if c.Mode&^host.Modes != 0 {
		return false, violated(section, "Mode %d has bits that were not offered in %d", c.Mode, host.Modes)
	}
	if bits.OnesCount32(uint32(c.Mode&security)) != 1 {
		return false, violated(section, "Mode %d does not choose one of the modes that were offered", c.Mode)
	}
	if !c.Mode.secure() {
		return true, nil // the other fields are unused
	}
	c.KeyID = strings.TrimRight(string(b[4:84]), "\x00")
	if !utf8.ValidString(c.KeyID) {
		return false, violated(section, "KeyID is not UTF-8: %q", c.KeyID)
	}
	if strings.Contains(c.KeyID, "\x00") {
		return false, violated(section, "KeyID is not padded with zeros: %q", c.KeyID)
	}
	secret, found := host.Secrets[c.KeyID]
	if !found {
		return false, nil
	}
	block, err := tokenCipher(secret, c.Greeting)
	if err != nil {
		return false, err
	}
	token := make([]byte, 64)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(token, b[84:148])
	c.Keys = Keys{[16]byte(token[16:]), [32]byte(token[32:])}
	return bytes.Equal(token[:16], c.Greeting.Challenge[:]), nil
}

// sendStart sends a Server-Start that accepts. It has no HMAC; the first one after it covers its last 16 octets.
func (c *Control) sendStart(clientIV [16]byte) error {
	var serverIV [16]byte
	if c.Mode.secure() {
		rand.Read(serverIV[:])
		if err := c.encrypt(c.Keys, serverIV, clientIV); err != nil {
			return err
		}
	}
	b := make([]byte, 32)
	copy(b[16:], serverIV[:])
	c.Start.StartTime = Stamp(time.Now())
	last := binary.BigEndian.AppendUint64(nil, uint64(c.Start.StartTime))
	if _, err := c.conn.Write(append(b, c.seal(append(last, make([]byte, 8)...))...)); err != nil {
		return fmt.Errorf("send Server-Start: %w", err)
	}
	return nil
}
