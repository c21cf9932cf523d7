package twamp

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// reflector answers the packets of one session, each with as many bytes as came. Run is called once; what it says of the session is known when
// that has returned.
type reflector struct {
	id     control.SID
	terms  Terms
	sealer *Sealer
	least  int            // bytes of a packet and of its answer
	from   netip.AddrPort // the only source whose packets are answered
	socket *sock.Answering
	clock  endpoint.Clock
	bucket bucket
	packet int // that may be answered at the most
	log    *slog.Logger

	answered int
	bytes    int64 // that came and left
}

// run answers until Interrupt of the socket, or until nothing was heard for so long that the client must be gone.
func (r *reflector) run() {
	silence := time.AfterFunc(refWait, r.socket.Interrupt)
	defer silence.Stop()
	refusals := endpoint.Refusals{Title: "TWAMP packets not answered"}
	defer refusals.Tell(r.log)
	worth := endpoint.Estimates{Clock: r.clock}
	for {
		asked, err := r.socket.Receive()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
			return
		case err != nil: // an ICMP error about an answer, which is its receiver's loss
			continue
		}
		if why := r.reflect(asked, &worth); why != "" {
			refusals.Add(r.log, time.Now(), why, asked.From)
			continue
		}
		silence.Reset(refWait)
	}
}

// reflect answers a packet, or says why not.
func (r *reflector) reflect(asked sock.Asked, worth *endpoint.Estimates) (why string) {
	now := time.Now()
	switch {
	case asked.From != r.from:
		return "of another sender than the session's"
	case len(asked.Data) < r.least:
		return "shorter than its answer would be"
	case r.answered >= r.packet:
		return "more than a session may have"
	case !r.bucket.take(now):
		return "faster than a session may be"
	}
	p, err := r.sealer.Open(asked.Data)
	if err != nil {
		return err.Error()
	}
	answer := Reflection{Sequence: uint32(r.answered), Received: control.TimestampOf(r.clock.At(asked.At)), Error: worth.At(now), Packet: p,
		TTL: noTTL}
	if asked.TTL > 0 {
		answer.TTL = uint8(asked.TTL)
	}
	answer.Sent = control.TimestampOf(r.clock.Read())
	r.sealer.SealReflection(asked.Data, answer)
	if r.socket.Answer(asked.Data, asked, r.terms.DSCP<<2) != nil { // such as that there is no way back
		return "the answer could not be sent"
	}
	r.answered++
	r.bytes += 2 * int64(len(asked.Data))
	return ""
}

// bucket lets so many packets through over any second.
type bucket struct {
	most  float64
	used  float64
	since time.Time
}

func (b *bucket) take(now time.Time) bool {
	b.used = max(0, b.used-b.most*now.Sub(b.since).Seconds())
	b.since = now
	if b.used+1 > b.most {
		return false
	}
	b.used++
	return true
}

// reflectors are the sessions of a connection. One goroutine uses them.
type reflectors struct {
	all     []*reflector
	running bool
	ending  []*reflector // that are over, and answer what is under way
	group   sync.WaitGroup
}

func (s *reflectors) start() {
	s.running = true
	for _, r := range s.all {
		s.group.Go(r.run)
	}
}

// stop ends the sessions, each after its timeout, for what is under way.
func (s *reflectors) stop() {
	for _, r := range s.all {
		time.AfterFunc(r.terms.Timeout, r.socket.Interrupt)
	}
	s.ending, s.all, s.running = append(s.ending, s.all...), nil, false
}

// close ends all sessions at once, and returns the bytes of their packets.
func (s *reflectors) close() (bytes int64) {
	all := append(s.ending, s.all...)
	for _, r := range all {
		r.socket.Interrupt()
	}
	s.group.Wait()
	for _, r := range all {
		bytes += r.bytes
		r.socket.Close()
	}
	return bytes
}
