package reach

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/admission"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

// Tests of one network and in all that a Responder makes at the same time.
const testsEach, testsAll = 4, 32

// Responder answers callers.
type Responder struct {
	off     bool
	log     *slog.Logger
	places  *admission.Count
	longest time.Duration
}

// NewResponder returns one. off: it tells callers that it does not connect back. A nil log is silent.
func NewResponder(off bool, log *slog.Logger) *Responder {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Responder{off: off, log: log, longest: Longest, places: admission.NewCount(admission.Limits{Each: testsEach, All: testsAll})}
}

// Serve makes the test that comes on a connection. It returns after Longest, and a second in which it says why it fails, at the
// latest, and leaves the connection open. The error is why it failed. When ctx ends it tries no more, and returns when the connection is closed, which is for the caller of Serve to do.
func (r *Responder) Serve(ctx context.Context, conn net.Conn) error {
	t := begin(conn, r.longest)
	if err := r.serve(ctx, t); err != nil {
		r.log.Info("reach failed", "client", conn.RemoteAddr(), "error", err)
		t.SayLast(offer{Error: err.Error()})
		return err
	}
	r.log.Info("reach done", "client", conn.RemoteAddr())
	return nil
}

var (
	errOff  = errors.New("it does not connect back: its owner has switched that off")
	errBusy = errors.New("it is busy with other tests of this sort")
)

func (r *Responder) serve(ctx context.Context, t *talk) error {
	line, err := t.Hear()
	if err != nil {
		return err
	}
	h, err := readHello(line)
	if err != nil {
		return err
	}
	if r.off {
		return errOff
	}
	if in, _ := r.places.Take(t.peer.Addr()); !in {
		return errBusy
	}
	defer r.places.GiveBack(t.peer.Addr())
	own, err := openFresh(measure.ReachThere, t.local.Addr())
	if err != nil {
		return err
	}
	defer own.close()
	cookie, there := jsonlines.NewCookie(), own.ports()
	if err := t.Say(offer{Cookie: cookie, Seen: t.peer.String(), TCP: there.tcp, UDP: there.udp}); err != nil {
		return err
	}
	if err := t.awaits(cookie, false); err != nil {
		return err
	}
	own.answer(cookie, t.peer.Addr())
	ctx, cancel := context.WithTimeout(ctx, r.longest)
	defer cancel()
	mine := report{Sent: try(ctx, cookie, measure.ReachHere, t.local.Addr(), t.peer.Addr(), ports{h.TCP, h.UDP})}
	if err := t.awaits(cookie, true); err != nil {
		return err
	}
	mine.Came = own.close()
	return t.Say(mine)
}

// awaits reads that the caller is ready, or has tried all.
func (t *talk) awaits(cookie string, done bool) error {
	line, err := t.Hear()
	if err != nil {
		return err
	}
	r, err := readReady(line, cookie)
	if err == nil && r.Done != done {
		err = errors.New("a message out of turn")
	}
	return err
}
