package control

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Connection is a control connection that is set up.
type Connection struct {
	Reader
	Writer
	Mode  Mode
	KeyID string    // "": open mode
	Keys  Keys      // of zeros in open mode
	Since time.Time // when the server began
}

// Wish is what a client wants of a connection.
type Wish struct {
	Modes  []Mode // in the order of preference, one mode of protection each, with additions or without: the first that is offered is taken
	Extra  Mode   // additions that are taken where the server offers them
	KeyID  string
	Secret []byte // of the key ID; unused in open mode
}

var (
	// ErrMode is that one end will not talk as the other wants to.
	ErrMode = errors.New("the far end does not offer the mode")
	// ErrUnwilling is a greeting that offers no mode at all.
	ErrUnwilling = errors.New("the server will not talk to this host")
)

// Dial sets up a connection, at its client. Errors, for errors.Is and As: ErrMode, ErrUnwilling, *RefusedError.
func Dial(rw io.ReadWriter, w Wish) (*Connection, error) {
	first := make([]byte, GreetingBytes)
	if _, err := io.ReadFull(rw, first); err != nil {
		return nil, fmt.Errorf("await greeting: %w", err)
	}
	g, err := DecodeGreeting(first)
	switch {
	case err != nil:
		return nil, err
	case g.Modes == 0:
		return nil, ErrUnwilling
	}
	at := slices.IndexFunc(w.Modes, func(m Mode) bool { return m.whole() && g.Modes&m == m })
	if at < 0 {
		return nil, fmt.Errorf("%w: %v wanted, %#x offered", ErrMode, w.Modes, uint32(g.Modes))
	}
	c := &Connection{Reader: Reader{from: rw}, Writer: Writer{to: rw}, Mode: w.Modes[at] | w.Extra&g.Modes&^protections}
	answer := SetUp{Mode: c.Mode}
	if c.Mode.Secured() {
		if answer, err = c.prove(g, w); err != nil {
			return nil, err
		}
	}
	if _, err := rw.Write(answer.Encode()); err != nil {
		return nil, fmt.Errorf("set up connection: %w", err)
	}
	return c, c.awaitStart()
}

// prove draws the keys of a connection, and makes the SetUp that tells the server of them.
func (c *Connection) prove(g Greeting, w Wish) (s SetUp, err error) {
	if err := errors.Join(CheckKeyID(w.KeyID), g.checkCount()); err != nil {
		return s, err
	}
	key, err := DeriveKey(w.Secret, g.Salt[:], g.Count)
	if err != nil {
		return s, err
	}
	fill(c.Keys.AES[:], c.Keys.HMAC[:], s.IV[:])
	c.KeyID = w.KeyID
	c.Writer.secure(c.Keys, s.IV)
	s.Mode, s.KeyID, s.Token = c.Mode, w.KeyID, token{g.Challenge, c.Keys}.seal(key)
	return s, nil
}

// awaitStart reads the server's verdict.
func (c *Connection) awaitStart() error {
	b := make([]byte, StartBytes)
	if _, err := io.ReadFull(c.Reader.from, b[:startClear]); err != nil {
		return fmt.Errorf("await start of server: %w", err)
	}
	if err := Accept(b[15]).Check("control connection"); err != nil {
		return err // its last block, if it comes, is of nobody
	}
	if c.Mode.Secured() {
		c.Reader.secure(c.Keys, [16]byte(b[16:]))
	}
	if err := c.Read(b[startClear:]); err != nil {
		return fmt.Errorf("await start of server: %w", err)
	}
	s, err := DecodeStart(b)
	c.Since = s.Since.Time()
	return err
}

// Offer is what a server lets clients have.
type Offer struct {
	Modes Mode
	Count uint32 // how often secrets are hashed; 0: DefaultCount
	Since time.Time
	// Secret is the secret of a key ID; known is false where there is none. nil: there is none at all.
	Secret func(keyID string) (secret []byte, known bool)
	// Admit, if not nil, is asked of a client that has proved its key ID, or is of open mode.
	Admit func(m Mode, keyID string) Accept
}

// Answer sets up a connection, at its server. Whatever it refuses it tells the client; its error is then a *RefusedError.
func Answer(rw io.ReadWriter, o Offer) (*Connection, error) {
	g := Greeting{Modes: o.Modes, Count: o.Count}
	if g.Count == 0 {
		g.Count = DefaultCount
	}
	fill(g.Challenge[:], g.Salt[:])
	if _, err := rw.Write(g.Encode()); err != nil {
		return nil, fmt.Errorf("greet client: %w", err)
	}
	b := make([]byte, SetUpBytes)
	if _, err := io.ReadFull(rw, b); err != nil {
		return nil, fmt.Errorf("await set-up of client: %w", err)
	}
	s, err := DecodeSetUp(b)
	if err != nil {
		return nil, err
	}
	c := &Connection{Reader: Reader{from: rw}, Writer: Writer{to: rw}, Mode: s.Mode, Since: o.Since}
	start := Start{Accept: c.judge(o, g, s)}
	if start.Accept == OK {
		start.Since = TimestampOf(o.Since)
		if c.Mode.Secured() {
			fill(start.IV[:])
			c.Reader.secure(c.Keys, s.IV)
			c.Writer.secure(c.Keys, start.IV)
		}
	}
	first := start.Encode()
	if start.Accept != OK {
		_, _ = rw.Write(first) // what it was refused for is what matters
		return nil, start.Accept.Check("control connection")
	}
	c.Add(first[startClear:])
	if err := c.flushBehind(first[:startClear]); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	return c, nil
}

// judge decides about a client, and takes over its keys.
func (c *Connection) judge(o Offer, g Greeting, s SetUp) Accept {
	if s.Mode&^o.Modes != 0 || !s.Mode.whole() {
		return Unsupported
	}
	if s.Mode.Secured() {
		var secret []byte
		known := false
		if o.Secret != nil {
			secret, known = o.Secret(s.KeyID)
		}
		key, err := DeriveKey(secret, g.Salt[:], g.Count) // of one that is not known, too: it takes the same time
		if err != nil {
			return Failed
		}
		t := openToken(s.Token, key)
		if subtle.ConstantTimeCompare(t.challenge[:], g.Challenge[:]) != 1 || !known {
			return Refused
		}
		c.Keys, c.KeyID = t.keys, s.KeyID
	}
	if o.Admit != nil {
		return o.Admit(c.Mode, c.KeyID)
	}
	return OK
}

// fill draws random bytes.
func fill(all ...[]byte) {
	for _, b := range all {
		_, _ = rand.Read(b) // never fails, as crypto/rand says
	}
}
