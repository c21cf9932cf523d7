package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// pingSender sends the requests of a ping by one protocol, and tells what it hears of them. Requests are counted from 0. One
// goroutine at a time may use it, except that any may call interrupt.
type pingSender interface {
	// send sends the request of an index, with size bytes of payload where the protocol has one, and returns the time just before.
	send(index, size int) (before time.Time, err error)
	// receive waits until a moment for what comes in, and then returns os.ErrDeadlineExceeded. The event is a pingAnswer, a
	// pingRefusal, or nil of what concerns no request.
	receive(until time.Time) (event any, err error)
	// interrupt makes the present and all later calls of receive end at once with os.ErrDeadlineExceeded.
	interrupt()
	// socket is by what it sends, as a Result records it.
	socket() string
	close()
}

// pingAnswer is an answer to a request.
type pingAnswer struct {
	index  int
	rtt    time.Duration
	kernel bool       // rtt is by the kernel's clock
	ttl    int        // on arrival; 0: not known
	dscp   *int       // on arrival; nil: not known, or nobody asked
	from   netip.Addr // who answered, where that is not the target; else the zero value

	unreachable bool // the answer is an ICMP error: nobody listens at that port of the target
}

// pingRefusal is an error that a request met, so that no answer will come.
type pingRefusal struct {
	index int
	from  netip.Addr // who said so; the zero value: not known
	why   string
	noWay bool // it says that nothing gets to this address of the target
}

// pingRun is one ping under way. One goroutine sends and receives, so nothing in it is shared.
type pingRun struct {
	Ping
	sender  pingSender
	last    bool // there is no other address to try
	started time.Time
	sizeOf  func(index int) int // bytes of payload, of each request in turn

	echoes   []pingEcho // by index of the request
	noWay    string     // why no request gets to the target, if another address is to be tried
	oldest   int        // index of the first request whose fate is open
	arrivals []uint64   // sequence numbers of answered requests, in order of arrival
	kernel   int        // round trips that are by the kernel's clock

	windows []measure.WindowSample
	longest time.Duration // of the round trips so far
	header  int           // bytes of IP before each packet

	unreachable int // answers that say that nobody listens
}

// pingEcho is a request and what is needed until its fate is known.
type pingEcho struct {
	measure.Echo
	sent time.Time // just before, by this process's clock
	done bool      // answered, refused, or lost
}

// do sends all requests and waits for their fates. It returns early when ctx ends or when sending fails.
func (r *pingRun) do(ctx context.Context) error {
	r.sizeOf = r.sizesOf()
	if r.Window != "" {
		return r.windowed(ctx)
	}
	if r.Flood {
		return r.flooded(ctx)
	}
	p := pace{interval: r.Interval, gap: r.gaps()}
	for range r.Count {
		if r.Deadline > 0 && p.due > r.Deadline {
			break
		}
		if inBurst := r.Burst && len(r.echoes)%(2*burstLong) != 0; !inBurst {
			if err := r.listen(ctx, r.started.Add(p.due)); err != nil {
				return err
			}
		}
		if err := r.send(p.leave(time.Since(r.started))); err != nil {
			return err
		}
	}
	return r.listen(ctx, time.Time{})
}

// send sends the next request, so much later than planned.
func (r *pingRun) send(late time.Duration) error {
	index := len(r.echoes)
	size := r.sizeOf(index)
	before, err := r.sender.send(index, size)
	if !r.last && index == 0 && isUnreachable(err) {
		return &unreachableError{err.Error()}
	}
	if err != nil {
		return err
	}
	e := pingEcho{sent: before, Echo: measure.Echo{Seq: index + 1, SentSeconds: before.Sub(r.started).Seconds()}}
	if late > lateLeast {
		e.LateSeconds = late.Seconds()
	}
	if r.Burst || r.Sizes != "" {
		e.Size = size
	}
	r.echoes = append(r.echoes, e)
	return nil
}

// listen handles what comes in until a moment, or with the zero time until no fate is open.
func (r *pingRun) listen(ctx context.Context, until time.Time) error {
	for {
		next := r.expire(time.Now())
		if next.IsZero() && until.IsZero() {
			return context.Cause(ctx)
		}
		if next.IsZero() || !until.IsZero() && until.Before(next) {
			next = until
		}
		event, err := r.sender.receive(next)
		r.handle(event)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case r.noWay != "":
			return &unreachableError{r.noWay}
		case errors.Is(err, os.ErrDeadlineExceeded):
			if next == until {
				return nil
			}
		case err != nil:
			return fmt.Errorf("receive: %w", err)
		}
	}
}

// expire gives up on requests that have waited for Timeout and returns when the next will have; zero means that no fate
// is open.
func (r *pingRun) expire(now time.Time) (next time.Time) {
	for ; r.oldest < len(r.echoes); r.oldest++ {
		e := &r.echoes[r.oldest]
		if end := e.sent.Add(r.Timeout); !e.done && now.Before(end) {
			return end
		}
		if !e.done {
			r.settle(e)
		}
	}
	return time.Time{}
}

func (r *pingRun) settle(e *pingEcho) {
	e.done = true
	if r.Progress != nil {
		r.Progress(e.Echo)
	}
}

// sequenceIndex finds which echo a reply answers. Echo i (from 0) of those sent so far carries the sequence number i+1
// modulo 65536, so a number means the latest echo that carries it.
func sequenceIndex(sequence uint16, sent int) (index int, ok bool) {
	index = sent - 1 - int(uint16(sent)-sequence)
	return index, index >= 0
}
