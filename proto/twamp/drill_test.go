package twamp

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/drilltest"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

func TestDrill(t *testing.T) {
	const short = 500 * time.Millisecond
	drilltest.Run(t, drilltest.Subject{
		Limit: 3 * short,
		Serve: func(t *testing.T) (netip.AddrPort, func()) {
			return served(t, &Server{Policy: endpoint.Policy{Tests: 100, Idle: short, Limits: endpoint.Limits{Longest: short}}})
		},
		Tests: map[string]func(context.Context, netip.AddrPort) error{"sessions": func(ctx context.Context, at netip.AddrPort) error {
			test, err := Client{Timeout: short}.Connect(ctx, []netip.AddrPort{at})
			if err != nil {
				return err
			}
			defer test.Close()
			for range 3 {
				if _, err := test.Request(Terms{Port: 9, Padding: LeastPadding(test.Mode), Timeout: short}); err != nil {
					return err
				}
			}
			if err := test.Start(); err != nil {
				return err
			}
			return test.Stop()
		}},
		Wrong: [][]byte{control.SetUp{Mode: control.Encrypted}.Encode(), append(control.SetUp{Mode: control.Open}.Encode(), make([]byte, control.BlockBytes)...)},
	})
}

// served serves on loopback until stop is called.
func served(t *testing.T, s *Server) (at netip.AddrPort, stop func()) {
	l, err := endpoint.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return endpoint.AddrPort(l.Addr()), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
