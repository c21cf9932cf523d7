package iperf3

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"time"
)

const (
	// Connections that have not sent their cookie yet: clients send it at once, and open at most 256 streams one after
	// another. Each takes a descriptor and a goroutine.
	greetingsEach, greetingsAll = 64, 1024
	// Tests that are not ready to start: one and some that hang, of each host. Each may have its streams open.
	setupsEach, setupsAll = 4, 64
)

// admit hands a new connection to a goroutine, if its host has not too many that have said nothing yet.
func (s *Server) admit(ctx context.Context, a arrival) {
	conn := a.conn
	from := addrPort(conn.RemoteAddr()).Addr()
	if peer := s.policy.Peer; peer.IsValid() && from.WithZone("") != peer.Unmap().WithZone("") {
		s.Log.Info("iperf3 client is not the peer", "client", conn.RemoteAddr())
		conn.Close()
		return
	}
	// Hours may end between a test's connections: its class is that of the first, and the others are let in by its cookie.
	a.own, a.in = s.policy.of(from, s.Now())
	if !a.in && !s.awaits(from) || s.policy.Allow != nil && !s.policy.Allow(from) {
		s.refuse(conn)
		return
	}
	if in, _ := s.greetings.Take(from); !in {
		conn.Close()
		return
	}
	s.group.Go(func() { s.greet(ctx, a) })
}

// refuse tells a connection that its host may not test, and closes it.
func (s *Server) refuse(conn net.Conn) {
	s.Log.Info("iperf3 client not allowed", "client", conn.RemoteAddr())
	conn.SetWriteDeadline(time.Now().Add(goodbyeLimit))
	_ = WritePeerError(conn, &PeerError{Code: codeUnauthorized})
	conn.Close()
}

// awaits reports whether a test of a host waits for its data connections.
func (s *Server) awaits(from netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, test := range s.waiting {
		if addrPort(test.ctl.conn.RemoteAddr()).Addr() == from {
			return true
		}
	}
	return false
}

// greet reads a connection's cookie and decides what it is: a stream of a test that waits for it, or a new test's
// control connection, which stays in this goroutine to the end of the test.
func (s *Server) greet(ctx context.Context, a arrival) {
	var cookie Cookie
	conn := a.conn
	ctl := &control{conn: conn, ctx: ctx, timeout: s.policy.Timeout}
	unwatch := ctl.watch()
	err := ctl.arm(s.policy.Timeout)
	if err == nil {
		_, err = io.ReadFull(conn, cookie[:])
	}
	from := addrPort(conn.RemoteAddr()).Addr()
	s.greetings.GiveBack(from)
	if err != nil {
		unwatch()
		conn.Close()
		return
	}
	if test := s.expecting(cookie); test != nil && sameHost(conn, test.ctl.conn) {
		unwatch()
		conn.SetDeadline(time.Time{})
		test.offer(a)
		return
	}
	defer conn.Close()
	defer unwatch()
	if !a.in {
		s.refuse(conn)
		return
	}
	if !s.letIn(ctx, cookie, from) {
		s.turnAway(ctl)
		return
	}
	s.serve(ctx, ctl, cookie, a.own)
}

// letIn reports whether a test may be set up, which it then is: its share of the setups is to be given back. It takes no
// place yet, since a client that falls silent now would keep it from others.
func (s *Server) letIn(ctx context.Context, cookie Cookie, from netip.Addr) bool {
	if s.policy.Admit != nil && !s.policy.Admit(cookie, from) || !s.takeSetup(from) {
		select {
		case <-time.After(busyGrace):
		case <-ctx.Done():
		}
		return false
	}
	if !s.mayStart(ctx, from) {
		s.setups.GiveBack(from)
		return false
	}
	return true
}

// takeSetup counts one more test that is being set up, if there may be.
func (s *Server) takeSetup(from netip.Addr) bool {
	in, _ := s.setups.Take(from)
	return in
}

// turnAway tells a client that the server is busy. A stock server turns clients away before it reads the cookie; ours must tell
// streams from tests first.
func (s *Server) turnAway(ctl *control) {
	if ctl.send(AccessDenied) == nil {
		hearOut(ctl.conn)
		s.Log.Info("iperf3 client turned away", "client", ctl.conn.RemoteAddr())
	}
}

