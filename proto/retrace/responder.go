package retrace

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/admission"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

// Tests of one network and in all that a Responder makes at the same time: routers near it answer no more than some packets a second of one host.
const testsEach, testsAll = 2, 8

// Tracer finds the route to an address. With an error the Route says no more than what was sent.
type Tracer func(ctx context.Context, to netip.Addr, ask Ask) (Route, error)

// Responder answers callers.
type Responder struct {
	trace   Tracer
	off     bool
	log     *slog.Logger
	places  *admission.Count
	longest time.Duration
}

// NewResponder returns one. off: it tells callers that its owner lets it trace nothing. A nil trace: that it cannot. A nil log is silent.
func NewResponder(trace Tracer, off bool, log *slog.Logger) *Responder {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Responder{trace: trace, off: off, log: log, longest: Longest, places: admission.NewCount(admission.Limits{Each: testsEach, All: testsAll})}
}

// Serve makes the test that comes on a connection. It returns after Longest, and a second in which it says why it fails, at the
// latest, and leaves the connection open. When ctx ends it traces no more, and returns when the connection is closed, which is for the caller of Serve to do.
// sent are the bytes of the packets that it sent to find the route, from the IP header on, also of a test that failed.
func (r *Responder) Serve(ctx context.Context, conn net.Conn) (sent int, err error) {
	t := begin(conn, r.longest, mostLine)
	if sent, err = r.serve(ctx, t); err != nil {
		r.log.Info("retrace failed", "client", conn.RemoteAddr(), "sent_bytes", sent, "error", err)
		t.SayLast(offer{Error: err.Error()})
		return sent, err
	}
	r.log.Info("retrace done", "client", conn.RemoteAddr(), "sent_bytes", sent)
	return sent, nil
}

var (
	errOff    = errors.New("it does not trace back: its owner has switched that off")
	errCannot = errors.New("it does not trace back: it was opened without that, and not by `pathwise respond`")
	errBusy   = errors.New("it is busy with other routes")
)

func (r *Responder) serve(ctx context.Context, t *talk) (sent int, err error) {
	line, err := t.Hear()
	if err != nil {
		return 0, err
	}
	ask, err := readHello(line)
	if err != nil {
		return 0, err
	}
	if r.off {
		return 0, errOff
	}
	if r.trace == nil {
		return 0, errCannot
	}
	cookie := jsonlines.NewCookie()
	if err := t.Say(offer{Cookie: cookie, Seen: t.peer.String(), Local: t.local.Addr().WithZone("").String()}); err != nil {
		return 0, err
	}
	if line, err = t.Hear(); err != nil {
		return 0, err
	}
	if err := readReady(line, cookie); err != nil {
		return 0, err
	}
	// Who has not said so may be nobody, or wait for as long as a test takes: it has no place among those for whom something is sent.
	if in, _ := r.places.Take(t.peer.Addr()); !in {
		return 0, errBusy
	}
	defer r.places.GiveBack(t.peer.Addr())
	ctx, cancel := context.WithTimeout(ctx, r.longest)
	defer cancel()
	// Who is gone needs no route: a read ends when the connection does, and nothing else is to come.
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		t.AwaitEnd()
		cancel()
	}()
	route, err := r.trace(ctx, t.peer.Addr(), ask)
	_ = t.SetReadDeadline(time.Unix(1, 0)) // long past, which ends the read
	<-gone
	sent = route.Whole.SentBytes
	if err != nil {
		return sent, err
	}
	return sent, t.Say(reportOf(route))
}
