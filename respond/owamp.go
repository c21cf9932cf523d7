package respond

import (
	"context"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/owamp"
)

// runKeyID names the secret of a run to a server of OWAMP or TWAMP that is open for it.
const runKeyID = endpoint.RunKeyID

// owampKind is an OWAMP server. The secret of a run is the pass phrase of the key ID pathwise-run, without which nothing is answered.
func owampKind() Kind {
	return Kind{
		Name: measure.ResponderOWAMP, Meaning: "one-way delay tests of any OWAMP client",
		Probes: []string{"owd"}, Protocols: []string{"tcp"}, Port: owamp.DefaultPort, Spare: owamp.SparePort,
		// A test is some packets a second; people let them run for hours, which a mesh does in pieces.
		Limits: Limits{Tests: 32, Longest: 5 * time.Minute},
		Always: true,
		check:  endpoint.CheckSecret,
		open:   openOWAMP,
	}
}

func openOWAMP(ctx context.Context, address string, t terms) (net.Addr, serve, error) {
	server := &owamp.Server{Policy: t.policy(owamp.SecuredModes), Log: t.log, OnTest: t.tested()}
	listener, err := endpoint.Listen(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	return listener.Addr(), func(ctx context.Context) error { return server.Serve(ctx, listener) }, nil
}
