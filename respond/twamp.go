package respond

import (
	"context"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/twamp"
)

// twampKind is a TWAMP server. The secret of a run is the pass phrase of the key ID pathwise-run, without which nothing is answered.
func twampKind() Kind {
	return Kind{
		Name: measure.ResponderTWAMP, Meaning: "two-way delay tests of any TWAMP client",
		Probes: []string{"owd"}, Protocols: []string{"tcp"}, Port: twamp.DefaultPort, Spare: twamp.SparePort,
		// As those of OWAMP.
		Limits: Limits{Tests: 32, Longest: 5 * time.Minute},
		Always: true, Untold: true,
		check: endpoint.CheckSecret,
		open:  openTWAMP,
	}
}

func openTWAMP(ctx context.Context, address string, t terms) (net.Addr, serve, error) {
	server := &twamp.Server{Policy: t.policy(twamp.SecuredModes), Log: t.log, OnTest: t.tested()}
	listener, err := endpoint.Listen(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	return listener.Addr(), func(ctx context.Context) error { return server.Serve(ctx, listener) }, nil
}

// policy is what a server of OWAMP or TWAMP allows. For a run it has the modes alone that take a secret.
func (t terms) policy(secured control.Mode) endpoint.Policy {
	limits := endpoint.Limits{Longest: t.Longest, BitRate: t.Rate}
	if t.secret == "" {
		return endpoint.Policy{Tests: t.Tests, Peer: t.peer, Limits: limits, Keys: t.Keys, Classes: t.Classes}
	}
	return endpoint.Policy{Tests: t.Tests, Peer: t.peer, Limits: limits, Keys: endpoint.Keys{runKeyID: []byte(t.secret)}, Modes: secured}
}

// tested tells of what came of tests of OWAMP or TWAMP, if somebody wants to know.
func (t terms) tested() func(endpoint.Tested) {
	if t.onTest == nil {
		return nil
	}
	return func(one endpoint.Tested) { t.onTest(Tested{Client: one.Client, Bytes: one.Bytes, Err: one.Err}) }
}
