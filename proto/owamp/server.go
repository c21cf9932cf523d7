package owamp

import (
	"cmp"
	"context"
	"log/slog"
	"net"

	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// Server answers the tests of clients. It is used for one Serve.
type Server struct {
	Policy endpoint.Policy
	Memory int64        // bytes of records, of sessions under way and of those that may still be fetched; 0: 64 MiB
	Log    *slog.Logger // nil: silent
	Clock  endpoint.Clock
	// OnTest, if not nil, is called after each connection on which sessions were started, while it still has its place: never more than
	// Policy.Tests calls at a time.
	OnTest func(endpoint.Tested)

	store store
}

// Serve answers on a listener until ctx ends. It then ends all tests, waits for every goroutine, closes the listener and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.store.most = cmp.Or(s.Memory, defaultMemory)
	server := endpoint.Server{Protocol: "OWAMP", Has: Modes, Policy: s.Policy, Log: s.Log, OnTest: s.OnTest, Beside: true,
		Visit: func(one *endpoint.Visit) error {
			v := &visit{Visit: one, server: s}
			defer v.close()
			return v.Commands(func() bool { return len(v.parts.all) > 0 }, v.do)
		}}
	return server.Serve(ctx, l)
}
