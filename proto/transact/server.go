package transact

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// Policy is what a Server allows.
type Policy struct {
	Tests   int           // at the same time; 0: 1
	Longest time.Duration // test; 0: 5 minutes
	Secret  string        // that a client has to show; "": none
	Peer    netip.Addr    // the only host that may come; the zero value: any
	Idle    time.Duration // that a client may take to say what it came for, and for its account; 0: endpoint.GreetTimeout
}

const (
	defaultLongest = 5 * time.Minute
	// testConnections is how many connections of one test may be open at once: a client has one, and some that are closing.
	testConnections = 16
)

// Tested is what came of one test.
type Tested struct {
	Client netip.AddrPort
	Bytes  int64 // of requests and answers, also of a test that failed
	Err    error // nil: the client ended it
}

// Server answers the tests of clients. It is used for one Serve.
type Server struct {
	Policy Policy
	Log    *slog.Logger // nil: silent
	// OnTest, if not nil, is called after each test that was let in, while it still has its place: never more than Policy.Tests calls
	// at a time.
	OnTest func(Tested)

	places chan struct{}

	mu    sync.Mutex
	tests map[number]*test
}

// Listen listens for a Server at HOST:PORT. Connections are not kept alive, so that they can be idle as those of programs are.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return endpoint.ListenAs(ctx, net.ListenConfig{KeepAlive: -1}, address)
}

// Serve answers on a listener until ctx ends. It then ends all tests, waits for every goroutine, closes the listener and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Policy.Longest <= 0 {
		s.Policy.Longest = defaultLongest
	}
	s.Policy.Idle = cmp.Or(max(0, s.Policy.Idle), endpoint.GreetTimeout)
	s.places, s.tests = make(chan struct{}, max(1, s.Policy.Tests)), map[number]*test{}
	door := endpoint.Door{Protocol: "transactions", Peer: s.Policy.Peer, Log: s.Log, Greet: s.greet}
	return door.Serve(ctx, l)
}

// greet reads what opens a connection, and serves what it is: the control connection of a test, or one of its others.
func (s *Server) greet(ctx context.Context, conn net.Conn, from netip.Addr, shown func()) {
	first := make([]byte, helloBytes)
	_ = conn.SetDeadline(time.Now().Add(s.Policy.Idle))
	n, err := io.ReadAtLeast(conn, first[:RequestHeader], 1)
	came := time.Now()
	if err == nil && n < RequestHeader {
		_, err = io.ReadFull(conn, first[n:RequestHeader])
	}
	if err == nil && isHello(first) {
		_, err = io.ReadFull(conn, first[RequestHeader:])
	}
	shown()
	if err != nil {
		return
	}
	if isHello(first) {
		s.control(ctx, conn, from, first)
		return
	}
	id, _, _ := decodeRequest(first)
	if t := s.testOf(id); t != nil && t.from == from && t.enter(conn) {
		t.answerAll(conn, first[:RequestHeader], came)
		t.leave(conn)
	}
}

// control lets a test in, or says why not, and serves it.
func (s *Server) control(ctx context.Context, conn net.Conn, from netip.Addr, first []byte) {
	h, err := decodeHello(first)
	said := goAhead
	switch {
	case err != nil:
		said = unclear
	case !s.takePlace(ctx, h.secret):
		said = busy
	case h.terms.Longest > s.Policy.Longest:
		<-s.places
		said = tooLong
	}
	if said != goAhead {
		s.Log.Info("transactions turned away", "client", conn.RemoteAddr(), "verdict", int(said))
		_, _ = conn.Write(welcome{verdict: said, longest: s.Policy.Longest}.encode())
		return
	}
	defer func() { <-s.places }()
	t := &test{from: from, terms: h.terms, conns: map[net.Conn]bool{}}
	_, _ = rand.Read(t.number[:]) // never fails, as crypto/rand says
	s.mu.Lock()
	s.tests[t.number] = t
	s.mu.Unlock()
	err = t.control(conn)
	s.mu.Lock()
	delete(s.tests, t.number)
	s.mu.Unlock()
	account := t.end()
	if err == nil {
		_ = conn.SetDeadline(time.Now().Add(s.Policy.Idle))
		_, err = conn.Write(account.encode())
	}
	err = endpoint.Explain(ctx, err)
	s.Log.Info("transactions done", "client", conn.RemoteAddr(), "exchanges", account.Exchanges, "error", err)
	if s.OnTest != nil {
		s.OnTest(Tested{Client: conn.RemoteAddr().(*net.TCPAddr).AddrPort(), Bytes: t.bytes, Err: err})
	}
}

// takePlace reports whether there is a place for a test with that secret; it is to be given back.
func (s *Server) takePlace(ctx context.Context, secret string) bool {
	places := s.places
	if s.Policy.Secret != "" && !sameSecret(secret, s.Policy.Secret) {
		places = nil // never a place, and told no sooner
	}
	return endpoint.TakePlace(ctx, places)
}

func (s *Server) testOf(n number) *test {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tests[n]
}
