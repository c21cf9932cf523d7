package stamp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/sock"
)

// Reflector answers probes on one socket. It answers each with as many bytes as came, none that is shorter than LeastBytes, and none that came
// from a port of reflectors, so that two of them never send one packet to and fro.
type Reflector struct {
	Peer    netip.Addr                                      // alone is answered; the zero value: everybody
	Quality func() (bound time.Duration, synchronised bool) // of this host's clock; nil: sock.ClockQuality
	Log     *slog.Logger                                    // nil: silent

	sessions sessions
	refusals refusals
	estimate control.ErrorEstimate
	asked    time.Time // when the estimate was
	answers  []byte    // the answer under way
}

// askAgain is how long what is known of the clock is used: the kernel counts its bound up by half a millisecond a second.
const askAgain = time.Second

// Listen opens the socket for Serve at HOST:PORT.
func Listen(ctx context.Context, address string) (*sock.Answering, error) {
	return sock.ListenAnswering(ctx, address)
}

// Serve answers until ctx ends. It then closes the socket and returns nil.
func (r *Reflector) Serve(ctx context.Context, s *sock.Answering) error {
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	if r.Quality == nil {
		r.Quality = sock.ClockQuality
	}
	defer s.Close()
	defer context.AfterFunc(ctx, s.Interrupt)()
	port := s.Addr().(*net.UDPAddr).AddrPort().Port()
	for {
		asked, err := s.Receive()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
			return fmt.Errorf("receive STAMP packet: %w", err)
		case err != nil: // an ICMP error about an answer, which is its receiver's loss
			continue
		}
		if why := r.refuses(asked, port); why != "" {
			r.refusals.add(r.Log, time.Now(), why, asked.From)
			continue
		}
		if err := s.Answer(r.answer(asked), asked); err != nil {
			r.refusals.add(r.Log, time.Now(), err.Error(), asked.From)
		}
	}
}

// refuses says why a packet is not answered; "": it is.
func (r *Reflector) refuses(asked sock.Asked, own uint16) string {
	switch from := asked.From.Port(); {
	case len(asked.Data) < LeastBytes:
		return "shorter than its answer would be"
	case from == DefaultPort || from == SparePort || from == own:
		return "sent by a reflector"
	case r.Peer.IsValid() && asked.From.Addr() != r.Peer:
		return "of another host than the run's"
	}
	return ""
}

// answer makes the answer to a packet.
func (r *Reflector) answer(asked sock.Asked) []byte {
	arrived := asked.At.Kernel
	if arrived.IsZero() {
		arrived = asked.At.User
	}
	now := time.Now()
	if r.asked.IsZero() || now.Sub(r.asked) > askAgain {
		r.asked, r.estimate = now, control.EstimateOf(r.Quality())
	}
	probe, _ := ReadProbe(asked.Data) // it is long enough
	a := Answer{Sequence: probe.Sequence, Arrived: control.TimestampOf(arrived), Error: r.estimate, Probe: probe, TTL: uint8(asked.TTL)}
	about := seen{tos: asked.TOS, synchronised: r.estimate != control.Unknown}
	if count, counts := r.sessions.next(asked.From, probe.Session, now); counts {
		a.Sequence, about.came, about.left = count, count+1, count+1
	}
	r.answers = append(r.answers[:0], asked.Data...)
	answerTLVs(r.answers[LeastBytes:], about)
	a.Answered = control.TimestampOf(time.Now())
	a.Put(r.answers)
	return r.answers
}
