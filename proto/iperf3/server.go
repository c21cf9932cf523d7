package iperf3

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/admission"
	"github.com/pathwise-net/pathwise/sock"
)

// Policy is what a Server allows. The zero value is one test at a time, as iperf3 does it, of at most five minutes.
type Policy struct {
	MaxTests    int           // at the same time; 0: 1
	MaxDuration time.Duration // of the data phase, with the omitted part; 0: 5 min
	MaxStreams  int           // in each direction; 0: 128
	MaxRate     int64         // bit/s of a UDP test, over all streams that the server sends; 0: 1 Gbit/s
	Timeout     time.Duration // for each step of the handshake, of which all streams together are one; 0: 10 s
	// Overtime is what a test may take beyond the time that its client asked for; 0: 40 s, iperf3's own allowance for ten state changes of 4 s
	// (iperf_server_api.c, create_server_timers).
	Overtime time.Duration
	MPTCP    bool // tests by MPTCP are let in; the listener has to be of ListenMPTCP
	// Groups are multicast groups of which clients may have this host join one for a test, and receive what they send to it; nil: none. It never sends
	// to a group, and joins none that is assigned to protocols, whatever is here.
	Groups []netip.Prefix
	// Files, if not nil, is the folder whose files clients may have sent, and in which they may have written what comes: see Config.FarFile.
	Files *os.Root
	// Peer, if valid, is the only host that may connect. Connections from elsewhere are closed before anything is read, so
	// that they take nobody's place.
	Peer netip.Addr
	// Allow, if not nil, says whether a client may test; others are told that they are not authorized.
	Allow func(netip.Addr) bool
	// Classes are of clients, of which the first that fits counts: its limits are in place of those above.
	Classes []Class
	// Auth, if not nil, lets only its users test.
	Auth *ServerAuth
	// Admit, if not nil, says whether a client with this cookie may test. Others are told that the server is busy, as
	// late as a busy server says it, so that a guess teaches nothing. It is called from several goroutines.
	Admit func(Cookie, netip.Addr) bool
}

const (
	defaultMaxDuration = 5 * time.Minute
	defaultMaxRate     = 1_000_000_000
	defaultOvertime    = 40 * time.Second
)

func (p Policy) withDefaults() Policy {
	if p.MaxTests <= 0 {
		p.MaxTests = 1
	}
	p.MaxDuration = orDefault(p.MaxDuration, defaultMaxDuration)
	p.Timeout = orDefault(p.Timeout, defaultTimeout)
	p.Overtime = orDefault(p.Overtime, defaultOvertime)
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
	// OnTest, if not nil, is called after each test that was started, by the goroutine that served it, while the test
	// still has its place: never more than Policy.MaxTests calls at a time, or twice that with pairs of trains.
	OnTest func(Tested)
	// Clock says what this machine's wall clock is worth, which Pathwise clients are told; nil: sock.ClockQuality.
	Clock func() (bound time.Duration, synchronized bool)
	// Now reads that clock; nil: time.Now.
	Now func() time.Time

	policy    Policy
	places    chan struct{}    // one for each test that runs, from TEST_START on, or each pair
	greetings *admission.Count // connections, until their cookie is read
	setups    *admission.Count // tests, from their cookie until all streams are there
	mu        sync.Mutex
	waiting   map[Cookie]*serverTest    // tests that wait for their data connections
	pairs     map[netip.Addr]*pair      // tests of trains that run, by their client
	udpSetups map[udpEnds]chan struct{} // clients whose UDP streams are being opened; closed when that is over
	group     sync.WaitGroup
}

// Tested is what came of one test at a Server.
type Tested struct {
	Client                   netip.AddrPort
	SentBytes, ReceivedBytes int64 // of payload, as this end wrote and read it, also in a test that failed
	Err                      error // nil: the test went to its end
}

// arrival is a connection and its place in the order of accepting, which is the order of the client's streams.
type arrival struct {
	order uint64
	conn  net.Conn
	own   Policy // of the class that its host was in when it came
	in    bool   // that lets it test
}

// Serve accepts control and data connections on ln (see Listen) until ctx ends, then tells the clients, waits for
// every goroutine and returns nil. UDP tests use the same port number. It closes ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	s.reset()
	ctx, cancel := context.WithCancel(ctx)
	defer s.group.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	defer ln.Close()
	order := uint64(0)
	return admission.Accept(ctx, ln, s.Log, func(conn net.Conn) {
		s.admit(ctx, arrival{order: order, conn: conn})
		order++
	})
}

// reset makes the server ready for one Serve.
func (s *Server) reset() {
	s.policy = s.Policy.withDefaults()
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Clock == nil {
		s.Clock = sock.ClockQuality
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	s.waiting, s.pairs = map[Cookie]*serverTest{}, map[netip.Addr]*pair{}
	s.udpSetups = map[udpEnds]chan struct{}{}
	s.places = make(chan struct{}, s.policy.MaxTests)
	s.greetings = admission.NewCount(admission.Limits{Each: greetingsEach, All: greetingsAll})
	s.setups = admission.NewCount(admission.Limits{Each: max(setupsEach, s.policy.MaxTests), All: max(setupsAll, s.policy.MaxTests)})
}

func (s *Server) serve(ctx context.Context, ctl *control, cookie Cookie, own Policy) {
	log := s.Log.With("client", ctl.conn.RemoteAddr().String())
	if tcp, ok := ctl.conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(keepAlive) // without it a vanished client is found when the test's time is over
	}
	test := &serverTest{server: s, policy: own, ctl: ctl, cookie: cookie, conns: make(chan arrival, 2*maxStreams)}
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
	case errors.Is(err, ErrBusy):
		s.turnAway(ctl)
	case err != nil:
		log.Info("iperf3 test ended early", "error", explain(err))
	default:
		log.Info("iperf3 test done", "sent_bytes", test.sentBytes, "received_bytes", test.receivedBytes, "seconds", test.seconds)
	}
	if !test.placed {
		return
	}
	defer s.leavePlace(test)
	if s.OnTest != nil {
		tested := Tested{Client: addrPort(ctl.conn.RemoteAddr()), Err: explain(err)}
		tested.SentBytes, tested.ReceivedBytes = test.moved()
		s.OnTest(tested)
	}
}
