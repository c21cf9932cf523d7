package owamp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/admission"
	"github.com/pathwise-net/pathwise/proto/control"
)

const (
	// greetTimeout is how long a client may take to set its connection up, idleTimeout how long it may then ask for nothing, and how long its
	// end of a message may take.
	greetTimeout = 10 * time.Second
	idleTimeout  = 30 * time.Second
	// Connections of one network and in all that are not yet set up.
	greetingsEach, greetingsAll = 64, 1024
	// busyGrace is how long a client waits for its place: whoever makes one test after the other would otherwise meet the end of its own.
	busyGrace = 300 * time.Millisecond
)

// Tested is what came of the sessions of one control connection.
type Tested struct {
	Client netip.AddrPort
	Bytes  int64 // of test packets, sent and received, also of a test that failed
	Err    error // nil: the client ended it
}

// Server answers the tests of clients. It is used for one Serve.
type Server struct {
	Policy Policy
	Log    *slog.Logger // nil: silent
	Clock  Clock
	// OnTest, if not nil, is called after each connection on which sessions were started, while it still has its place: never more than
	// Policy.Tests calls at a time.
	OnTest func(Tested)

	policy    Policy
	began     time.Time
	greetings *admission.Count
	places    chan struct{}
	store     store
	group     sync.WaitGroup
}

// Listen listens for a Server at HOST:PORT.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("listen at %s: another program is there; choose another port: %w", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return l, nil
}

// Serve answers on a listener until ctx ends. It then ends all tests, waits for every goroutine, closes the listener and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.policy, s.began = s.Policy.withDefaults(), time.Now()
	s.greetings = admission.NewCount(admission.Limits{Each: greetingsEach, All: greetingsAll})
	s.places, s.store.most = make(chan struct{}, s.policy.Tests), s.policy.Memory
	ctx, cancel := context.WithCancel(ctx)
	defer s.group.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer l.Close()
	return admission.Accept(ctx, l, s.Log, func(conn net.Conn) { s.admit(ctx, conn) })
}

// admit hands a connection to a goroutine, if its host may come and has not too many that are not yet set up.
func (s *Server) admit(ctx context.Context, conn net.Conn) {
	from := addrPort(conn.RemoteAddr()).Addr()
	if peer := s.policy.Peer; peer.IsValid() && from != peer.Unmap().WithZone("") {
		s.Log.Info("OWAMP from who is not the peer", "client", conn.RemoteAddr())
		conn.Close()
		return
	}
	if in, _ := s.greetings.Take(from); !in {
		conn.Close()
		return
	}
	s.group.Go(func() {
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		s.greet(ctx, conn, from)
	})
}

// greet sets a connection up, and serves it if it is let in.
func (s *Server) greet(ctx context.Context, conn net.Conn, from netip.Addr) {
	_ = conn.SetDeadline(time.Now().Add(greetTimeout))
	placed := false
	c, err := control.Answer(conn, control.Offer{Modes: s.policy.Modes, Since: s.began,
		Secret: func(keyID string) ([]byte, bool) { secret, known := s.policy.Keys[keyID]; return secret, known },
		Admit: func(_ control.Mode, keyID string) control.Accept {
			if s.policy.limitsOf(from, keyID).Refuse {
				return control.Refused
			}
			if placed = s.takePlace(ctx); !placed {
				return control.Busy
			}
			return control.OK
		}})
	s.greetings.GiveBack(from)
	if placed {
		defer func() { <-s.places }()
	}
	if err != nil {
		s.Log.Info("OWAMP client not served", "client", conn.RemoteAddr(), "error", explain(ctx, err))
		return
	}
	v := &visit{Connection: c, server: s, conn: conn, from: from, local: addrPort(conn.LocalAddr()).Addr(),
		limits: s.policy.limitsOf(from, c.KeyID)}
	err = explain(ctx, v.serve())
	v.close()
	s.Log.Info("OWAMP client done", "client", conn.RemoteAddr(), "key", c.KeyID, "tests", v.tests, "bytes", v.bytes, "error", err)
	if s.OnTest != nil && v.tests > 0 {
		s.OnTest(Tested{Client: addrPort(conn.RemoteAddr()), Bytes: v.bytes, Err: err})
	}
}

// takePlace reports whether there is a place for a client; it is to be given back.
func (s *Server) takePlace(ctx context.Context) bool {
	select {
	case s.places <- struct{}{}:
		return true
	case <-time.After(busyGrace):
	case <-ctx.Done():
	}
	return false
}
