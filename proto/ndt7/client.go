package ndt7

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// Client makes tests with a server. It may be used for several, one after the other.
type Client struct {
	Host       string        // name of the server, for its certificate and the request; required
	Port       int           // 0: DefaultPort
	TLS        *tls.Config   // nil: none; its ServerName and NextProtos are Client's to set
	Duration   time.Duration // of a test; 0: 10 s, or what the server lets it have
	Secret     string        // that the server asks for as an access token; "": none
	Congestion string        // of both ends; "": bbr at a server that has it, and this host's own
	Timeout    time.Duration // to open the connection, TLS and WebSocket; 0: 10 s
	Software   string        // that the server is told as User-Agent, such as "pathwise/1.2"; "": pathwise

	// OnInterval, if not nil, is called for what moved in each second, and in a rest of a tenth of one at least, by the goroutine of the test.
	OnInterval func(Interval)
}

// Interval is what this end received or sent in a part of a test.
type Interval struct {
	Start, End time.Duration // since the handshake
	Bytes      int64
}

// Sample is one reading of this end's TCP_INFO.
type Sample struct {
	Elapsed time.Duration // since the handshake
	Values  map[string]float64
}

// Report is what came of one test, as far as it went.
type Report struct {
	Test          string
	Local, Remote netip.AddrPort
	Congestion    string // of this end
	Secure        bool   // with TLS
	Started       time.Time
	Elapsed       time.Duration // of Bytes
	// Bytes are those that the receiver had: of a download of binary messages that came, of an upload of TCP's payload that the server's
	// kernel counted. Of an upload to a server that told nothing they are 0.
	Bytes     int64
	Moved     int64         // bytes of binary messages that this end received or sent
	Told      []Measurement // by the server, the last of which is the summary; of many, those that come in time
	Samples   []Sample      // of this end
	Intervals []Interval    // each second, and a rest of a tenth of one at least
	Notes     []string      // what does not make the test fail, and limits what it says
}

// BitsPerSecond is the figure of the test; 0: there is none.
func (r *Report) BitsPerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Bytes) * 8 / r.Elapsed.Seconds()
}

// openTimeout is what the specification has: 5 to 10 s.
const openTimeout = 10 * time.Second

// Run makes a test (Download or Upload) with the first of some addresses of the server that answers. The report is not nil, whatever the error.
func (c *Client) Run(ctx context.Context, test string, ends []netip.AddrPort) (*Report, error) {
	r := &Report{Test: test, Secure: c.TLS != nil, Started: time.Now()}
	ws, conn, err := c.open(ctx, test, ends)
	if err != nil {
		return r, err
	}
	defer ws.CloseNow()
	r.Local, r.Remote = endpoint.AddrPort(conn.LocalAddr()), endpoint.AddrPort(conn.RemoteAddr())
	if raw, err := conn.(*net.TCPConn).SyscallConn(); err == nil {
		r.Congestion, _ = sock.Congestion(raw)
	}
	t := &running{Client: c, report: r, ws: ws, conn: conn, lasts: cmp.Or(c.Duration, usualTest), began: time.Now()}
	r.Started = t.began
	// Whatever the server does, this is when the test is over.
	hard := time.AfterFunc(t.lasts+overtime, func() { t.late.Store(true); conn.Close() })
	defer hard.Stop()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	err = t.do(test)
	return r, t.judge(ctx, err)
}

// open connects and shakes hands.
func (c *Client) open(ctx context.Context, test string, ends []netip.AddrPort) (*websocket.Conn, net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(c.Timeout, openTimeout), errOpening)
	defer cancel()
	dialer := &net.Dialer{}
	dialer.SetMultipathTCP(false)
	conn, err := sock.Connect(ctx, dialer, ends)
	if err != nil {
		return nil, nil, opening(ctx, err)
	}
	ws, err := c.shake(ctx, conn, test)
	if err != nil {
		conn.Close()
		return nil, nil, opening(ctx, err)
	}
	ws.SetReadLimit(mostMessage)
	return ws, conn, nil
}

func (c *Client) shake(ctx context.Context, conn net.Conn, test string) (*websocket.Conn, error) {
	if c.Congestion != "" {
		raw, err := conn.(*net.TCPConn).SyscallConn()
		if err == nil {
			err = sock.SetCongestion(raw, c.Congestion)
		}
		if err != nil {
			return nil, err
		}
	}
	once := func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	transport := &http.Transport{DialContext: once}
	scheme := "ws"
	if c.TLS != nil {
		scheme = "wss"
		settings := c.TLS.Clone()
		settings.ServerName, settings.NextProtos = c.Host, []string{"http/1.1"}
		transport.TLSClientConfig = settings
	}
	at := url.URL{Scheme: scheme, Host: net.JoinHostPort(c.Host, strconv.Itoa(cmp.Or(c.Port, DefaultPort))), Path: pathOf(test), RawQuery: c.query()}
	ws, answer, err := websocket.Dial(ctx, at.String(), &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		Subprotocols: []string{Subprotocol}, HTTPHeader: http.Header{"User-Agent": {cmp.Or(c.Software, "pathwise")}}})
	if err != nil {
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
			return nil, refusal(answer)
		}
		return nil, hideQuery(err, at.RawQuery)
	}
	if ws.Subprotocol() != Subprotocol {
		_ = ws.CloseNow()
		return nil, errForeign
	}
	return ws, nil
}

// query is what a server of Pathwise is asked for. Others take it for metadata.
func (c *Client) query() string {
	values := url.Values{}
	set := func(key, value string) {
		if value != "" {
			values.Set(key, value)
		}
	}
	set(tokenKey, c.Secret)
	set(congestionKey, c.Congestion)
	if c.Duration > 0 {
		set(durationKey, c.Duration.String())
	}
	return values.Encode()
}

// hideQuery takes the query, which may have a secret, out of an error's text.
func hideQuery(err error, query string) error {
	if query == "" || !strings.Contains(err.Error(), query) {
		return err
	}
	return &hidden{err, strings.ReplaceAll(err.Error(), "?"+query, "")}
}
