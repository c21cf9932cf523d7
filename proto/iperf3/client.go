package iperf3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// Client tests against one server.
type Client struct {
	Addr   string      // host:port; the port may be left out
	Family sock.Family // zero: the first of the host's addresses that answers
	Config Config
}

const (
	udpConnectLimit = 4 * time.Second        // for the answer to a UDP stream's first datagram
	goodbyeLimit    = 200 * time.Millisecond // for the last byte to a peer that may be gone
	// controlMSS is the largest segment on the control connection, either way, in bytes: what is said there arrives where large packets vanish.
	controlMSS = 1000
)

// Run does one test. The Report is never nil: with an error it holds what was measured before. Errors: what package input calls bad
// before anything was sent; ErrRefused, ErrBusy, ErrPeerSilent, ErrPeerLost, ErrPeerTerminated, ErrUDPBlocked,
// *PeerError, *ProtocolError (all for errors.Is and As); the cause of ctx, within a second of its end.
func (c *Client) Run(ctx context.Context) (*Report, error) {
	report := &Report{Config: c.Config.withDefaults()}
	report.Config.Cookie, report.Config.Auth = "", nil
	if err := c.Config.Validate(); err != nil {
		return report, err
	}
	if c.Config.Group != "" {
		return report, badConfig("group", c.Config.Group, "is of a GroupClient")
	}
	addr, err := hostPort(c.Addr)
	if err != nil {
		return report, err
	}
	ends, err := c.ends(ctx, addr)
	if err != nil {
		return report, err
	}
	run := &clientRun{config: c.Config.withDefaults(), report: report}
	err = run.do(ctx, ends)
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	var refused *PeerError
	if a := c.Config.Auth; a != nil && !a.PKCS1 && errors.As(err, &refused) && refused.Code == codeUnauthorized {
		err = fmt.Errorf("%w; an iperf3 server before 3.17 wants PKCS #1 padding", err)
	}
	if err != nil {
		return report, fmt.Errorf("test with %s: %w", addr, explain(err))
	}
	return report, nil
}

// clientRun is one test in the client's role.
type clientRun struct {
	config Config
	params Params
	report *Report
	ctl    *control
	cookie Cookie
	t      *transfer
	asked  time.Time // when the parameters were sent

	at        string // the server, as the caller named it; of a test of a group
	groupPort int    // that datagrams to the group go to
}

func (r *clientRun) do(ctx context.Context, ends []netip.AddrPort) (err error) {
	if err := r.open(ctx, ends); err != nil {
		return err
	}
	conn := r.ctl.conn
	defer conn.Close()
	defer r.ctl.watch()()
	defer func() {
		if err != nil { // tell the server, if it still listens
			conn.SetWriteDeadline(time.Now().Add(goodbyeLimit))
			_ = WriteState(conn, ClientTerminate)
		}
	}()
	if err := r.negotiate(); err != nil {
		return err
	}
	defer func() { r.t.closeStreams() }()
	if err := r.openStreams(ctx); err != nil {
		return err
	}
	if err := r.ctl.expect(TestStart); err != nil {
		return err
	}
	return r.test(ctx)
}

// setUpControl prepares the control connection before it connects. Its congestion control shows whether there is one of that
// name, before anything is sent.
func (r *clientRun) setUpControl(_, _ string, c syscall.RawConn) error {
	if name := r.config.Congestion; name != "" {
		if err := sock.SetCongestion(c, name); err != nil {
			return err
		}
	}
	switch {
	case r.config.MSS > 0:
		return setMSS(c, min(r.config.MSS, controlMSS))
	case r.config.Proto == UDP && r.config.Length == 0: // see fittingDatagram
		return nil
	}
	return setMSS(c, controlMSS)
}

// ends are the host's addresses with the port, in the order in which to try them.
func (c *Client) ends(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	host, port, err := sock.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	addresses, err := sock.Addresses(ctx, nil, host, c.Family)
	if err != nil {
		return nil, err
	}
	ends := make([]netip.AddrPort, len(addresses))
	for i, a := range addresses {
		ends[i] = netip.AddrPortFrom(a, uint16(port))
	}
	return ends, nil
}

func dialTimedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// ask writes the parameters into what the server is sent.
func (r *clientRun) ask(to io.Writer) error {
	if r.config.Proto == UDP && r.config.Length == 0 {
		r.config.Length = fittingDatagram(r.ctl.conn)
		r.report.Config.Length = r.config.Length
	}
	r.params = r.config.params()
	if r.config.Auth != nil {
		token, err := r.config.Auth.token(time.Now())
		if err != nil {
			return err
		}
		r.params.AuthToken = token
	}
	if r.config.Search {
		search, err := newSearch()
		if err != nil {
			return err
		}
		r.params.Pathwise.Search = search
	}
	if r.config.Group != "" {
		r.params.Pathwise.Group = &GroupExtra{Address: r.config.Group, Port: r.groupPort}
	}
	text, err := EncodeParams(r.params)
	if err != nil {
		return err
	}
	return WriteFrame(to, text)
}

// negotiate goes from PARAM_EXCHANGE to CREATE_STREAMS.
func (r *clientRun) negotiate() error {
	if r.config.Group != "" {
		if err := r.ctl.arm(r.config.Timeout); err != nil {
			return err
		}
		r.asked = time.Now()
		if err := r.ask(r.ctl.conn); err != nil {
			return err
		}
	}
	r.t = newTransfer(r.params)
	r.t.active, r.t.source, r.t.sink = true, r.config.Source, r.config.Sink
	state, err := r.ctl.state()
	if err == nil && state == Pathwise {
		if err := r.hello(); err != nil {
			return err
		}
		state, err = r.ctl.state()
	}
	if err == nil && r.report.Peer == nil {
		err = r.config.validateStock()
	}
	if err == nil && state != CreateStreams {
		err = &ProtocolError{What: fmt.Sprintf("%v where %v was due", state, CreateStreams)}
	}
	return err
}

// hello reads what the server tells of itself.
func (r *clientRun) hello() error {
	text, err := r.ctl.frame(MaxParamsSize)
	if err != nil {
		return err
	}
	took := time.Since(r.asked)
	h, err := DecodeHello(text)
	if err != nil {
		return err
	}
	r.t.awaited = h.Awaits && r.config.Train != nil && !r.config.Reverse
	r.report.Peer, r.report.Ahead = &h, h.Clock.ahead(r.asked, took)
	if r.config.Search && h.Search == nil {
		return badConfig("search", "rfc9097", "the far end is of a version that reports nothing while it receives: search by trials")
	}
	if r.config.FarFile != "" {
		return r.farFile(h.File)
	}
	return r.checkHelloGroup(h.Group)
}

// fittingDatagram is the largest UDP payload that needs no fragmentation on the path of conn, by iperf3's rule: as
// much as a TCP segment carries.
func fittingDatagram(conn net.Conn) int {
	if info, err := sock.InfoOf(conn); err == nil && info.SndMSS >= minUDPLength && info.SndMSS <= maxUDPLength {
		return int(info.SndMSS)
	}
	return defaultUDPLength
}

// openStreams opens the data connections one after another, as the server expects: senders first.
func (r *clientRun) openStreams(ctx context.Context) error {
	settings := sock.ReadTCPSettings()
	r.report.Settings = &settings
	r.report.Path = forget(r.report.Remote.Addr())
	senders := []bool{!r.config.Reverse}
	if r.config.Bidir {
		senders = []bool{true, false}
	}
	for _, sender := range senders {
		for range r.config.Parallel {
			conn, err := r.dialStream(ctx)
			if err != nil {
				return fmt.Errorf("open stream %d: %w", len(r.t.streams)+1, err)
			}
			s, err := newStream(len(r.t.streams), conn, sender, sender, true)
			if err != nil {
				conn.Close()
				return err
			}
			r.t.streams = append(r.t.streams, s)
			if r.config.MPTCP && !s.mptcp {
				r.note("the streams are of plain TCP: one of the two hosts, or something between, does not let MPTCP pass")
			}
		}
	}
	return nil
}

// note adds a line to what limits the figures, once.
func (r *clientRun) note(text string) {
	if !slices.Contains(r.report.Notes, text) {
		r.report.Notes = append(r.report.Notes, text)
	}
}

// greet makes a TCP connection a stream of this test. A route that carries a congestion control (ip-route(8), congctl)
// has overruled the one that was chosen before connecting, so it is chosen again.
func (r *clientRun) greet(conn *net.TCPConn) error {
	conn.SetDeadline(time.Now().Add(r.config.Timeout))
	defer conn.SetDeadline(time.Time{})
	if name := r.params.Congestion; name != "" {
		raw, err := conn.SyscallConn()
		if err != nil {
			return err
		}
		if err := sock.SetCongestion(raw, name); err != nil {
			return err
		}
	}
	if err := conn.SetNoDelay(r.config.NoDelay); err != nil {
		return err
	}
	_, err := conn.Write(r.cookie[:])
	return err
}
