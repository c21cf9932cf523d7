// Package jsonlines is the connection on which two ends of Pathwise tell each other what they do, in lines of JSON: who speaks how long, and what is done
// with who speaks something else, says too much, or writes what a terminal would obey.
//
// It knows no messages: those are of the packages that speak them, such as reach and retrace.
package jsonlines

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// First is the first byte of every message, by which a responder that speaks other protocols on the same port knows these.
const First = '{'

const (
	// LastTimeout is how long it may take to say the last thing on a connection.
	LastTimeout = time.Second
	// CookieDigits are those of 128 random bits in hexadecimal, which nobody guesses within the seconds of a test.
	CookieDigits = 32
	// mostText is more than the texts are long that one end shows of the other's.
	mostText = 80
)

// Conn is one end of a connection. One goroutine uses it.
type Conn struct {
	net.Conn
	lines *bufio.Reader
	most  int
}

// Begin gives a connection the time that all that follows may take. most is how long a line of the other end may be, in bytes.
func Begin(conn net.Conn, longest time.Duration, most int) *Conn {
	_ = conn.SetDeadline(time.Now().Add(longest)) // fails only on a closed connection, as what follows does
	return &Conn{Conn: conn, lines: bufio.NewReaderSize(conn, most), most: most}
}

// Say sends a message.
func (c *Conn) Say(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.Write(append(text, '\n'))
	return err
}

// SayLast sends a message to who may be gone, or may not have been heard to the end. Nothing is said after it.
func (c *Conn) SayLast(message any) {
	_ = c.SetDeadline(time.Now().Add(LastTimeout))
	_ = c.Say(message)
	_, _ = io.CopyN(io.Discard, c.Conn, int64(c.most)) // what is unread when a connection closes would reset it, and take the message with it
}

// Hear reads a line. It is valid until the next call.
func (c *Conn) Hear() ([]byte, error) {
	line, err := c.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("a message of more than %d bytes", c.most)
	}
	return line, err
}

// ErrOther is of another end that speaks no lines of JSON.
var ErrOther = errors.New("no lines of JSON")

// HearAnswer reads the answer to the first message. It is ErrOther of who closes, says nothing, or says something else.
func (c *Conn) HearAnswer() ([]byte, error) {
	line, err := c.Hear()
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, os.ErrDeadlineExceeded) || err == nil && line[0] != First {
		return nil, ErrOther
	}
	return line, err
}

// AwaitEnd returns when the other end has closed, has said more, or may be read no longer.
func (c *Conn) AwaitEnd() { _, _ = c.lines.ReadByte() }

// NewCookie returns what only who reads on a connection can repeat there.
func NewCookie() string {
	random := make([]byte, CookieDigits/2)
	_, _ = rand.Read(random) // never fails, as crypto/rand says
	return hex.EncodeToString(random)
}

// CheckCookie refuses what NewCookie never returns.
func CheckCookie(cookie string) error {
	if raw, err := hex.DecodeString(cookie); err != nil || len(raw) != CookieDigits/2 {
		return fmt.Errorf("cookie %q: want %d hexadecimal digits", Printable(cookie), CookieDigits)
	}
	return nil
}

// Printable is a text of the other end as it is shown: cut to a line's worth, and without what a terminal would obey.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '.'
		}
		return r
	}, text[:min(len(text), mostText)])
}
