package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// reflector is a protocol by which the far end stamps packets and sends them back. Packets are counted from 0.
type reflector interface {
	// packet is the one of an index, which is one more than the last; at is the time just before it leaves. It is valid until the next call.
	packet(index int, at time.Time) []byte
	// forget says that answers to the packets before an index do not count any more.
	forget(before int)
	// reflected reads what came in; ok is false of what is no answer to a packet of ours.
	reflected(data []byte) (reflection, bool)
}

// reflection is what an answer says of the packet that it answers.
type reflection struct {
	index    int
	count    uint32    // the answers that the far end had sent before to this session, if it counts them; else the index
	counts   bool      // it says for certain that it counts them
	arrived  time.Time // by the far end's wall clock
	answered time.Time
	ttl      int           // of the packet when it arrived there; 0: not known
	clock    measure.Clock // the far end's, by what it says of it
	before   departure     // of the answer before
}

// owdPacket is a packet and what became of it.
type owdPacket struct {
	id       uint32 // of the kernel's stamp
	sent     sock.Stamp
	late     time.Duration // that it left later than planned
	settled  bool          // its fate was told
	lateBack bool          // its answer came after the timeout
	reflection
	received sock.Stamp // of the first answer; its zero value: none came in time
	ttlBack  int        // of the answer, on arrival here; 0: not known
	dscpBack int        // of the answer; -1: not known
	copies   int        // answers after the first
	why      string     // what an ICMP error said
}

func (p *owdPacket) answeredInTime() bool { return !p.received.User.IsZero() }

// owdRun is a measurement under way. One goroutine sends and receives, so nothing in it is shared.
type owdRun struct {
	OWD
	socket  *sock.Socket
	to      netip.AddrPort
	packets reflector
	last    bool // there is no other address to try
	started time.Time
	marks   []int                // of classes, by turn; nil: all packets have one
	mark    func(dscp int) error // sets that of the packets to come

	first    int         // index of sent[0]
	sent     []owdPacket // by index
	arrivals []passage.Answer
	left     departures // of answers
	heard    bool       // anything was answered
	oldest   int        // index of the first packet whose fate is open
	refused  string     // why no packet is answered, where an ICMP error says that there is no reflector
	noWay    string     // why no packet gets to the target
}

// do sends all packets and waits for their fates. It returns early when ctx ends or when sending fails.
func (r *owdRun) do(ctx context.Context) error {
	p := pace{interval: r.Interval, gap: func() time.Duration { return r.Interval }}
	if r.Poisson {
		p.gap = func() time.Duration { return time.Duration(r.Rand.ExpFloat64() * float64(r.Interval)) }
	}
	for range r.Count {
		if r.Deadline > 0 && p.due > r.Deadline {
			break
		}
		if err := r.listen(ctx, r.started.Add(p.due)); err != nil {
			return err
		}
		if err := r.send(p.leave(time.Since(r.started))); err != nil {
			return err
		}
	}
	if err := r.listen(ctx, time.Time{}); err != nil {
		return err
	}
	return r.linger(ctx)
}

// owdLinger is how much later than another packet of the path a copy may come that left right behind its original: what a busy host takes to turn to it.
const owdLinger = 20 * time.Millisecond

// linger takes copies of the last packets, which may come so much later than the last answer as the path's delay varies.
func (r *owdRun) linger(ctx context.Context) error {
	var shortest, longest time.Duration
	var last time.Time
	for i := range r.sent {
		p := &r.sent[i]
		if !p.answeredInTime() {
			continue
		}
		trip, _ := sock.Elapsed(p.sent, p.received)
		if last.IsZero() || trip < shortest {
			shortest = trip
		}
		longest = max(longest, trip)
		if p.received.User.After(last) {
			last = p.received.User
		}
	}
	if last.IsZero() {
		return nil
	}
	return r.listen(ctx, last.Add(min(longest-shortest+owdLinger, r.Timeout)))
}

// send sends the next packet.
func (r *owdRun) send(late time.Duration) error {
	index := r.next()
	if n := len(r.marks); n > 0 {
		if err := r.mark(r.marks[classOf(index, n)]); err != nil {
			return err
		}
	}
	id, before, err := r.socket.Send(r.packets.packet(index, time.Now()), r.to)
	if !r.last && index == 0 && isUnreachable(err) {
		return &unreachableError{err.Error()}
	}
	if err != nil {
		return err
	}
	r.sent = append(r.sent, owdPacket{id: id, sent: sock.Stamp{User: before}, late: late})
	return nil
}

// next is the index of the packet to come.
func (r *owdRun) next() int { return r.first + len(r.sent) }

// at is a packet that is kept.
func (r *owdRun) at(index int) *owdPacket { return &r.sent[index-r.first] }

// stamped notes when a packet left by the kernel, mostly the last one.
func (r *owdRun) stamped(e sock.Sent) {
	for i := len(r.sent) - 1; i >= 0; i-- {
		if r.sent[i].id == e.ID {
			r.sent[i].sent.Kernel = e.Kernel
			return
		}
	}
}

