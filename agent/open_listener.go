package agent

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/respond"
	"github.com/pathwise-net/pathwise/sock"
)

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
		Secret: o.Responder.Secret, Peer: peer, Tests: o.Responder.Tests,
		Until: time.Now().Add(o.Until.Sub(a.now())), Longest: longest, Rate: int64(rate),
		OnTest: func(t respond.Tested) { a.count(class, t.Bytes) },
	}
}
