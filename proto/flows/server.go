package flows

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/traffic"
)

// Policy is what a Server allows.
type Policy struct {
	Tests  int        // at the same time; 0: 1
	Most   Ask        // of one test; a zero is the default: 5 minutes, traffic.MostPackets, 1 Gbit/s
	Secret string     // that a client has to show; "": none
	Peer   netip.Addr // the only host that may come; the zero value: any
}

const (
	defaultLongest = 5 * time.Minute
	defaultRate    = 1e9
)

// Tested is what came of one test.
type Tested struct {
	Client netip.AddrPort
	Bytes  int64 // of datagrams that came and that were sent, of UDP payload, also of a test that failed
	Err    error // nil: it went to its end
}

// Server takes the flows of clients. It is used for one Serve.
type Server struct {
	Policy Policy
	Log    *slog.Logger // nil: silent
	// OnTest, if not nil, is called after each test that was let in, while it still has its place: never more than Policy.Tests calls
	// at a time.
	OnTest func(Tested)

	silence   time.Duration // in place of PeerTimeout, in tests; 0: that
	beat      time.Duration // in place of beatEvery, in tests; 0: that
	places    chan struct{}
	strangers atomic.Int64
	reckoning chan struct{} // one account is made at a time: each takes some hundred megabytes of a large test
	datagrams *sock.Answering

	mu    sync.Mutex
	tests map[number]*test
}

// Listener is a port of TCP and of UDP.
type Listener struct {
	control   net.Listener
	datagrams *sock.Answering
}

// mostTries is how often another port is tried where the port is to be any, and the one that TCP got is taken for UDP.
const mostTries = 20

// Listen listens for a Server at HOST:PORT, over TCP and UDP.
func Listen(ctx context.Context, address string) (*Listener, error) {
	for try := 0; ; try++ {
		control, err := endpoint.Listen(ctx, address)
		if err != nil {
			return nil, err
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			control.Close()
			return nil, fmt.Errorf("listen at %s: %w", address, err)
		}
		at := net.JoinHostPort(host, fmt.Sprint(endpoint.AddrPort(control.Addr()).Port()))
		datagrams, err := sock.ListenAnswering(ctx, at)
		if err == nil {
			return &Listener{control, datagrams}, nil
		}
		control.Close()
		if port != "0" || try == mostTries {
			return nil, err
		}
	}
}

// Addr is where it listens over TCP.
func (l *Listener) Addr() net.Addr { return l.control.Addr() }

// Serve answers on a listener until ctx ends. It then ends all tests, waits for every goroutine, closes the listener and returns nil.
func (s *Server) Serve(ctx context.Context, l *Listener) error {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.Policy.Most.Longest = cmp.Or(s.Policy.Most.Longest, defaultLongest)
	s.Policy.Most.Packets = cmp.Or(s.Policy.Most.Packets, traffic.MostPackets)
	s.Policy.Most.Rate = cmp.Or(s.Policy.Most.Rate, defaultRate)
	s.silence, s.beat = cmp.Or(s.silence, PeerTimeout), cmp.Or(s.beat, beatEvery)
	s.reckoning, s.datagrams = make(chan struct{}, 1), l.datagrams
	s.places, s.tests = make(chan struct{}, max(1, s.Policy.Tests)), map[number]*test{}
	var reader sync.WaitGroup
	reader.Go(func() { s.receive(l.datagrams) })
	door := endpoint.Door{Protocol: "flows", Peer: s.Policy.Peer, Log: s.Log, Greet: s.greet}
	err := door.Serve(ctx, l.control)
	l.datagrams.Interrupt()
	reader.Wait()
	l.datagrams.Close()
	return err
}

// receive takes datagrams until the socket is interrupted.
func (s *Server) receive(from *sock.Answering) {
	refusals := endpoint.Refusals{Title: "datagrams of no flow"}
	defer func() { refusals.Tell(s.Log) }()
	for {
		p, err := from.Receive()
		if err != nil {
			return
		}
		if why := s.take(p); why != "" {
			refusals.Add(s.Log, p.At.User, why, p.From)
		}
	}
}

