package respond

import (
	"context"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/flows"
	"github.com/pathwise-net/pathwise/traffic"
)

// flowsKind takes flows of datagrams, and gives an account of each. The secret of a run opens its control connection.
func flowsKind() Kind {
	return Kind{
		Name: measure.ResponderFlows, Meaning: "flows of datagrams by a script, of Pathwise",
		Probes: []string{"flows"}, Protocols: []string{"tcp", "udp"}, Port: flows.DefaultPort,
		// What arrives of four tests is remembered in 100 MB at the most.
		Limits: Limits{Tests: 4, Longest: 5 * time.Minute, Rate: 1e9},
		Always: true,
		check:  flows.CheckSecret,
		open:   openFlows,
	}
}

func openFlows(ctx context.Context, address string, t terms) (net.Addr, serve, error) {
	listener, err := flows.Listen(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	server := &flows.Server{Log: t.log, Policy: flows.Policy{Tests: t.Tests, Secret: t.secret, Peer: t.peer,
		Most: flows.Ask{Longest: t.Longest, Rate: float64(t.Rate), Packets: traffic.MostPackets}}}
	if t.onTest != nil {
		server.OnTest = func(one flows.Tested) { t.onTest(Tested{Client: one.Client, Bytes: one.Bytes, Err: one.Err}) }
	}
	return listener.Addr(), func(ctx context.Context) error { return server.Serve(ctx, listener) }, nil
}
