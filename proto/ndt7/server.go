package ndt7

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// DefaultPort is where a server of Pathwise answers: one that any user may open. The specification names none.
const DefaultPort = 4443

// Policy is what a Server allows.
type Policy struct {
	Tests      int           // at the same time; 0: 1, so that none holds another back
	Longest    time.Duration // test; 0: 10 s, which is also how long a test is that does not say
	Secret     string        // that a client has to show as its access token; "": none
	Peer       netip.Addr    // the only host that may come; the zero value: any
	Idle       time.Duration // that a connection may take for a request, and stay open after an answer for the next; 0: 10 s
	Congestion string        // control of the connection where a client asks for none; "": bbr where the kernel has it, else the kernel's own
}

// Times of a test ("WebSocket channel usage").
const (
	usualTest = 10 * time.Second
	// overtime is how long after its time a connection is closed, whatever state it is in: 13 s for a test of 10.
	overtime = 3 * time.Second
	// sayEvery is the time between measurements. The specification allows ten a second.
	sayEvery = 250 * time.Millisecond
	// defaultIdle is time for a lost segment to be sent again, a few times.
	defaultIdle = 10 * time.Second
)

// Tested is what came of one test.
type Tested struct {
	Client netip.AddrPort
	Bytes  int64 // of binary messages, sent or received, also of a test that failed
	Err    error // nil: its time was over, or the client ended it
}

// Server answers tests, on one port with TLS and without. It is used for one Serve.
type Server struct {
	Policy      Policy
	Certificate *tls.Certificate      // nil: it does not speak TLS
	Pages       http.Handler          // for all that is not a test; nil: there is nothing else
	Plain       func(sock.SYN) string // what is said to who speaks neither TLS nor HTTP, by how the connection began; nil: nothing
	Log         *slog.Logger          // nil: silent
	// Lines, if not nil, serves who begins with '{', as no TLS and no HTTP does. The connection is closed when it returns, or ctx ends.
	Lines func(ctx context.Context, conn net.Conn)
	// OnTest, if not nil, is called after each test that was let in, while it still has its place: never more than Policy.Tests calls
	// at a time.
	OnTest func(Tested)

	places  chan struct{}
	ending  atomic.Int32 // tests whose time is over, and whose connections are not yet closed
	payload []byte       // random, which no compression on the way makes shorter
	http    http.Server
	handed  handover
	tls     *tls.Config
}

// Listen listens for a Server at HOST:PORT. Where the kernel can, it keeps how each connection began, for SYNOf and Server.Plain.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := endpoint.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	if raw, err := l.(*net.TCPListener).SyscallConn(); err == nil {
		_ = sock.SaveSYN(raw) // else there is nothing to tell
	}
	return l, nil
}

// Serve answers on a listener until ctx ends. It then ends all tests, waits for every goroutine, closes the listener and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.prepare()
	var group sync.WaitGroup
	defer group.Wait()
	defer s.http.Close()
	group.Go(func() { _ = s.http.Serve(&s.handed) }) // until it is closed
	// A connection counts as one that has shown nothing for as long as it is open, so that a network has few, and all have a number.
	door := endpoint.Door{Protocol: "ndt7", Peer: s.Policy.Peer, Log: s.Log,
		Greet: func(ctx context.Context, conn net.Conn, _ netip.Addr, _ func()) { s.greet(ctx, conn) }}
	return door.Serve(ctx, l)
}

func (s *Server) prepare() {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.Policy.Longest = cmp.Or(max(0, s.Policy.Longest), usualTest)
	s.Policy.Idle = cmp.Or(max(0, s.Policy.Idle), defaultIdle)
	s.places = make(chan struct{}, max(1, s.Policy.Tests))
	s.payload = make([]byte, mostSent)
	_, _ = rand.Read(s.payload) // never fails, as crypto/rand says
	s.handed = handover{conns: make(chan net.Conn), closed: make(chan struct{})}
	if s.Certificate != nil {
		// HTTP/2 would put a test beside other requests on one connection, whose TCP_INFO would be of all of them.
		s.tls = &tls.Config{Certificates: []tls.Certificate{*s.Certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	mux := http.NewServeMux()
	for _, test := range []string{Download, Upload} {
		mux.HandleFunc(pathOf(test), func(w http.ResponseWriter, r *http.Request) { s.test(w, r, test) })
	}
	if s.Pages != nil {
		mux.Handle("/", s.Pages)
	}
	idle := s.Policy.Idle
	s.http = http.Server{Handler: mux, ConnContext: keepVisitor, ConnState: noteClosed, Protocols: new(http.Protocols),
		ReadHeaderTimeout: idle, ReadTimeout: idle, WriteTimeout: idle, IdleTimeout: idle, // of what is no test
		MaxHeaderBytes: 16 << 10, // a query has at most 4 KiB
		ErrorLog:       slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug)}
	s.http.Protocols.SetHTTP1(true)
}

// takePlace reports whether there is a place for a test with that token; it is to be given back. It waits for tests that are ending: what a
// client sent last may be in queues of the path for longer than a client that makes one test after the other has to know of.
func (s *Server) takePlace(ctx context.Context, token string) bool {
	places := s.places
	if s.Policy.Secret != "" && !sameSecret(token, s.Policy.Secret) {
		places = nil // never a place, and told no sooner
	}
	for late := time.Now().Add(overtime); ; {
		ending := s.ending.Load() > 0
		if endpoint.TakePlace(ctx, places) {
			return true
		}
		ending = ending || s.ending.Load() > 0
		if !ending || ctx.Err() != nil || time.Now().After(late) {
			return false
		}
	}
}
