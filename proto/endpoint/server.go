package endpoint

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// IdleTimeout is how long a client whose connection is set up may ask for nothing, and how long its end of a message may take.
const IdleTimeout = 30 * time.Second

// Tested is what came of the sessions of one control connection.
type Tested struct {
	Client netip.AddrPort
	Bytes  int64 // of test packets, sent and received, also of a test that failed
	Err    error // nil: the client ended it
}

// Server lets clients in, and has each served by Visit. It is used for one Serve.
type Server struct {
	Protocol string       // for its log
	Has      control.Mode // modes of the protocol
	Policy   Policy
	Log      *slog.Logger // nil: silent
	// OnTest, if not nil, is called after each connection on which sessions were started, while it still has its place: never more than
	// Policy.Tests calls at a time.
	OnTest func(Tested)
	// Beside lets each client that has its place have one more connection for each of its own, which has no place, so that it can ask what became
	// of its tests while they run. Visit is to take a place on it before it starts any.
	Beside bool
	// Visit does what one client asks for, ends it and lets go of all that it took. Several goroutines call it.
	Visit func(*Visit) error

	policy Policy
	began  time.Time
	places *places
}

// Visit is a connection that a Server let in. One goroutine uses it.
type Visit struct {
	*control.Connection
	Conn        net.Conn
	From, Local netip.Addr
	Limits      Limits
	Idle        time.Duration // for each message
	Tests       int           // times that sessions were started
	Bytes       int64         // of their packets

	seat *seat
}

// TakePlace reports whether the visit has a place for tests, as all have but some of a server with Beside, or there is one for it now.
func (v *Visit) TakePlace() bool { return v.seat.take() }

// Serve answers on a listener until ctx ends. It then ends all tests, waits for every goroutine, closes the listener and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { return s.door().Serve(ctx, l) }

// door makes the server ready for those who come.
func (s *Server) door() *Door {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.policy, s.began = s.Policy.withDefaults(s.Has), time.Now()
	s.places = newPlaces(s.policy.Tests)
	return &Door{Protocol: s.Protocol, Peer: s.policy.Peer, Log: s.Log, Greet: s.greet}
}

// greet sets a connection up, and serves it if it is let in.
func (s *Server) greet(ctx context.Context, conn net.Conn, from netip.Addr, shown func()) {
	_ = conn.SetDeadline(time.Now().Add(min(GreetTimeout, s.policy.Idle)))
	var seat *seat
	c, err := control.Answer(conn, control.Offer{Modes: s.policy.Modes, Since: s.began,
		Secret: func(keyID string) ([]byte, bool) { secret, known := s.policy.Keys[keyID]; return secret, known },
		Admit: func(_ control.Mode, keyID string) control.Accept {
			if s.policy.LimitsOf(from, keyID).Refuse {
				return control.Refused
			}
			taken, free := s.places.enter(ctx, client{from, keyID}, s.Beside)
			if !free {
				return control.Busy
			}
			seat = taken
			return control.OK
		}})
	shown()
	if seat != nil {
		defer seat.leave()
	}
	if err != nil {
		s.Log.Info(s.Protocol+" client not served", "client", conn.RemoteAddr(), "error", Explain(ctx, err))
		return
	}
	v := &Visit{Connection: c, Conn: conn, From: from, Local: AddrPort(conn.LocalAddr()).Addr(), Limits: s.policy.LimitsOf(from, c.KeyID),
		Idle: s.policy.Idle, seat: seat}
	err = Explain(ctx, s.Visit(v))
	s.Log.Info(s.Protocol+" client done", "client", conn.RemoteAddr(), "key", c.KeyID, "tests", v.Tests, "bytes", v.Bytes, "error", err)
	if s.OnTest != nil && v.Tests > 0 {
		s.OnTest(Tested{Client: AddrPort(conn.RemoteAddr()), Bytes: v.Bytes, Err: err})
	}
}

// Commands hands the first block of each command to do, until the client closes the connection: that is an error while something is under way.
func (v *Visit) Commands(underWay func() bool, do func(first []byte) error) error {
	for first := make([]byte, control.BlockBytes); ; {
		v.Arm()
		if err := v.Read(first); err != nil {
			if !underWay() {
				return nil // what it came for is done
			}
			return fmt.Errorf("await command: %w", err)
		}
		if err := do(first); err != nil {
			return fmt.Errorf("command %d: %w", first[0], err)
		}
	}
}

// Arm gives the next message its time.
func (v *Visit) Arm() { _ = v.Conn.SetDeadline(time.Now().Add(v.Idle)) }