// hearOut shuts down the sending side and discards what the client still sends, such as parameters, until the client closes. The kernel resets a connection
// that is closed with data unread, and what was sent last may be lost with the reset.
func hearOut(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		tcp.SetReadDeadline(time.Now().Add(goodbyeLimit))
		_, _ = io.Copy(io.Discard, io.LimitReader(tcp, MaxParamsSize))
	}
}

// expecting returns the test that waits for a stream with this cookie, if there is one.
func (s *Server) expecting(cookie Cookie) *serverTest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting[cookie]
}

// sameHost reports whether two connections come from one address: a cookie alone, which its client chose, admits no
// stream from elsewhere.
func sameHost(a, b net.Conn) bool {
	return addrPort(a.RemoteAddr()).Addr() == addrPort(b.RemoteAddr()).Addr()
}

// expect makes connections with the test's cookie its streams, unexpect ends that.
func (s *Server) expect(t *serverTest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[t.cookie] = t
}

func (s *Server) unexpect(t *serverTest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, t.cookie)
}

// Hello is what a Pathwise server tells a Pathwise client of itself: it comes between the client's parameters, which asked for it
// by their key "pathwise" (see ParamsExtra), and the state CREATE_STREAMS.
type Hello struct {
	Software string `json:"software"`
	Version  string `json:"version"`
	Clock    *Clock `json:"clock,omitempty"`  // nil: of a server that does not say
	Steps    bool   `json:"steps,omitempty"`  // it sends the Steps of a Train
	Awaits   bool   `json:"awaits,omitempty"` // it waits itself for the datagrams of trains that are under way when it gets TEST_END
	// File is what became of the file that the parameters ask for; nil: of a server that knows of no files, or was asked for none.
	File *HelloFile `json:"file,omitempty"`
	// Search is of a server that does the search which the parameters ask for; nil: of one that knows of none, or was asked for none.
	Search *HelloSearch `json:"search,omitempty"`
	// Group is what becomes of the group that the parameters ask for; nil: of a server that knows of no groups, or was asked for none.
	Group *HelloGroup `json:"group,omitempty"`
}

// Clock says what the wall clock of the server's machine is worth.
type Clock struct {
	Synchronized bool     `json:"synchronized"`
	Error        *float64 `json:"error_seconds,omitempty"` // the most that it may be off; nil: nothing is known
	// Shows is what it showed when the Hello was written, in ns since 1970; 0: of a server that does not say.
	Shows int64 `json:"shows_nanoseconds,omitempty"`
}

// maxClockError is where Linux calls a clock unsynchronized (NTP_PHASE_LIMIT in kernel/time/ntp.c: 16 s). A larger bound says
// nothing of a clock.
const maxClockError = 16

// newClock returns the Clock of this machine, of which sock.ClockQuality returned the bound of its error, and whether it is
// synchronized. An unsynchronized clock has no bound.
func newClock(bound time.Duration, synchronized bool) *Clock {
	c := &Clock{Synchronized: synchronized}
	if seconds := bound.Seconds(); synchronized {
		c.Error = &seconds
	}
	return c.plausible()
}

// plausible returns the clock without its Error where that cannot be right: below zero, above maxClockError, or of a clock that is
// not synchronized.
func (c *Clock) plausible() *Clock {
	if c == nil || c.Error == nil || c.Synchronized && *c.Error >= 0 && *c.Error <= maxClockError {
		return c
	}
	return &Clock{Synchronized: c.Synchronized, Shows: c.Shows}
}

// ahead is the least and the most that a clock shows more than another one, which showed asked before the first was read, and was read
// took later: the first was read at some time between. nil: it was not told.
func (c *Clock) ahead(asked time.Time, took time.Duration) *[2]time.Duration {
	if c == nil || c.Shows <= 0 {
		return nil
	}
	most := time.Duration(c.Shows - asked.UnixNano())
	return &[2]time.Duration{most - took, most}
}

// DecodeHello reads the JSON text of a Hello.
func DecodeHello(text []byte) (Hello, error) {
	var h Hello
	if err := json.Unmarshal(text, &h); err != nil {
		return h, &ProtocolError{What: "malformed hello: " + oneLine(err.Error())}
	}
	h.Software, h.Version, h.Clock = oneLine(h.Software), oneLine(h.Version), h.Clock.plausible()
	if h.File != nil {
		h.File.Error = oneLine(h.File.Error)
	}
	if h.Group != nil {
		h.Group.Interface, h.Group.Error = oneLine(h.Group.Interface), oneLine(h.Group.Error)
	}
	return h, nil
}
