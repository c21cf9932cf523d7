package iperf3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Policy is what a Server allows. The zero value is one test at a time, as iperf3 does it, of at most five minutes.
type Policy struct {
	MaxTests    int           // at the same time; 0: 1
	MaxDuration time.Duration // of the data phase, with the omitted part; 0: 5 min
	MaxStreams  int           // in each direction; 0: 128
	MaxRate     int64         // bit/s of a UDP test, over all streams that the server sends; 0: 1 Gbit/s
	Timeout     time.Duration // for each step of the handshake; 0: 10 s
	// Peer, if valid, is the only host that may connect. Connections from elsewhere are closed before anything is read, so
	// that they take nobody's place.
	Peer netip.Addr
	// Allow, if not nil, says whether a client may test; others are told that they are not authorized.
	Allow func(netip.Addr) bool
	// Admit, if not nil, says whether a client with this cookie may test. Others are told that the server is busy, as
	// late as a busy server says it, so that a guess teaches nothing. It is called from several goroutines.
	Admit func(Cookie, netip.Addr) bool
}

const (
	defaultMaxDuration = 5 * time.Minute
	defaultMaxRate     = 1_000_000_000
	maxHandshakes      = 64 // connections that have not sent their cookie yet; iperf3 clients send it at once
	acceptPause        = 50 * time.Millisecond

	// busyGrace is how long a new test waits for a place: whoever runs one test after another would otherwise find
	// this server still reading the last byte of the one before.
	busyGrace = 300 * time.Millisecond
)

func (p Policy) withDefaults() Policy {
	if p.MaxTests <= 0 {
		p.MaxTests = 1
	}
	p.MaxDuration = orDefault(p.MaxDuration, defaultMaxDuration)
	p.Timeout = orDefault(p.Timeout, defaultTimeout)
	if p.MaxStreams <= 0 || p.MaxStreams > maxStreams {
		p.MaxStreams = maxStreams
	}
	if p.MaxRate <= 0 {
		p.MaxRate = defaultMaxRate
	}
	return p
}

// Server answers iperf3 clients. A Server is used for one Serve at a time.
type Server struct {
	Policy Policy
	Log    *slog.Logger // nil: silent
	// OnTest, if not nil, is called after each test that was let in, by the goroutine that served it.
	OnTest func(Tested)

	policy     Policy
	places     chan struct{} // one for each test that runs
	mu         sync.Mutex
	waiting    map[Cookie]*serverTest // tests that wait for their data connections
	handshakes chan struct{}
	udpSetup   sync.Mutex // UDP listeners of several tests on one port would take each other's clients
	group      sync.WaitGroup
}

// Tested is what came of one test at a Server.
type Tested struct {
	Client                   netip.AddrPort
	SentBytes, ReceivedBytes int64 // of payload, as this end wrote and read it, also in a test that failed
	Err                      error // nil: the test went to its end
}

// arrival is a data connection and its place in the order of accepting, which is the order of the client's streams.
type arrival struct {
	order uint64
	conn  net.Conn
}

// Serve accepts control and data connections on ln (see Listen) until ctx ends, then tells the clients, waits for
// every goroutine and returns nil. UDP tests use the same port number. It closes ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	s.policy = s.Policy.withDefaults()
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.waiting = map[Cookie]*serverTest{}
	s.places = make(chan struct{}, s.policy.MaxTests)
	s.handshakes = make(chan struct{}, maxHandshakes)
	ctx, cancel := context.WithCancel(ctx)
	defer s.group.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	defer ln.Close()
	for order := uint64(0); ; order++ {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			s.admit(ctx, arrival{order, conn})
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept iperf3 client: %w", err)
		default: // out of descriptors, or a connection that was reset already
			s.Log.Warn("accept iperf3 client", "error", err)
			select {
			case <-time.After(acceptPause):
			case <-ctx.Done():
			}
		}
	}
}

// admit hands a new connection to a goroutine, if there are not too many that have said nothing yet.
func (s *Server) admit(ctx context.Context, a arrival) {
	conn := a.conn
	from := addrPort(conn.RemoteAddr()).Addr()
	if peer := s.policy.Peer; peer.IsValid() && from.WithZone("") != peer.Unmap().WithZone("") {
		s.Log.Info("iperf3 client is not the peer", "client", conn.RemoteAddr())
		conn.Close()
		return
	}
	if s.policy.Allow != nil && !s.policy.Allow(from) {
		s.Log.Info("iperf3 client not allowed", "client", conn.RemoteAddr())
		conn.SetWriteDeadline(time.Now().Add(goodbyeLimit))
		_ = WritePeerError(conn, &PeerError{Code: codeUnauthorized})
		conn.Close()
		return
	}
	select {
	case s.handshakes <- struct{}{}:
		s.group.Go(func() { s.greet(ctx, a) })
	default:
		conn.Close()
	}
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
	<-s.handshakes
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
	places := s.places
	if s.policy.Admit != nil && !s.policy.Admit(cookie, addrPort(conn.RemoteAddr()).Addr()) {
		places = nil // never has one
	}
	select {
	case places <- struct{}{}:
		defer func() { <-s.places }()
		s.serve(ctx, ctl, cookie)
	case <-time.After(busyGrace):
		// A stock server sends this without reading the cookie; ours must tell streams from tests first.
		if ctl.send(AccessDenied) == nil {
			s.Log.Info("iperf3 client turned away", "client", conn.RemoteAddr(), "busy", places != nil)
		}
	case <-ctx.Done():
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

func (s *Server) serve(ctx context.Context, ctl *control, cookie Cookie) {
	log := s.Log.With("client", ctl.conn.RemoteAddr().String())
	if tcp, ok := ctl.conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(keepAlive) // without it a vanished client is found when the test's time is over
	}
	test := &serverTest{server: s, ctl: ctl, cookie: cookie, conns: make(chan arrival, 2*maxStreams)}
	err := test.do(ctx)
	test.dropOffers()
	var refused *PeerError
	switch {
	case errors.As(err, &refused):
		ctl.conn.SetWriteDeadline(time.Now().Add(goodbyeLimit))
		_ = WritePeerError(ctl.conn, refused)
		log.Info("iperf3 test refused", "error", errorText(refused.Code), "cause", err)
	case ctx.Err() != nil:
		ctl.conn.SetWriteDeadline(time.Now().Add(goodbyeLimit))
		_ = WriteState(ctl.conn, ServerTerminate)
	case err != nil:
		log.Info("iperf3 test ended early", "error", explain(err))
	default:
		log.Info("iperf3 test done", "sent_bytes", test.sentBytes, "received_bytes", test.receivedBytes, "seconds", test.seconds)
	}
	if s.OnTest != nil {
		tested := Tested{Client: addrPort(ctl.conn.RemoteAddr()), Err: explain(err)}
		tested.SentBytes, tested.ReceivedBytes = test.moved()
		s.OnTest(tested)
	}
}
