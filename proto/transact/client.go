package transact

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// Client makes tests with a responder. Terms must be set; the zero value of all else makes tests without a secret.
type Client struct {
	Terms   Terms
	Secret  string
	Timeout time.Duration // for a connection, and each message of the control connection; 0: 5 s
	NoDelay bool          // switch Nagle's algorithm off where requests are sent (TCP_NODELAY)

	// Pad, if above 0, is in how many writes each request is made. Requests then have as many bytes more as make each write fill whole
	// segments, by the MSS of the control connection: Test.Terms tells how many those are.
	Pad int
}

// padded is the least size of a request, no less than the one that is given, of which each write fills whole segments.
func padded(request, writes, mss int) int {
	segments := (request + writes*mss - 1) / (writes * mss) // of each write
	return segments * writes * mss
}

const (
	defaultTimeout = 5 * time.Second
	// accountTimeout is how long the account of a test may take, when all its exchanges are over: the path may have forgotten the
	// control connection, which was silent meanwhile, and the test is the client's to tell.
	accountTimeout = 2 * time.Second
)

// Test is one that a responder let in. One goroutine uses it.
type Test struct {
	Client
	Local, Remote netip.AddrPort // of the control connection

	ctx     context.Context
	control net.Conn
	number  number
}

// Begin asks for a test at the first of some addresses that answers. End or Close ends it, and the end of ctx all that is under way.
// Errors, for errors.Is and As: bad input, ErrBusy, ErrAcks, *TooLongError, those of package endpoint.
func (c Client) Begin(ctx context.Context, ends []netip.AddrPort) (*Test, error) {
	if err := c.Terms.Validate(); err != nil {
		return nil, err
	}
	if c.Secret != "" {
		if err := CheckSecret(c.Secret); err != nil {
			return nil, err
		}
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	conn, err := sock.Connect(ctx, dialer(c.Timeout), ends)
	if err != nil {
		return nil, endpoint.ExplainOpening(ctx, err)
	}
	t := &Test{Client: c, ctx: ctx, control: conn, Local: addrPort(conn.LocalAddr()), Remote: addrPort(conn.RemoteAddr())}
	err = t.pad()
	if err == nil {
		err = t.begin()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

// pad makes requests as large as Pad asks for.
func (t *Test) pad() error {
	if t.Pad <= 0 {
		return nil
	}
	info, err := sock.InfoOf(t.control)
	if err != nil {
		return fmt.Errorf("read MSS: %w", err)
	}
	t.Terms.Request = padded(t.Terms.Request, t.Pad, int(max(1, info.SndMSS)))
	return t.Terms.Validate()
}

func (t *Test) begin() error {
	defer context.AfterFunc(t.ctx, func() { t.control.Close() })()
	_ = t.control.SetDeadline(time.Now().Add(t.Timeout))
	_, err := t.control.Write(hello{t.Secret, t.Terms}.encode())
	answer := make([]byte, welcomeBytes)
	if err == nil {
		_, err = io.ReadFull(t.control, answer)
	}
	if err != nil {
		return endpoint.Explain(t.ctx, err)
	}
	w, err := decodeWelcome(answer)
	if err != nil {
		return err
	}
	t.number = w.number
	switch w.verdict {
	case goAhead:
		if w.acks != t.Terms.Acks {
			return ErrAcks
		}
		return nil
	case busy:
		return ErrBusy
	case tooLong:
		return &TooLongError{t.Terms.Longest, w.longest}
	}
	return input.Errorf("test: the responder takes no such terms")
}

// dialer opens connections that are not kept alive, as those of most programs.
func dialer(timeout time.Duration) *net.Dialer {
	d := &net.Dialer{Timeout: timeout, KeepAlive: -1}
	d.SetMultipathTCP(false)
	return d
}

// Connection is one on which exchanges are made, if it is of a test. One goroutine uses it.
type Connection struct {
	Opened        time.Duration // that it took to open
	Secured       time.Duration // that the handshake of TLS took, after that; 0: there was none
	Local, Remote netip.AddrPort

	test    *Test
	conn    net.Conn
	unwatch func() bool
	request []byte
	answer  []byte
}

// Open opens a connection to the first of some addresses that answers, of no test.
func Open(ctx context.Context, ends []netip.AddrPort, timeout time.Duration) (*Connection, error) {
	began := time.Now()
	conn, err := sock.Connect(ctx, dialer(timeout), ends)
	if err != nil {
		return nil, endpoint.ExplainOpening(ctx, err)
	}
	return &Connection{Opened: time.Since(began), Local: addrPort(conn.LocalAddr()), Remote: addrPort(conn.RemoteAddr()), conn: conn,
		unwatch: context.AfterFunc(ctx, func() { conn.Close() })}, nil
}

// Secure makes the handshake of TLS with a server of some name, within a time, and returns how many round trips it takes: 1 for TLS 1.3, 2
// for older versions (RFC 8446 section 2). Certificates are not verified, since only the time is wanted and nothing is said over TLS.
func (c *Connection) Secure(ctx context.Context, name string, timeout time.Duration) (trips int, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	secret := tls.Client(c.conn, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err := secret.HandshakeContext(ctx); err != nil {
		return 0, fmt.Errorf("make TLS handshake: %w", endpoint.Explain(ctx, err))
	}
	c.Secured = time.Since(began)
	if secret.ConnectionState().Version >= tls.VersionTLS13 {
		return 1, nil
	}
	return 2, nil
}

// Connect opens a connection to where the test was begun.
func (t *Test) Connect() (*Connection, error) {
	c, err := Open(t.ctx, []netip.AddrPort{t.Remote}, t.Timeout)
	if err != nil {
		return nil, err
	}
	c.test, c.request, c.answer = t, make([]byte, t.Terms.Request), make([]byte, min(t.Terms.Answer, readBytes))
	encodeRequest(c.request, t.number, t.Terms.Answer)
	if err := c.conn.(*net.TCPConn).SetNoDelay(t.NoDelay); err != nil {
		c.Close()
		return nil, fmt.Errorf("set TCP_NODELAY: %w", err)
	}
	return c, nil
}

// readBytes is how much of an answer is read at once.
const readBytes = 64 << 10

// Times of an exchange, since its first write began.
type Times struct{ Written, FirstByte, LastByte time.Duration }

// Exchange sends a request in so many writes, and awaits the whole answer until a moment. After an error the connection is of no more use.
func (c *Connection) Exchange(writes int, until time.Time) (t Times, err error) {
	began := time.Now()
	_ = c.conn.SetDeadline(until)
	for i := range writes {
		if _, err := c.conn.Write(c.request[len(c.request)*i/writes : len(c.request)*(i+1)/writes]); err != nil {
			return t, c.explain("send request", err)
		}
	}
	t.Written = time.Since(began)
	for left := c.test.Terms.Answer; left > 0; {
		n, err := c.conn.Read(c.answer[:min(left, len(c.answer))])
		if n > 0 && t.FirstByte == 0 {
			t.FirstByte = time.Since(began)
		}
		left -= n
		if err != nil && left > 0 {
			return t, c.explain("await answer", err)
		}
	}
	t.LastByte = time.Since(began)
	return t, nil
}

func (c *Connection) explain(doing string, err error) error {
	if c.test.ctx.Err() != nil {
		return context.Cause(c.test.ctx)
	}
	return fmt.Errorf("%s: %w", doing, endpoint.Explain(c.test.ctx, err))
}

// Info is what the kernel says of the connection.
func (c *Connection) Info() (sock.TCPInfo, error) { return sock.InfoOf(c.conn) }

// Close closes the connection.
func (c *Connection) Close() {
	c.unwatch()
	c.conn.Close()
}

// End tells the responder that the test is over, and returns its account of the test. Callers close the connections of the test first.
func (t *Test) End() (Account, error) {
	defer t.control.Close()
	defer context.AfterFunc(t.ctx, func() { t.control.Close() })()
	_ = t.control.SetDeadline(time.Now().Add(accountTimeout))
	_, err := t.control.Write(endMagic)
	account := make([]byte, accountBytes)
	if err == nil {
		_, err = io.ReadFull(t.control, account)
	}
	if t.ctx.Err() != nil {
		return Account{}, context.Cause(t.ctx)
	}
	if err != nil {
		return Account{}, fmt.Errorf("await account: %w", endpoint.Explain(t.ctx, err))
	}
	return decodeAccount(account)
}

// Close breaks the test off.
func (t *Test) Close() { t.control.Close() }

// addrPort keeps the zone of a link-local address, by which it is connected to again.
func addrPort(a net.Addr) netip.AddrPort {
	to := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
}
