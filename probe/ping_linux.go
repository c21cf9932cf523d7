package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Do sends the echoes and returns a Result of kind "ping". Parameters["stamps"] says whose clock the round trips are by:
// "kernel" (within microseconds of the wire) or "user".
func (p Ping) Do(ctx context.Context) (*measure.Result, error) {
	result := newResult("ping", p.Target)
	err := p.measure(ctx, result)
	result.DurationSeconds = time.Since(result.Started).Seconds()
	result.Fail(err)
	return result, err
}

func (p Ping) measure(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	p = p.withDefaults()
	result.Parameters = recorded(pingFields(), &p)
	ways, err := waysTo(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	return tryWays(result, ways, func(w way, last bool) error {
		if p.Proto == protoTCP {
			return p.connect(ctx, w, last, result)
		}
		return p.measureWay(ctx, w, last, result)
	})
}

// measureWay pings an address of the target. Unless it is the last, the first request that is refused for want of a way ends it.
func (p Ping) measureWay(ctx context.Context, w way, last bool, result *measure.Result) error {
	socket, packets, err := p.open(w)
	if err != nil {
		return err
	}
	defer socket.Close()
	defer context.AfterFunc(ctx, socket.Interrupt)()

	run := &pingRun{Ping: p, socket: socket, raw: socket.Raw(), packets: packets, target: w.to, last: last, started: time.Now()}
	err = run.do(ctx)
	return p.ended(ctx, err, func() { run.report(result) })
}

// connect pings an address of the target by whole connections.
func (p Ping) connect(ctx context.Context, w way, last bool, result *measure.Result) error {
	run := &connectRun{Ping: p, to: netip.AddrPortFrom(w.to, uint16(p.Port)), last: last}
	err := run.do(ctx)
	return p.ended(ctx, err, func() { run.report(result) })
}

// ended has a run reported, unless another address is to be tried, and names the target in what went wrong.
func (p Ping) ended(ctx context.Context, err error, report func()) error {
	if ctx.Err() != nil { // whatever call it made fail
		err = context.Cause(ctx)
	}
	var unreachable *unreachableError
	if errors.As(err, &unreachable) {
		return err
	}
	report()
	if err != nil {
		return fmt.Errorf("ping %s: %w", p.Target, err)
	}
	return nil
}

// open opens a socket that sends as the parameters say, and the packets of the protocol.
func (p Ping) open(w way) (socket *sock.Socket, packets pingPackets, err error) {
	if p.Proto == protoSYN {
		var port uint16
		if socket, port, err = sock.OpenSYN(w.from); err == nil {
			packets = &synPackets{from: netip.AddrPortFrom(w.from, port), to: netip.AddrPortFrom(w.to, uint16(p.Port)), base: p.Rand.Uint32()}
		}
	} else if socket, err = sock.OpenEcho(w.to.Is6()); err == nil {
		packets = newEchoPackets(p, socket, w.to)
	}
	var denied *sock.PermissionError
	if errors.As(err, &denied) {
		denied.Remedy += "; or ask for proto tcp, which needs neither"
	}
	if err != nil {
		return nil, nil, err
	}
	conn, err := socket.SyscallConn()
	if err == nil && p.TTL != 0 {
		err = socket.SetTTL(p.TTL)
	}
	if err == nil && p.DSCP != 0 {
		err = sock.SetDSCP(conn, p.DSCP)
	}
	if err == nil && p.DontFragment {
		err = sock.SetDontFragment(conn)
	}
	if err != nil {
		socket.Close()
		return nil, nil, err
	}
	return socket, packets, nil
}

// pingRun is one ping under way. One goroutine sends and receives, so nothing in it is shared.
type pingRun struct {
	Ping
	socket  *sock.Socket
	raw     bool // the socket is
	packets pingPackets
	target  netip.Addr
	last    bool // there is no other address to try
	started time.Time

	echoes   []pingEcho // in order of sending; the index is also the ID of the kernel's send stamp
	noWay    string     // why no echo gets to target, if another address is to be tried
	oldest   int        // index of the first echo whose fate is open
	arrivals []uint64   // sequence numbers of answered echoes, in order of arrival
	kernel   int        // round trips that are by the kernel's clock
}

// pingEcho is an echo and what is needed until its fate is known.
type pingEcho struct {
	measure.Echo
	sent sock.Stamp
	done bool // answered, refused by an ICMP error, or lost
}

// do sends all echoes and waits for their fates. It returns early when ctx ends or when sending fails.
func (r *pingRun) do(ctx context.Context) error {
	var slip time.Duration
	for _, offset := range pingPlan(r.Count, r.Interval, r.Poisson, r.Rand) {
		if r.Deadline > 0 && offset+slip > r.Deadline {
			break
		}
		due := r.started.Add(offset + slip)
		if err := r.listen(ctx, due); err != nil {
			return err
		}
		if late := time.Since(due); late > r.Interval { // the process was stopped: go on from here instead of
			slip += late // sending what was missed in one burst
		}
		if err := r.send(); err != nil {
			return err
		}
	}
	return r.listen(ctx, time.Time{})
}

// send sends the next echo.
func (r *pingRun) send() error {
	sequence := len(r.echoes) + 1
	_, before, err := r.socket.Send(r.packets.request(sequence-1), netip.AddrPortFrom(r.target, 0))
	if !r.last && sequence == 1 && isUnreachable(err) {
		return &unreachableError{err.Error()}
	}
	if err != nil {
		return err
	}
	r.echoes = append(r.echoes, pingEcho{sent: sock.Stamp{User: before},
		Echo: measure.Echo{Seq: sequence, SentSeconds: before.Sub(r.started).Seconds()}})
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
		event, err := r.socket.Receive(next)
		switch e := event.(type) {
		case sock.Sent:
			if int(e.ID) < len(r.echoes) {
				r.echoes[e.ID].sent.Kernel = e.Kernel
			}
		case sock.Packet:
			r.answer(e)
		case sock.ICMPError:
			r.refuse(e)
		}
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

// expire gives up on echoes that have waited for Timeout and returns when the next will have; zero means that no fate
// is open.
func (r *pingRun) expire(now time.Time) (next time.Time) {
	for ; r.oldest < len(r.echoes); r.oldest++ {
		e := &r.echoes[r.oldest]
		if end := e.sent.User.Add(r.Timeout); !e.done && now.Before(end) {
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
