package stamp

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// Reflector answers probes on one socket. It answers each with as many bytes as came, or as a Control asks for, none that is shorter than the packets of its mode, and
// none that came from a port of reflectors, so that two of them never send one packet to and fro. A packet that comes again is answered again:
// who sends a copy gets no more bytes back than it sent, and what it disturbs is the count of the one session that it has a packet of.
type Reflector struct {
	Peer      netip.Addr                                      // alone is answered; the zero value: everybody
	Key       []byte                                          // of the authenticated mode, which is then the only one; nil: unauthenticated
	TLVKey    []byte                                          // of HMAC TLVs in the unauthenticated mode; nil: what they seal goes back as not intact
	Stateless bool                                            // it counts no sessions: an answer has the number of its probe
	Marks     []int                                           // DSCPs that probes may ask answers to leave with, beside their own
	Quality   func() (bound time.Duration, synchronised bool) // of this host's clock; nil: sock.ClockQuality
	Log       *slog.Logger                                    // nil: silent

	sealer   *Sealer
	sessions sessions
	stamps   stamps
	refusals endpoint.Refusals
	estimate control.ErrorEstimate
	asked    time.Time // when the estimate was
	answers  []byte    // the answer under way
}

// ReadKey reads a key of the authenticated mode: 16 to 64 bytes in hexadecimal, with white space around them.
func ReadKey(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, 4*mostKey))
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) < leastKey || len(key) > mostKey {
		return nil, input.Errorf("key file: want one key of %d to %d bytes in hexadecimal", leastKey, mostKey)
	}
	return key, nil
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
	r.sealer, r.refusals.Title = NewSealer(r.Key), "STAMP packets not answered"
	if len(r.Key) == 0 && len(r.TLVKey) > 0 {
		r.sealer = NewTLVSealer(r.TLVKey)
	}
	defer s.Close()
	defer func() { r.refusals.Tell(r.Log) }()
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
		why := r.refuses(asked, port)
		if why == "" {
			why = r.reflect(s, asked)
		}
		if why != "" {
			r.refusals.Add(r.Log, time.Now(), why, asked.From)
		}
	}
}

// reflect answers a packet, or says why not.
func (r *Reflector) reflect(s *sock.Answering, asked sock.Asked) (why string) {
	probe, err := r.sealer.OpenProbe(asked.Data)
	if err != nil {
		return err.Error()
	}
	r.stamps.take(s)
	answer, of, how := r.answer(asked, probe)
	switch {
	case how.bytes > 0:
		err = s.AnswerWhole(answer, asked, how.tos)
	case how.stamped:
		err = r.stamps.send(s, answer, asked, how.tos, of)
	default:
		err = s.Answer(answer, asked, how.tos)
	}
	if err != nil { // such as that there is no way back
		return "the answer could not be sent"
	}
	return ""
}

// refuses says why a packet is not answered, before it is read; "": it is.
func (r *Reflector) refuses(asked sock.Asked, own uint16) string {
	switch from := asked.From.Port(); {
	case len(asked.Data) < r.sealer.LeastBytes():
		return "shorter than its answer would be"
	case from == DefaultPort || from == SparePort || from == own:
		return "sent by a reflector"
	case r.Peer.IsValid() && asked.From.Addr() != r.Peer:
		return "of another host than the run's"
	}
	return ""
}

// answer makes the answer to a packet, in its session if that is counted, and says how it leaves.
func (r *Reflector) answer(asked sock.Asked, probe Probe) (answer []byte, of *session, how leaving) {
	arrived := asked.At.Kernel
	if arrived.IsZero() {
		arrived = asked.At.User
	}
	now := time.Now()
	if r.asked.IsZero() || now.Sub(r.asked) > askAgain {
		r.asked, r.estimate = now, control.EstimateOf(r.Quality())
	}
	a := Answer{Sequence: probe.Sequence, Arrived: control.TimestampOf(arrived), Error: r.estimate, Probe: probe, TTL: uint8(asked.TTL)}
	about := seen{tos: asked.TOS, marks: r.Marks, synchronised: r.estimate != control.Unknown, room: len(asked.Data)}
	if !r.Stateless {
		of = r.sessions.next(asked.From, probe.Session, now)
	}
	if of != nil {
		a.Sequence = of.count - 1
		about.counted, about.came, about.left, about.before = true, of.count, of.count, of.before()
		of.left = 0
	}
	r.answers = append(r.answers[:0], asked.Data...)
	how = r.sealer.answerTLVs(asked.Data, a.Sequence, r.answers[r.sealer.LeastBytes():], about)
	if how.bytes > 0 {
		r.answers = resized(r.answers, r.sealer.LeastBytes(), how.bytes)
	}
	a.Answered = control.TimestampOf(time.Now())
	r.sealer.SealAnswer(r.answers, a)
	return r.answers, of, how
}
