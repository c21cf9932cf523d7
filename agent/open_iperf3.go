package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// openIperf3 asks the policy and listens.
func (a *Agent) openIperf3(ctx context.Context, o fleet.Opening) (answer, error) {
	secret, err := iperf3.ParseCookie(o.Responder.Secret)
	if err != nil {
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
	listener, err := iperf3.Listen(ctx, net.JoinHostPort(a.config.Listen, strconv.Itoa(o.Responder.Port)))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, d *openResponder) error {
		return a.serveIperf3(ctx, d, listener, secret, peer)
	}, nil
}

// serveIperf3 lets the tests of one run come, by the secret and from the peer, until it is done, the time is over, or ctx ends.
func (a *Agent) serveIperf3(ctx context.Context, d *openResponder, listener net.Listener, secret iperf3.Cookie, peer netip.Addr) error {
	a.mu.Lock()
	a.weigh(1)
	a.mu.Unlock()
	defer func() { a.mu.Lock(); a.weigh(-1); a.mu.Unlock() }()
	o := d.opening
	class := a.policy.ClassOf(o.Source, peer)
	longest, rate := a.policy.Caps(class)
	if window := o.Until.Sub(o.From); longest == 0 || window < longest {
		longest = window
	}
	if rate == 0 {
		rate = anyRate
	}
	left := max(1, o.Responder.Tests) // OnTest is called for one after the other, as MaxTests is 1
	server := iperf3.Server{
		Log: a.log.With("run", o.Run),
		Policy: iperf3.Policy{MaxDuration: longest, MaxRate: int64(rate), Peer: peer,
			Admit: func(c iperf3.Cookie, _ netip.Addr) bool { return c.Equal(secret) }},
		OnTest: func(t iperf3.Tested) {
			a.count(class, t.SentBytes+t.ReceivedBytes)
			if t.Err == nil {
				left--
			}
			if left == 0 {
				d.cancel(errDone)
			}
		},
	}
	return server.Serve(ctx, listener)
}

// anyRate in bit/s is beyond any interface.
const anyRate = 1e15
