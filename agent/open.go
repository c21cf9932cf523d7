package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/respond"
	"github.com/pathwise-net/pathwise/sock"
)

const (
	// openAgain is how often a port that another program has is tried again: the test before may be just ending.
	openAgain = 500 * time.Millisecond
	// openWithin is how long whoever orders an opening is kept waiting for that: a test ends its listener at once, on a busy machine
	// within a second.
	openWithin = 3 * time.Second
)

// openResponder is something that is open, or was, for the run of another host. It stays known until its time is over, so that it does
// not open again.
type openResponder struct {
	opening fleet.Opening
	cancel  context.CancelCauseFunc
	open    bool
	why     string // it could not be opened
}

// openDue opens what is due, forgets what is over, and returns how long nothing else is due.
func (a *Agent) openDue(ctx context.Context) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	for id, d := range a.responders {
		if now.After(d.opening.Until.Add(keepResponders)) && !d.open {
			delete(a.responders, id)
		}
	}
	for _, planned := range a.agenda.opens.claim(now) {
		o := fleet.Opening(planned)
		if a.responders[o.Run] != nil || !o.Until.After(now) {
			continue
		}
		d, ctx := a.newResponder(ctx, o)
		a.group.Go(func() {
			defer d.cancel(nil)
			answer, err := a.openSoon(ctx, o, o.Until.Sub(a.now()))
			if err == nil {
				a.opened(d)
				err = answer(ctx)
			}
			a.closed(d, err)
		})
	}
	if at, ok := a.agenda.opens.next(); ok {
		return a.untilStart(at)
	}
	return tick
}

// keepResponders is how long, after the end of its time, Status tells of an opening that failed.
const keepResponders = 5 * time.Minute

// newResponder makes an openResponder that closes when its time is over, by a clock that nobody steps.
func (a *Agent) newResponder(ctx context.Context, o fleet.Opening) (*openResponder, context.Context) {
	d := &openResponder{opening: o}
	ctx, stop := context.WithTimeout(ctx, o.Until.Sub(a.now()))
	ctx, cancel := context.WithCancelCause(ctx)
	d.cancel = func(cause error) { cancel(cause); stop() }
	a.responders[o.Run] = d
	return d, ctx
}

// orderOpen opens something at once, or says why not.
func (a *Agent) orderOpen(o fleet.Opening) error {
	a.mu.Lock()
	ctx := a.ctx
	if ctx == nil || ctx.Err() != nil {
		a.mu.Unlock()
		return errStopped
	}
	if d := a.responders[o.Run]; d != nil {
		defer a.mu.Unlock()
		if d.open {
			return nil // the same order again
		}
		return fmt.Errorf("opening for run %s: it was open already, and is closed", o.Run)
	}
	d, ctx := a.newResponder(ctx, o)
	a.mu.Unlock()
	answer, err := a.openSoon(ctx, o, openWithin)
	if err != nil {
		d.cancel(nil)
		a.mu.Lock()
		delete(a.responders, o.Run) // it may be ordered again
		a.mu.Unlock()
		return err
	}
	a.opened(d)
	a.group.Go(func() {
		defer d.cancel(nil)
		a.closed(d, answer(ctx))
	})
	return nil
}

// answer is something that is open: it answers a run's tests, until they are done or ctx ends. It must be called.
type answer func(ctx context.Context) error

// open opens something, as far as the policy allows.
func (a *Agent) open(ctx context.Context, o fleet.Opening) (answer, error) {
	kind, known := respond.KindOf(o.Responder.Kind)
	switch {
	case !known:
		return nil, fmt.Errorf("open for run %s: %q: this agent opens %s only", o.Run, o.Responder.Kind, respond.Listed(respond.Names()))
	case kind.Program:
		return a.openCommand(ctx, o)
	}
	return a.openListener(ctx, kind, o)
}

// openSoon opens something, and tries again while another program has the port, as long as the opening is due, at most within.
func (a *Agent) openSoon(ctx context.Context, o fleet.Opening, within time.Duration) (answer, error) {
	for late := time.Now().Add(within); ; {
		answer, err := a.open(ctx, o)
		var refused *RefusedError
		if err == nil || errors.As(err, &refused) || input.Bad(err) || time.Now().Add(openAgain).After(late) {
			return answer, err
		}
		select {
		case <-time.After(openAgain):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// peerOf returns the address that may come, the zero value for any.
func peerOf(o fleet.Opening) (netip.Addr, error) {
	if o.Peer == "" {
		return netip.Addr{}, nil
	}
	peer, err := netip.ParseAddr(o.Peer)
	if err != nil {
		return peer, fmt.Errorf("open for run %s: peer %q: want an address", o.Run, o.Peer)
	}
	return peer.Unmap().WithZone(""), nil
}

func (a *Agent) opened(d *openResponder) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d.open = true
}

// closed notes that a responder is closed. err: it could not be opened, or could not go on answering.
func (a *Agent) closed(d *openResponder, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d.open = false
	if err != nil && a.ctx.Err() == nil {
		d.why = err.Error()
		a.log.Warn("not open for a test", "run", d.opening.Run, "source", d.opening.Source, "error", err)
	}
}

// openListener asks the policy and listens. The tests of one run may come, by the secret and from the peer, until they are done or
// the time is over.
func (a *Agent) openListener(ctx context.Context, kind respond.Kind, o fleet.Opening) (answer, error) {
	if err := kind.CheckSecret(o.Responder.Secret); err != nil {
		return nil, fmt.Errorf("open for run %s: %w", o.Run, err)
	}
	peer, err := peerOf(o)
	if err != nil {
		return nil, err
	}
	err = a.decide(policy.Request{Host: o.Source, Address: peer, Open: o.Responder.Kind, Port: o.Responder.Port})
	if err != nil {
		return nil, err
	}
	opened, err := kind.OpenForRun(ctx, sock.JoinHostPort(a.config.Listen, o.Responder.Port), a.runOf(o, peer), a.log.With("run", o.Run))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if kind.Fills {
			a.mu.Lock()
			a.weigh(1)
			a.mu.Unlock()
			defer func() { a.mu.Lock(); a.weigh(-1); a.mu.Unlock() }()
		}
		return opened.Serve(ctx)
	}, nil
}

// runOf is what an opening comes to within the policy, whose bytes of the day it counts for. It closes by a clock that nobody steps.
func (a *Agent) runOf(o fleet.Opening, peer netip.Addr) respond.Run {
	class := a.policy.ClassOf(o.Source, peer)
	longest, rate := a.policy.Caps(class)
	if window := o.Until.Sub(o.From); longest == 0 || window < longest {
		longest = window
	}
	return respond.Run{
		Secret: o.Responder.Secret, Sealed: o.Responder.Sealed, Peer: peer, Tests: o.Responder.Tests, Together: o.Responder.Together,
		Until: time.Now().Add(o.Until.Sub(a.now())), Longest: longest, Rate: int64(rate),
		TraceBack: a.traceBack(o, rate, probe.TraceBack),
		OnTest:    func(t respond.Tested) { a.count(class, t.Bytes) },
	}
}