// listen handles what comes in until a moment, or with the zero time until no fate is open.
func (r *owdRun) listen(ctx context.Context, until time.Time) error {
	for {
		next := r.expire(time.Now())
		if next.IsZero() && until.IsZero() {
			return context.Cause(ctx)
		}
		if next.IsZero() || !until.IsZero() && until.Before(next) {
			next = until
		}
		event, err := r.socket.ReceivePunctually(next)
		r.handle(event)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case r.noWay != "":
			return &unreachableError{r.noWay}
		case r.refused != "":
			return fmt.Errorf("no reflector answers on UDP port %d: %s", r.to.Port(), r.refused)
		case errors.Is(err, os.ErrDeadlineExceeded):
			if next == until {
				return nil
			}
		case err != nil:
			return fmt.Errorf("receive: %w", err)
		}
	}
}

// expire gives up on packets that have waited for Timeout and returns when the next will have; zero means that no fate is open.
func (r *owdRun) expire(now time.Time) (next time.Time) {
	for ; r.oldest < r.next(); r.oldest++ {
		p := r.at(r.oldest)
		if end := p.sent.User.Add(r.Timeout); !p.settled && now.Before(end) {
			return end
		}
		r.settle(r.oldest)
	}
	return time.Time{}
}

// settle tells what became of a packet, once.
func (r *owdRun) settle(index int) {
	p := r.at(index)
	if !p.settled && r.Progress != nil {
		r.Progress(p.echo(index, r.started))
	}
	p.settled = true
}

// handle notes what came in.
func (r *owdRun) handle(event sock.Event) {
	switch e := event.(type) {
	case sock.Sent:
		r.stamped(e)
	case sock.Packet:
		if a, ok := r.packets.reflected(e.Data); ok && a.index >= r.first && a.index < r.next() && e.From == r.to {
			r.answer(a, e)
		}
	case sock.ICMPError:
		r.refuse(e)
	}
}

func (r *owdRun) answer(a reflection, e sock.Packet) {
	p := r.at(a.index)
	if trip, _ := sock.Elapsed(p.sent, e.At); trip > r.Timeout {
		p.lateBack = true
		return // lost, by definition
	}
	r.heard = true
	r.arrivals = append(r.arrivals, passage.Answer{Index: a.index, Count: a.count, Counts: a.counts})
	if index, came := r.left.tell(a.before); came && index >= r.first {
		r.at(index).leave(a.before.left)
	}
	if p.answeredInTime() {
		p.copies++
		return
	}
	p.reflection, p.received, p.ttlBack, p.dscpBack, p.why = a, e.At, e.TTL, e.DSCP, ""
	if left, told := r.left.came(a.index, a.count); told {
		p.leave(left)
	}
	r.settle(a.index)
}

// refuse notes an ICMP error. It quotes what it is about, but the socket sends to this end alone.
func (r *owdRun) refuse(e sock.ICMPError) {
	if e.To != r.to || len(r.sent) == 0 {
		return
	}
	why := string(e.Reason())
	if e.Offender.IsValid() {
		why += ", said " + e.Offender.String()
	}
	switch none := !r.heard; {
	case none && noWay(e.Reason()) && !r.last:
		r.noWay = why
	case none && e.Reason() == sock.PortUnreachable:
		r.refused = why
	default:
		r.sent[len(r.sent)-1].why = why
	}
}

// echo is a packet as a sample of the Result.
func (p *owdPacket) echo(index int, began time.Time) measure.Echo {
	e := measure.Echo{Seq: index, SentSeconds: p.sent.User.Sub(began).Seconds(), Duplicates: p.copies, Error: p.why}
	if p.late > lateLeast {
		e.LateSeconds = p.late.Seconds()
	}
	if p.answeredInTime() {
		forward, reverse, trip := p.delays()
		e.ForwardSeconds, e.ReverseSeconds, e.RTTSeconds, e.TTL = &forward, &reverse, &trip, p.ttlBack
	}
	return e
}

// lateLeast is from when on a packet is told to have left late: by less, a timer of a busy machine is late as a rule.
const lateLeast = time.Millisecond

// delays are the raw one-way delays in seconds, and the round trip without the time that the answer took to be made.
func (p *owdPacket) delays() (forward, reverse, trip float64) {
	elapsed, _ := sock.Elapsed(p.sent, p.received)
	return p.arrived.Sub(wall(p.sent)).Seconds(), wall(p.received).Sub(p.answered).Seconds(),
		max(0, elapsed-p.answered.Sub(p.arrived)).Seconds()
}

// wall is the wall clock's time of a stamp, by the kernel where it gave one.
func wall(s sock.Stamp) time.Time {
	if s.Kernel.IsZero() {
		return s.User.Round(0)
	}
	return s.Kernel
}
