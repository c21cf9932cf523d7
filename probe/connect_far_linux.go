package probe

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/connect"
	"github.com/pathwise-net/pathwise/sock"
)

// PortWatch watches connections to a port of this host from another one, for Connect there: what its interfaces show, where that is allowed, and
// what its kernel knows. It sends nothing until it finishes, and then tries one connection from this host to itself.
type PortWatch struct {
	to     netip.AddrPort
	from   []netip.Addr
	began  time.Time
	tap    *portTap // nil: not allowed
	counts sock.Counts
	polls  context.CancelFunc
	polled chan struct{} // closed when polling has ended
	// half and last are when connections were first and last seen half open, by their near end.
	half, last map[netip.AddrPort]time.Time
	waiting    map[netip.AddrPort]int // connections in the accept queue of each listener on the port, the most that were seen
}

const (
	// halfOpenPoll is how often half-open connections are looked for: the kernel keeps each for a second at least, until it would answer again.
	halfOpenPoll = 50 * time.Millisecond
	// halfOpenLeast is longer than the last ACK of an opening takes over most paths.
	halfOpenLeast = 300 * time.Millisecond
	// itselfTimeout is more than a host takes to answer itself.
	itselfTimeout = 500 * time.Millisecond
)

// NewPortWatch begins to watch connections to an address and port from any of some addresses. Finish ends it.
func NewPortWatch(to netip.AddrPort, from ...netip.Addr) *PortWatch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &PortWatch{to: to, began: time.Now(), counts: sock.ReadCounts(to.Addr()), polls: cancel, polled: make(chan struct{}),
		half: map[netip.AddrPort]time.Time{}, last: map[netip.AddrPort]time.Time{}, waiting: map[netip.AddrPort]int{}}
	for _, a := range from {
		w.from = append(w.from, a.Unmap().WithZone(""))
	}
	if tap, err := newPortTap(to.Port(), w.began, func(near, _ netip.AddrPort) bool { return w.isNear(near) }); err == nil {
		w.tap = tap
	}
	go func() { // ends with Finish
		defer close(w.polled)
		for sleep(ctx, halfOpenPoll) {
			w.poll()
		}
	}()
	return w
}

func (w *PortWatch) isNear(a netip.AddrPort) bool {
	return slices.Contains(w.from, a.Addr().Unmap().WithZone(""))
}

// poll notes which connections of the near end are half open, and how many wait to be accepted.
func (w *PortWatch) poll() {
	listening, _ := sock.Listeners() // where they cannot be listed, there are none to tell of
	for _, l := range listening {
		if l.Local.Port() == w.to.Port() {
			w.waiting[l.Local] = max(w.waiting[l.Local], l.Waiting)
		}
	}
	all, err := sock.HalfOpen()
	if err != nil {
		return
	}
	now := time.Now()
	for _, c := range all {
		if c.Local.Port() != w.to.Port() || !w.isNear(c.Remote) {
			continue
		}
		if _, known := w.half[c.Remote]; !known {
			w.half[c.Remote] = now
		}
		w.last[c.Remote] = now
	}
}

// Finish ends the watching, and says what was seen.
func (w *PortWatch) Finish(ctx context.Context) *measure.PortFar {
	w.polls()
	<-w.polled
	w.poll()
	far := &measure.PortFar{Address: w.to.Addr().String(), Foreign: !ofThisHost(w.to.Addr())}
	if w.tap != nil {
		far.Watched, far.Packets = true, w.tap.finish()
	}
	for near, first := range w.half {
		if w.last[near].Sub(first) >= halfOpenLeast {
			far.HalfOpen++
		}
	}
	more := sock.ReadCounts(w.to.Addr()).Since(w.counts)
	maps.DeleteFunc(more, func(name string, _ uint64) bool { return !slices.Contains(connect.Counts, name) })
	far.Counts = more
	far.Listeners = w.listeners()
	if len(far.Listeners) > 0 && !w.isNear(w.to) {
		far.Itself = itself(ctx, w.to)
	}
	return far
}

// listeners are the sockets that listen on the port, with their programs.
func (w *PortWatch) listeners() (on []measure.PortListener) {
	all, err := sock.Listeners()
	if err != nil {
		return nil
	}
	var owners map[uint64]sock.Owner
	for _, l := range all {
		if l.Local.Port() != w.to.Port() {
			continue
		}
		if owners == nil { // which takes a look at all processes
			owners = sock.Owners()
		}
		name := ""
		if owner, known := owners[l.Inode]; known {
			if program, err := owner.Program(); err == nil {
				name = program.Name
			}
		}
		on = append(on, measure.PortListener{Address: l.Local.String(), Program: name, Covers: l.Covers(w.to.Addr()),
			Waiting: max(w.waiting[l.Local], l.Waiting), Most: l.Most})
	}
	return on
}

// itself is what becomes of a connection from this host to itself.
func itself(ctx context.Context, to netip.AddrPort) string {
	ctx, cancel := context.WithTimeout(ctx, 2*itselfTimeout)
	defer cancel()
	run := &connectRun{Connect: Connect{Timeout: itselfTimeout}, to: to, began: time.Now()}
	a, err := run.try(ctx, false)
	if err != nil {
		return measure.PortUnreachable
	}
	return a.Outcome
}