// take notes a datagram, or says why it does not count.
func (s *Server) take(p sock.Asked) (why string) {
	if len(p.Data) < headerBytes {
		s.strangers.Add(1)
		return "shorter than a datagram of a flow is"
	}
	d := decodeDatagram(p.Data)
	t := s.testOf(d.number)
	if t == nil || t.from != p.From.Addr().WithZone("") {
		s.strangers.Add(1)
		return "of no test that is under way"
	}
	if t.knocked(d.flow, p) || t.take(d, len(p.Data), arrivalOf(p), dscpOf(p)) {
		return ""
	}
	return "of a flow or of a number that the test does not have"
}

// arrivalOf is when a packet came, in ns since 1970.
func arrivalOf(p sock.Asked) int64 {
	if at := p.At.Kernel; !at.IsZero() {
		return at.UnixNano()
	}
	return p.At.User.UnixNano()
}

// dscpOf is the mark of a packet; -1: not known.
func dscpOf(p sock.Asked) int {
	return p.TOS >> 2 // the lower two are of ECN (RFC 3168); -1 stays
}

func (s *Server) testOf(n number) *test {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tests[n]
}

// greet reads a hello, lets the test in or says why not, and serves it.
func (s *Server) greet(ctx context.Context, conn net.Conn, from netip.Addr, shown func()) {
	_ = conn.SetDeadline(time.Now().Add(min(endpoint.GreetTimeout, s.silence)))
	first := make([]byte, helloBytes)
	_, err := io.ReadFull(conn, first)
	var rest []byte
	if err == nil {
		rest = make([]byte, restOf(first))
		_, err = io.ReadFull(conn, rest)
	}
	shown()
	if err != nil || restOf(first) == 0 {
		return
	}
	secret, terms, err := decodeHello(first, rest)
	var t *test
	said := unclear
	if err == nil {
		if said = busy; s.takePlace(ctx, secret) {
			defer func() { <-s.places }()
			t, said = s.admit(from, terms)
		}
	}
	if said == goAhead {
		s.serve(ctx, conn, t)
		return
	}
	s.Log.Info("flows turned away", "client", conn.RemoteAddr(), "verdict", int(said))
	_, _ = conn.Write(welcome{verdict: said, allowed: s.Policy.Most}.encode())
}

// admit makes a test of terms that are allowed, or says what they are.
func (s *Server) admit(from netip.Addr, terms Terms) (*test, verdict) {
	if !terms.ask().within(s.Policy.Most) {
		return nil, tooMuch
	}
	script, err := terms.reversed()
	if err != nil {
		return nil, unclear
	}
	return newTest(from, terms, script, s.silence), goAhead
}

// takePlace reports whether there is a place for a test with that secret; it is to be given back.
func (s *Server) takePlace(ctx context.Context, secret string) bool {
	places := s.places
	if s.Policy.Secret != "" && !sameSecret(secret, s.Policy.Secret) {
		places = nil // never a place, and told no sooner
	}
	return endpoint.TakePlace(ctx, places)
}

// serve makes one test that has its place.
func (s *Server) serve(ctx context.Context, conn net.Conn, t *test) {
	defer s.forget(t)
	_, _ = rand.Read(t.number[:]) // never fails, as crypto/rand says
	strangers := s.strangers.Load()
	s.mu.Lock()
	s.tests[t.number] = t
	s.mu.Unlock()
	account, err := t.control(ctx, conn, s)
	if err == nil {
		account.Strangers = s.strangers.Load() - strangers
		_ = conn.SetDeadline(time.Now().Add(t.silent))
		_, err = conn.Write(account.encode())
	}
	err = endpoint.Explain(ctx, err)
	s.Log.Info("flows done", "client", conn.RemoteAddr(), "bytes", t.bytes(), "error", err)
	if s.OnTest != nil {
		s.OnTest(Tested{Client: endpoint.AddrPort(conn.RemoteAddr()), Bytes: t.bytes(), Err: err})
	}
}

// forget takes a test from those that datagrams may come to.
func (s *Server) forget(t *test) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tests, t.number)
}

// reckon makes the account of a test, after those that others wait for.
func (s *Server) reckon(ctx context.Context, t *test, sent []int) (Account, error) {
	select {
	case s.reckoning <- struct{}{}:
		defer func() { <-s.reckoning }()
		return t.account(sent), nil
	case <-ctx.Done():
		return Account{}, context.Cause(ctx)
	}
}
