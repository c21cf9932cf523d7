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
	"github.com/pathwise-net/pathwise/proto/stamp"
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
	class    *stamp.Class  // with which marks the packet arrived there; nil: it did not say
}

// owdPacket is a packet and what became of it.
type owdPacket struct {
	id       uint32 // of the kernel's stamp
	sent     sock.Stamp
	late     time.Duration // that it left later than planned
	unsent   bool          // this host could not send it
	settled  bool          // its fate was told
	lateBack bool          // its answer came after the timeout
	reflection
	received sock.Stamp // of the first answer; its zero value: none came in time
	ttlBack  int        // of the answer, on arrival here; 0: not known
	dscpBack int        // of the answer; -1: not known
	ecnBack  int        // of the answer, where dscpBack is known
	copies   int        // answers after the first
	why      string     // what an ICMP error said
}

func (p *owdPacket) answeredInTime() bool { return !p.received.User.IsZero() }

// owdRun is a measurement under way. One goroutine sends and receives, so nothing in it is shared.
type owdRun struct {
	OWD
	socket  *sock.Socket
	ends    []owdEnd // to the last of which packets go; one before it may still answer
	last    bool     // there is no other address to try
	started time.Time
	marks   []int                // of classes, by turn; nil: all packets have one
	mark    func(dscp int) error // sets that of the packets to come

	first    int         // index of sent[0]
	sent     []owdPacket // by index
	arrivals []passage.Answer
	left     departures // of answers
	rounds   passage.Rounds
	skipped  int       // packets that were due before this began
	heard    time.Time // the last answer; zero: nothing was answered
	drift    uint32    // by which the kernel's IDs are ahead of packets'
	oldest   int       // index of the first packet whose fate is open
	refused  string    // why no packet is answered, where an ICMP error says that there is no reflector
	noWay    string    // why no packet gets to the target
}

// owdEnd is who answers, and what it is asked. Its packets are counted from 0, which is the index of the first that goes to it.
type owdEnd struct {
	to      netip.AddrPort
	packets reflector
	first   int
}

// do sends all packets and waits for their fates. It returns early when ctx ends or when sending fails.
func (r *owdRun) do(ctx context.Context) error {
	p := r.pace()
	p.due += r.skip(time.Since(r.started))
	for range r.Count {
		if r.Deadline > 0 && (p.due > r.Deadline || r.alone && p.due == r.Deadline) {
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
			return fmt.Errorf("no reflector answers on UDP port %d: %s", r.ends[len(r.ends)-1].to.Port(), r.refused)
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
		if a, ok := r.read(e); ok {
			r.answer(a, e)
		}
	case sock.ICMPError:
		r.refuse(e)
	}
}

// read finds out which packet of those that are kept something answers.
func (r *owdRun) read(e sock.Packet) (a reflection, ok bool) {
	for i := len(r.ends) - 1; i >= 0 && !ok; i-- {
		if end := &r.ends[i]; e.From == end.to {
			a, ok = end.packets.reflected(e.Data)
			a.index += end.first
		}
	}
	return a, ok && a.index >= r.first && a.index < r.next()
}

func (r *owdRun) answer(a reflection, e sock.Packet) {
	p := r.at(a.index)
	trip, _ := sock.Elapsed(p.sent, e.At)
	if trip > r.Timeout {
		p.lateBack = true
		return // lost, by definition
	}
	r.heard = e.At.User
	r.arrivals = append(r.arrivals, r.rounds.Of(passage.Answer{Index: a.index, Count: a.count, Counts: a.counts}, int(2*trip/r.Interval)))
	if n := len(r.arrivals); n > 1 && r.arrivals[n-1].Round != r.arrivals[n-2].Round {
		r.left = departures{} // counts of another round are of other answers
	}
	if index, came := r.left.tell(a.before); came && index >= r.first {
		r.at(index).leave(a.before.left)
	}
	if p.answeredInTime() {
		p.copies++
		return
	}
	p.reflection, p.received, p.ttlBack, p.dscpBack, p.ecnBack, p.why = a, e.At, e.TTL, e.DSCP, e.ECN, ""
	if left, told := r.left.came(a.index, a.count); told {
		p.leave(left)
	}
	r.settle(a.index)
}

// refuse notes an ICMP error. It quotes what it is about, but the socket sends to this end alone.
func (r *owdRun) refuse(e sock.ICMPError) {
	to := r.ends[len(r.ends)-1].to
	if e.To != to || len(r.sent) == 0 {
		return
	}
	why := string(e.Reason())
	if e.Offender.IsValid() {
		why += ", said " + e.Offender.String()
	}
	switch none := r.heard.IsZero(); {
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
