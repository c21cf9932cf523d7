package probe

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/connect"
	"github.com/pathwise-net/pathwise/sock"
)

// Do tries the connections and returns a Result of kind "connect", whose Samples.Port says what was seen and what it means. A port that does not
// answer is no error.
func (p Connect) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "connect", p.Target, p.measure)
}

func (p Connect) measure(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	p = p.withDefaults()
	result.Parameters = recorded(connectFields(), &p)
	ways, err := waysTo(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	w := ways[0]
	result.Target.Address, result.Source.Address = w.to.String(), w.from.String()
	run := &connectRun{Connect: p, to: netip.AddrPortFrom(w.to, uint16(p.Port)), began: time.Now()}
	run.near = measure.PortNear{Target: run.to.String(), Address: w.from.WithZone("").String(), Itself: ofThisHost(w.to)}
	finish, err := run.watchFar(ctx, w)
	if err != nil {
		return err
	}
	failed := run.watched(ctx)
	far, note, err := finish()
	if note != "" {
		result.Note(note)
	}
	if len(run.near.Attempts) == 0 {
		return errors.Join(failed, err)
	}
	reduceConnect(run.near.Attempts, result)
	check := connect.Judge(p.called(run.to), run.near, far)
	result.Samples.Port = &check
	if err := errors.Join(failed, err); err != nil || !p.Back {
		return err
	}
	return run.back(ctx, check, result)
}

// connectRun is one measurement under way.
type connectRun struct {
	Connect
	to    netip.AddrPort
	began time.Time
	near  measure.PortNear
}

// watchFar begins to watch at the far end. Where the target is this host, that is here.
func (r *connectRun) watchFar(ctx context.Context, w way) (finish func() (*measure.PortFar, string, error), err error) {
	switch {
	case r.Far != nil:
		return r.Far(ctx, r.to, w.from)
	case r.near.Itself:
		watch := NewPortWatch(r.to, w.from)
		return func() (*measure.PortFar, string, error) { return watch.Finish(ctx), "", nil }, nil
	}
	return func() (*measure.PortFar, string, error) { return nil, "", nil }, nil
}

// watched tries the connections while this host's interfaces are watched, where that is allowed.
func (r *connectRun) watched(ctx context.Context) error {
	tap, err := newPortTap(r.to.Port(), r.began, r.wants)
	if err == nil {
		r.near.Watched = true
		defer func() { r.near.Packets = tap.finish() }()
	}
	if err := r.tries(ctx); err != nil {
		return err
	}
	if last := r.near.Attempts[len(r.near.Attempts)-1]; r.near.Watched && last.Outcome == measure.PortRefused {
		r.near.EchoHops = r.echoHops(ctx)
	}
	return nil
}

// wants reports whether a segment is of the connections that are tried, or of others between the same two addresses and to the same port.
func (r *connectRun) wants(near, far netip.AddrPort) bool {
	return far.Port() == r.to.Port() && far.Addr() == r.to.Addr().WithZone("") && near.Addr().String() == r.near.Address
}

// tries makes the connections, one after another.
func (r *connectRun) tries(ctx context.Context) error {
	greeted := false
	for i := range r.Count {
		if i > 0 && !sleep(ctx, connectGap) {
			return context.Cause(ctx)
		}
		a, err := r.try(ctx, !greeted)
		if err != nil {
			return err
		}
		greeted = greeted || a.Held
		r.near.Attempts = append(r.near.Attempts, a)
		if a.Outcome == measure.PortSilent || a.Outcome == measure.PortUnreachable {
			if hop, silent := sock.SilentNeighbour(r.to.Addr()); silent {
				r.near.SilentHop = hop.String()
			}
		}
	}
	return nil
}

// try makes one connection. greet: it is kept open for a moment if it opens.
func (r *connectRun) try(ctx context.Context, greet bool) (a measure.PortAttempt, err error) {
	a.StartSeconds = time.Since(r.began).Seconds()
	conn, err := sock.BeginConnect(r.to, sock.HearICMP(sock.FamilyOf(r.to.Addr()) == sock.IPv6))
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		a.Outcome, a.Reason = measure.PortForbidden, errorText(err)
		return a, nil
	}
	if err != nil {
		return a, err
	}
	defer conn.Close()
	a.Local = conn.Local().String()
	if err := conn.SetDeadline(conn.Began.Add(r.Timeout)); err != nil {
		return a, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // fails only on a closed socket
	failed := conn.Wait()
	took := time.Since(conn.Began)
	a.Seconds = took.Seconds()
	if ctx.Err() != nil {
		return a, context.Cause(ctx)
	}
	said, isICMP := conn.ICMP()
	switch {
	case failed == nil:
		a.Outcome = measure.PortOpen
		addTrip(&a, conn)
		if greet {
			greeting(&a, conn)
		}
	case isICMP:
		a.Outcome, a.Reason, a.From = measure.PortUnreachable, string(said.Reason()), said.Offender.String()
	case errors.Is(failed, unix.ECONNREFUSED):
		a.Outcome = measure.PortRefused
		if took < firstTimeout {
			a.RTTSeconds = new(took.Seconds())
		}
	case errors.Is(failed, os.ErrDeadlineExceeded), errors.Is(failed, unix.ETIMEDOUT):
		a.Outcome = measure.PortSilent
	default:
		a.Outcome, a.Reason = measure.PortUnreachable, reasonOf(failed)
	}
	return a, nil
}

// reasonOf is the meaning of an error that the kernel gave without the ICMP error behind it.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, unix.EHOSTUNREACH):
		return string(sock.HostUnreachable)
	case errors.Is(err, unix.ENETUNREACH):
		return string(sock.NetUnreachable)
	}
	return errorText(err)
}

// addTrip notes the round trip of the SYN, by the kernel.
func addTrip(a *measure.PortAttempt, conn *sock.Connecting) {
	if answer, is := answerOf(0, conn).(pingAnswer); is {
		a.RTTSeconds = new(answer.rtt.Seconds())
	}
}

// greeting waits for what a server says first, or for the end of the connection.
func greeting(a *measure.PortAttempt, conn *sock.Connecting) {
	a.Held = true
	wait := connectGreet + 2*time.Duration(a.Seconds*float64(time.Second))
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return
	}
	said := make([]byte, 512)
	n, err := conn.Read(said)
	switch a.Banner = bannerOf(said[:n]); {
	case errors.Is(err, io.EOF):
		a.Then = "closed"
	case errors.Is(err, unix.ECONNRESET):
		a.Then = "reset"
	}
}

// connectEchoes is how long echoes may take which show how far the target is.
const connectEchoes = time.Second

// echoHops is over how many hops answers of the target to ICMP echo come; 0: none comes.
func (r *connectRun) echoHops(ctx context.Context) int {
	echoes, err := Ping{Target: r.to.Addr().String(), Count: 2, Interval: 10 * time.Millisecond, Timeout: connectEchoes / 2}.Do(ctx)
	if err != nil {
		return 0
	}
	return int(echoes.Metrics[measure.ReverseHopCount])
}
