package owamp

import (
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// receiver takes the packets of one session. Run is called once.
type receiver struct {
	ledger *ledger
	sealer *control.Sealer
	from   netip.AddrPort // the only source whose packets count
	socket *sock.Socket
	clock  endpoint.Clock
	linger time.Duration // how long to go on after every packet came, or could have come, for duplicates
	// onRecord, if not nil, is called for each packet that counts, by the goroutine of run.
	onRecord func(Record)
	failed   error        // what run returned
	log      *slog.Logger // of packets that do not count; nil: nobody reads it

	refusals endpoint.Refusals
}

// run takes packets until nothing is awaited any more, and for a while after that; then nil. Interrupt of the socket ends it earlier, with what
// has come. The schedule of the sender begins at a moment by this end's clock.
func (r *receiver) run(begin time.Time) error {
	r.ledger.begin(begin)
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.refusals.Title = "OWAMP packets not counted"
	defer func() { r.refusals.Tell(r.log) }()
	worth := endpoint.Estimates{Clock: r.clock}
	read := begin // all that had come by then was read: a packet that waits to be, since this process had to wait, is not lost
	for end := (time.Time{}); ; {
		done, again := r.ledger.advance(read, worth.At(time.Now()))
		switch {
		case !end.IsZero():
		case r.ledger.complete():
			end = time.Now().Add(r.linger)
		case done: // of a session that ends before its time the last packets do not count where one is missing
			end = latest(time.Now(), r.ledger.over()).Add(r.linger)
		}
		if !end.IsZero() {
			again = end
		}
		event, err := r.socket.Receive(again)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if !end.IsZero() || time.Until(again) > 0 { // over, or interrupted
				return r.drain(&worth)
			}
			read = time.Now()
			if err := r.drain(&worth); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if packet, is := event.(sock.Packet); is {
			r.take(packet, &worth)
			read = latest(read, cameAt(packet.At))
		}
	}
}

// mostKept bounds for how long the kernel may have kept a packet until it was read: the wall clock, by which it says so, may have been set meanwhile.
const mostKept = 10 * time.Second

// cameAt is when a packet came, by this process's clock.
func cameAt(s sock.Stamp) time.Time {
	kept := s.User.Round(0).Sub(s.Kernel)
	if s.Kernel.IsZero() || kept < 0 || kept > mostKept {
		return s.User
	}
	return s.User.Add(-kept)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// mostDrain bounds how long packets are taken that came before the end of a session, so that none who floods its port can put that off.
const mostDrain = 50 * time.Millisecond

// drain takes the packets that have come and were not read yet.
func (r *receiver) drain(worth *endpoint.Estimates) error {
	for until := time.Now().Add(mostDrain); time.Now().Before(until); {
		event, err := r.socket.ReceivePunctually(time.Time{}) // which does not wait, and reads from a socket that was interrupted, too
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		if packet, is := event.(sock.Packet); is {
			r.take(packet, worth)
		}
	}
	return nil
}

// take notes a packet, if it is of the session.
func (r *receiver) take(packet sock.Packet, worth *endpoint.Estimates) {
	if why := r.note(packet, worth); why != "" {
		r.refusals.Add(r.log, packet.At.User, why, packet.From)
	}
}

// note notes a packet, or says why it does not count.
func (r *receiver) note(packet sock.Packet, worth *endpoint.Estimates) (why string) {
	if packet.From != r.from {
		r.ledger.foreign()
		return "of another sender than the session's"
	}
	p, err := r.sealer.Open(packet.Data)
	if err != nil {
		r.ledger.foreign()
		return err.Error()
	}
	record, noted := r.ledger.arrive(p, cameAt(packet.At), r.clock.At(packet.At), worth.At(packet.At.User), packet.TTL)
	if !noted {
		return "too late, too often, or of a number that the session does not have"
	}
	if r.onRecord != nil {
		r.onRecord(record)
	}
	return ""
}
