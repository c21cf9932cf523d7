package iperf3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/analysis/loadrate"
	"github.com/pathwise-net/pathwise/sock"
)

// control is a control connection on which every step has a time limit.
type control struct {
	conn    net.Conn
	ctx     context.Context
	timeout time.Duration
}

// keepAlive finds a peer that vanished without a word within 20 s; iperf3 waits for 120. The probes are many, since those of a
// test that fills a slow link are lost like the rest, or wait for seconds.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 2 * time.Second, Count: 8}

// watch makes the end of ctx interrupt reads and writes; the returned function undoes that.
func (c *control) watch() func() bool {
	return context.AfterFunc(c.ctx, func() { c.conn.SetDeadline(past) })
}

// arm sets the limit for the next step. The order matters: an end of ctx between the two lines is seen by one of
// this check and watch.
func (c *control) arm(limit time.Duration) error {
	c.conn.SetDeadline(time.Now().Add(limit))
	return context.Cause(c.ctx)
}

// disarm takes the limit away.
func (c *control) disarm() error {
	c.conn.SetDeadline(time.Time{})
	return context.Cause(c.ctx)
}

func (c *control) send(s State) error {
	if err := c.arm(c.timeout); err != nil {
		return err
	}
	return WriteState(c.conn, s)
}

func (c *control) sendFrame(text []byte) error {
	if err := c.arm(c.timeout); err != nil {
		return err
	}
	return WriteFrame(c.conn, text)
}

func (c *control) frame(limit int) ([]byte, error) {
	if err := c.arm(c.timeout); err != nil {
		return nil, err
	}
	return ReadFrame(c.conn, limit)
}

// state reads the next state; those that end a test come as errors.
func (c *control) state() (State, error) {
	if err := c.arm(c.timeout); err != nil {
		return 0, err
	}
	return c.anyState()
}

func (c *control) anyState() (State, error) {
	s, err := ReadState(c.conn)
	if err != nil {
		return 0, err
	}
	switch s {
	case AccessDenied:
		return s, ErrBusy
	case ServerTerminate, ClientTerminate:
		return s, ErrPeerTerminated
	case ServerError:
		if err := c.arm(c.timeout); err != nil {
			return s, err
		}
		e, err := ReadPeerError(c.conn)
		if err != nil {
			return s, err
		}
		return s, e
	}
	return s, nil
}

// expect reads the next state, which must be want.
func (c *control) expect(want State) error {
	s, err := c.state()
	if err == nil && s != want {
		err = &ProtocolError{What: fmt.Sprintf("%v where %v was due", s, want)}
	}
	return err
}

// causeError shows a sentinel's text and wraps the system's error beside it.
type causeError struct{ sentinel, cause error }

func (e *causeError) Error() string   { return e.sentinel.Error() }
func (e *causeError) Unwrap() []error { return []error{e.sentinel, e.cause} }

// explain puts a sentinel on what the system says about a connection.
func explain(err error) error {
	var known *causeError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return &causeError{ErrRefused, err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ETIMEDOUT):
		return &causeError{ErrPeerLost, err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &causeError{ErrPeerSilent, err}
	}
	return err
}

// setUp applies a test's parameters to a data connection. At the client that is before it connects, so that windows
// and MSS enter the handshake; at the server after accepting. It returns what was not granted in full.
func setUp(c syscall.RawConn, p Params, connected bool) (notes []string, err error) {
	if p.Window > 0 {
		if notes, err = setWindow(c, int(p.Window), connected); err != nil {
			return nil, err
		}
	} else if p.UDP {
		rate := int64(p.Bandwidth)
		if p.search() != nil {
			rate = loadrate.Most
		}
		setUDPBuffer(c, rate)
	}
	if p.TOS > 0 {
		if err := sock.SetDSCP(c, int(p.TOS)>>2); err != nil {
			return nil, err
		}
		if p.UDP {
			_ = sock.TellDSCP(c) // a kernel that does not tell leaves nothing to report
		}
	}
	if p.FQRate > 0 {
		if err := sock.SetMaxPacing(c, uint64(p.FQRate)); err != nil {
			return nil, err
		}
	}
	if p.UDP {
		if p.DontFragment {
			return notes, sock.SetDontFragment(c)
		}
		return notes, nil
	}
	if p.MSS > 0 && !connected { // an accepted connection already has the client's
		if err := setMSS(c, int(p.MSS)); err != nil {
			return nil, badConfig("MSS", int64(p.MSS), "the kernel refused it: "+err.Error())
		}
	}
	if p.Congestion != "" {
		return notes, sock.SetCongestion(c, p.Congestion)
	}
	return notes, nil
}

// setUDPBuffer makes the receive buffer as large as a test at a rate in bit/s needs it, or as is granted.
func setUDPBuffer(c syscall.RawConn, rate int64) {
	bytes := min(max(udpBuffer, int(float64(rate)/8*udpBufferTime.Seconds())), udpBufferMost)
	_, _ = sock.SetReceiveBuffer(c, bytes)
	_ = sock.SetInt(c, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bytes)
}

func setWindow(c syscall.RawConn, bytes int, connected bool) (notes []string, err error) {
	send, err := sock.SetSendBuffer(c, bytes)
	if err != nil {
		return nil, err
	}
	receive, err := sock.SetReceiveBuffer(c, bytes)
	if err != nil {
		return nil, err
	}
	if connected {
		_ = liftWindowClamp(c, receive) // UDP has none
	}
	if send < 2*bytes { // the kernel doubles what it grants
		notes = append(notes, fmt.Sprintf("send buffer of %d bytes asked for, %d granted: see net.core.wmem_max", bytes, send/2))
	}
	if receive < 2*bytes {
		notes = append(notes, fmt.Sprintf("receive buffer of %d bytes asked for, %d granted: see net.core.rmem_max", bytes, receive/2))
	}
	return notes, nil
}

// forget makes the kernel forget what earlier connections to addr taught it, so that it does not colour this test.
func forget(addr netip.Addr) *PathRecord {
	r := &PathRecord{}
	if !addr.IsValid() {
		r.Error = "the peer has no IP address"
		return r
	}
	memory, err := sock.PathMemory(addr.Unmap().WithZone(""))
	if err != nil {
		r.Error = err.Error()
		return r
	}
	if !memory.Found {
		return r
	}
	r.Memory = &PathMemory{
		SSThreshPackets: memory.SSThreshPackets, CwndPackets: memory.CwndPackets, ReorderingPackets: memory.ReorderingPackets,
		RTTSeconds: memory.RTT.Seconds(), RTTVarSeconds: memory.RTTVar.Seconds(), AgeSeconds: memory.Age.Seconds(),
	}
	if err := sock.ForgetPath(addr.Unmap().WithZone("")); err != nil {
		r.Error = err.Error()
		return r
	}
	r.Forgotten = true
	return r
}

func addrPort(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.TCPAddr:
		return unmap(a.AddrPort())
	case *net.UDPAddr:
		return unmap(a.AddrPort())
	}
	return netip.AddrPort{}
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// Listen opens the socket that Server.Serve wants: plain TCP. Go's own default is MPTCP, whose sockets lack some of
// what is measured here.
func Listen(ctx context.Context, addr string) (net.Listener, error) { return listen(ctx, addr, false) }

func listen(ctx context.Context, addr string, mptcp bool) (net.Listener, error) {
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	config.SetMultipathTCP(mptcp)
	l, err := config.Listen(ctx, "tcp", addr)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("listen at %s: another program is there; choose another port: %w", addr, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", addr, err)
	}
	return l, nil
}
