package respond

import (
	"context"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/transact"
)

// transactKind answers requests of programs that talk in turns. The secret of a run opens its control connection.
func transactKind() Kind {
	return Kind{
		Name: measure.ResponderTransact, Meaning: "transactions of Pathwise: requests and their answers",
		Probes: []string{"transact"}, Protocols: []string{"tcp"}, Port: transact.DefaultPort,
		// Tests are small and take turns with nobody: those of sixteen hosts may be under way.
		Limits: Limits{Tests: 16, Longest: 5 * time.Minute},
		Always: true,
		check:  transact.CheckSecret,
		open:   openTransact,
	}
}

func openTransact(ctx context.Context, address string, t terms) (net.Addr, serve, error) {
	listener, err := transact.Listen(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	server := &transact.Server{Log: t.log,
		Policy: transact.Policy{Tests: t.Tests, Longest: t.Longest, Secret: t.secret, Peer: t.peer}}
	if t.onTest != nil {
		server.OnTest = func(one transact.Tested) { t.onTest(Tested{Client: one.Client, Bytes: one.Bytes, Err: one.Err}) }
	}
	return listener.Addr(), func(ctx context.Context) error { return server.Serve(ctx, listener) }, nil
}
