package iperf3

import (
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// State is one byte of the control connection.
type State int8

// The states in use, numbered as in iperf3's iperf_api.h.
const (
	TestStart       State = 1
	TestRunning     State = 2
	TestEnd         State = 4
	ParamExchange   State = 9
	CreateStreams   State = 10
	ServerTerminate State = 11
	ClientTerminate State = 12
	ExchangeResults State = 13
	DisplayResults  State = 14
	Done            State = 16
	AccessDenied    State = -1
	ServerError     State = -2

	// Pathwise is ours: a JSON frame with a Hello follows. It is sent only to a client whose parameters held the
	// "pathwise" key, so no stock client ever sees it. iperf3 uses 1..16.
	Pathwise State = 80
)

// String names the state as iperf3's source does.
func (s State) String() string {
	switch s {
	case TestStart:
		return "TEST_START"
	case TestRunning:
		return "TEST_RUNNING"
	case TestEnd:
		return "TEST_END"
	case ParamExchange:
		return "PARAM_EXCHANGE"
	case CreateStreams:
		return "CREATE_STREAMS"
	case ServerTerminate:
		return "SERVER_TERMINATE"
	case ClientTerminate:
		return "CLIENT_TERMINATE"
	case ExchangeResults:
		return "EXCHANGE_RESULTS"
	case DisplayResults:
		return "DISPLAY_RESULTS"
	case Done:
		return "IPERF_DONE"
	case AccessDenied:
		return "ACCESS_DENIED"
	case ServerError:
		return "SERVER_ERROR"
	case Pathwise:
		return "PATHWISE"
	}
	return fmt.Sprintf("state %d", int8(s))
}

// CookieSize is the length of the cookie on the wire: 36 characters and a NUL (iperf.h, COOKIE_SIZE).
const CookieSize = 37

// Cookie ties data connections to their control connection. Its content is opaque, unless both ends were told it
// beforehand: see Config.Cookie and Policy.Admit.
type Cookie [CookieSize]byte

// NewCookie draws a cookie of 36 characters from iperf3's alphabet.
func NewCookie(random io.Reader) (Cookie, error) {
	const alphabet = "abcdefghijklmnopqrstuvwxyz234567" // 32 letters, so five bits choose one without bias
	var c Cookie
	if _, err := io.ReadFull(random, c[:CookieSize-1]); err != nil {
		return c, fmt.Errorf("draw cookie: %w", err)
	}
	for i := range CookieSize - 1 {
		c[i] = alphabet[c[i]&31]
	}
	c[CookieSize-1] = 0
	return c, nil
}

// ParseCookie makes a cookie of its 36 characters. The error does not show them: a cookie may be a secret.
func ParseCookie(text string) (Cookie, error) {
	var c Cookie
	if len(text) != CookieSize-1 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return c, badConfig("cookie", fmt.Sprintf("of %d bytes", len(text)),
			fmt.Sprintf("must be %d printable ASCII characters", CookieSize-1))
	}
	copy(c[:], text)
	return c, nil
}

// Equal compares in a time that does not depend on where the cookies differ.
func (c Cookie) Equal(other Cookie) bool { return subtle.ConstantTimeCompare(c[:], other[:]) == 1 }

// The largest JSON texts read from a peer. iperf3 itself refuses parameters above 8 KiB; results carry our samples
// and, on request, the server's whole output.
const (
	MaxParamsSize  = 64 << 10
	MaxResultsSize = 2 << 20
)

// ReadState reads one state byte.
func ReadState(r io.Reader) (State, error) {
	var b [1]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, fmt.Errorf("read control state: %w", err)
	}
	return State(b[0]), nil
}

// WriteState writes one state byte.
func WriteState(w io.Writer, s State) error {
	if _, err := w.Write([]byte{byte(s)}); err != nil {
		return fmt.Errorf("send %v: %w", s, err)
	}
	return nil
}

// ReadFrame reads one JSON frame: a big-endian uint32 length, then as many bytes. A frame longer than limit is
// refused unread; memory grows with what arrives, not with what the header claims.
func ReadFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("read frame length: %w", err)
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size > int64(limit) {
		return nil, &ProtocolError{What: fmt.Sprintf("JSON frame of %d bytes, more than %d", size, limit)}
	}
	body, err := io.ReadAll(io.LimitReader(r, size))
	if err != nil {
		return nil, fmt.Errorf("read frame: %w", err)
	}
	if int64(len(body)) < size {
		return nil, fmt.Errorf("read frame: %w", io.ErrUnexpectedEOF)
	}
	return body, nil
}

// WriteFrame writes one JSON frame in a single write.
func WriteFrame(w io.Writer, text []byte) error {
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(text)), uint32(len(text)))
	if _, err := w.Write(append(frame, text...)); err != nil {
		return fmt.Errorf("send frame: %w", err)
	}
	return nil
}

// ReadPeerError reads what follows SERVER_ERROR: two big-endian int32, iperf3's error number and the errno behind it.
// Servers up to 3.12 leave out the second one in some cases; it is then 0.
func ReadPeerError(r io.Reader) (*PeerError, error) {
	var b [8]byte
	n, err := io.ReadFull(r, b[:])
	if n < 4 {
		return nil, fmt.Errorf("read server error: %w", err)
	}
	return &PeerError{
		Code:  int32(binary.BigEndian.Uint32(b[:4])),
		Errno: int32(binary.BigEndian.Uint32(b[4:])),
	}, nil
}

// WritePeerError sends SERVER_ERROR and the two numbers.
func WritePeerError(w io.Writer, e *PeerError) error {
	state := ServerError
	b := binary.BigEndian.AppendUint32([]byte{byte(state)}, uint32(e.Code))
	if _, err := w.Write(binary.BigEndian.AppendUint32(b, uint32(e.Errno))); err != nil {
		return fmt.Errorf("send server error: %w", err)
	}
	return nil
}

// oneLine makes a peer's text fit for a one-line message: control characters out, at most 200 bytes.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
