package respond

import (
	"context"
	"net"
	"net/netip"

	"golang.org/x/sync/errgroup"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// stampKind is a STAMP reflector. For a run it answers the run's peer alone, and where the run is Sealed authenticated packets alone; over TCP, on a port of the same
// number, it tells who shows the run's secret where packets vanish on the way back, which packets by STAMP cannot tell.
func stampKind() Kind {
	return Kind{
		Name: measure.ResponderSTAMP, Meaning: "delay tests of any STAMP or TWAMP-light sender",
		Probes: []string{"owd", "mtu"}, Protocols: []string{"udp"}, Port: stamp.DefaultPort, Spare: stamp.SparePort,
		Always: true, Reflects: true,
		check: endpoint.CheckSecret,
		open:  openSTAMP,
	}
}

func openSTAMP(ctx context.Context, address string, t terms) (net.Addr, serve, error) {
	socket, err := stamp.Listen(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	reflector := &stamp.Reflector{Peer: t.peer, Log: t.log, Key: t.STAMP.Key, TLVKey: t.STAMP.TLVKey, Stateless: t.STAMP.Stateless, Marks: t.STAMP.Marks}
	if t.secret != "" {
		reflector.Key = stamp.RunKey(t.secret)
	}
	reflect := func(ctx context.Context) error { return reflector.Serve(ctx, socket) }
	if t.shown == "" || t.TraceBack == nil {
		return socket.Addr(), reflect, nil
	}
	listener, err := endpoint.Listen(ctx, socket.Addr().String())
	if err != nil { // packets are answered all the same
		t.log.Info("no routes back for a run", "error", err)
		return socket.Addr(), reflect, nil
	}
	lines := linesOf(t)
	door := &endpoint.Door{Protocol: "routes back", Peer: t.peer, Log: t.log, Greet: func(ctx context.Context, conn net.Conn, _ netip.Addr, _ func()) { lines(ctx, conn) }}
	return socket.Addr(), func(ctx context.Context) error {
		return both(ctx, reflect, func(ctx context.Context) error { return door.Serve(ctx, listener) })
	}, nil
}

// both serves in two ways until ctx ends, or one of them fails.
func both(ctx context.Context, one, other serve) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return one(ctx) })
	group.Go(func() error { return other(ctx) })
	return group.Wait()
}
