package respond

import (
	"context"
	"net"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// stampKind is a STAMP reflector. For a run it answers the run's peer alone, and where the run is Sealed authenticated packets alone.
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
	return socket.Addr(), func(ctx context.Context) error { return reflector.Serve(ctx, socket) }, nil
}
