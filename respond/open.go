package respond

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/proto/retrace"
)

// Limits bound what a responder does for those who come. One that is zero is the kind's own.
type Limits struct {
	Tests         int              // at the same time
	Longest       time.Duration    // test
	Streams       int              // of one test, in each direction
	Rate          int64            // bit/s that this end sends, of tests that ask it for a rate
	Keys          endpoint.Keys    // of clients of OWAMP and TWAMP; nil: those that show none are let in alone
	Classes       []endpoint.Class // of them, with limits of their own
	Iperf3Classes []iperf3.Class   // of clients of iperf3
	STAMP         STAMP
	MPTCP         bool               // the iperf3 server listens for MPTCP as well
	Groups        []netip.Prefix     // of multicast, of which clients of the iperf3 server may have this host join one for a test, and receive from it
	Files         string             // the folder whose files tests of throughput may send and write; "": none
	Iperf3        *iperf3.ServerAuth // users of the iperf3 server; nil: those who say nothing of themselves are let in
	NDT7          NDT7
	NoConnectBack bool           // fresh ports of who asks at the port of ndt7 are not tried, and no route to it is traced
	TraceBack     retrace.Tracer // the route to who asks at the port of ndt7; nil: it cannot
}

// NDT7 is what a server of ndt7 does.
type NDT7 struct {
	Certificate *tls.Certificate // nil: it does not speak TLS
	Congestion  string           // control of its connections, where a client asks for none; "": bbr where the kernel has it
}

// STAMP is what a reflector of STAMP packets does.
type STAMP struct {
	Key       []byte // that packets have to be authenticated with; nil: they are not
	TLVKey    []byte // of HMAC TLVs in packets that are not; nil: none can be checked
	Stateless bool   // it does not count its answers
	Marks     []int  // DSCPs that packets may ask their answers to leave with
}

// Run is the run that a responder is open for, and for nobody else.
type Run struct {
	Secret string     // that its tests show; required, but of kinds that reflect and are not Sealed
	Sealed bool       // of kinds that reflect: packets are authenticated by the secret
	Peer   netip.Addr // that they come from; the zero value: from anywhere
	Tests  int        // that come; 0: 1. It closes when so many went to their end
	// Together is how many of them may come at the same time; 0: 1, so that they come one after the other. With 2 the second of each two shows
	// measure.CompetingSecret; more there are not.
	Together int
	Until    time.Time     // when it closes, whatever came; the zero value: when Serve's context ends
	Longest  time.Duration // test; 0: the kind's own limit
	// TraceBack finds the route to who asks for it, or where packets vanish on it; nil: nobody is traced back to. See Limits.
	TraceBack retrace.Tracer
	Rate      int64        // bit/s that this end sends, of tests that ask it for a rate; 0: whatever they ask for
	OnTest    func(Tested) // called after each test that was started, one call after the other; nil: nobody wants to know
}

// Tested is what came of one test.
type Tested struct {
	Client netip.AddrPort
	Bytes  int64 // of payload, sent and received, also of a test that failed; of routes that were traced back, of the packets sent for that, with their IP headers
	Err    error // nil: the test went to its end
}

// terms are what a kind opens by, for everybody or for one run.
type terms struct {
	Limits
	secret string     // "": none is asked for
	shown  string     // of a run, what those have to show who ask for a route back; "": it is open for everybody
	peer   netip.Addr // the only host that may come; the zero value: any
	onTest func(Tested)
	log    *slog.Logger
}

// Opened listens. Call Serve once, or Close.
type Opened struct {
	Addr net.Addr

	serve serve
	until time.Time
	done  context.CancelCauseFunc // of Serve
}

// mostTogether is how many tests of a run there may be at the same time: it has two secrets for them.
const mostTogether = 2

// anyRate in bit/s is beyond any interface.
const anyRate = 1e15

var (
	errDone = errors.New("the tests are done")
	errOver = errors.New("the time for tests is over")
)

// CheckSecret says what is wrong with the secret of a run.
func (k *Kind) CheckSecret(secret string) error {
	if k.Program || k.Reflects && secret == "" {
		return nil // it knows of none
	}
	return k.check(secret)
}

// Open opens a responder for everybody, at HOST:PORT. A nil log is silent.
func (k *Kind) Open(ctx context.Context, address string, l Limits, log *slog.Logger) (*Opened, error) {
	return k.listen(ctx, address, terms{Limits: l, log: log})
}

// OpenOrSpare is Open, but where only root may open the port of the address it opens the kind's spare one.
func (k *Kind) OpenOrSpare(ctx context.Context, address string, l Limits, log *slog.Logger) (*Opened, error) {
	o, err := k.Open(ctx, address, l, log)
	if host, _, bad := net.SplitHostPort(address); bad == nil && k.Spare > 0 && errors.Is(err, unix.EACCES) {
		return k.Open(ctx, net.JoinHostPort(host, strconv.Itoa(k.Spare)), l, log)
	}
	return o, err
}

// OpenForRun opens a responder for the tests of one run, at HOST:PORT. A nil log is silent.
func (k *Kind) OpenForRun(ctx context.Context, address string, r Run, log *slog.Logger) (*Opened, error) {
	if err := k.CheckSecret(r.Secret); err != nil {
		return nil, err
	}
	shown := r.Secret
	if k.Reflects && !r.Sealed {
		r.Secret = ""
	} else if k.Reflects && r.Secret == "" {
		return nil, fmt.Errorf("open %s: its packets are to be authenticated, and there is no secret", k.Name)
	}
	var o *Opened
	left := max(1, r.Tests)
	var mu sync.Mutex
	o, err := k.listen(ctx, address, terms{
		Limits: Limits{Tests: max(1, min(r.Together, mostTogether)), Longest: r.Longest, Rate: cmp.Or(r.Rate, anyRate), TraceBack: r.TraceBack},
		secret: r.Secret, shown: shown, peer: r.Peer, log: log,
		onTest: func(t Tested) {
			mu.Lock()
			defer mu.Unlock()
			if r.OnTest != nil {
				r.OnTest(t)
			}
			if t.Err == nil && !k.Reflects {
				left--
			}
			if left == 0 {
				o.done(errDone)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	o.until = r.Until
	return o, nil
}

func (k *Kind) listen(ctx context.Context, address string, t terms) (*Opened, error) {
	if k.Program {
		return nil, fmt.Errorf("open %s: it is a program, which its host has to start", k.Name)
	}
	t.Tests, t.Longest = cmp.Or(t.Tests, k.Limits.Tests), cmp.Or(t.Longest, k.Limits.Longest)
	t.Streams, t.Rate = cmp.Or(t.Streams, k.Limits.Streams), cmp.Or(t.Rate, k.Limits.Rate)
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	at, serve, err := k.open(ctx, address, t)
	if err != nil {
		return nil, err
	}
	return &Opened{Addr: at, serve: serve}, nil
}

// Serve answers tests until ctx ends, or those of the run are done or its time is over. It closes what is open, ends every goroutine
// and returns nil; an error is of what kept it from answering.
func (o *Opened) Serve(ctx context.Context) error {
	if !o.until.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, o.until, errOver)
		defer stop()
	}
	ctx, o.done = context.WithCancelCause(ctx)
	defer o.done(nil)
	return o.serve(ctx)
}

// Close closes what was opened and is not to be served.
func (o *Opened) Close() error {
	ended, end := context.WithCancel(context.Background())
	end()
	return o.Serve(ended)
}
