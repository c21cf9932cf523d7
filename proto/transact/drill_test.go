package transact

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/drilltest"
)

func TestDrill(t *testing.T) {
	const short = 500 * time.Millisecond
	drilltest.Run(t, drilltest.Subject{
		Limit: 2 * short,
		Serve: func(t *testing.T) (netip.AddrPort, func()) {
			return served(t, &Server{Policy: Policy{Tests: 100, Longest: 2 * short, Idle: short}})
		},
		Tests: map[string]func(context.Context, netip.AddrPort) error{"exchanges": func(ctx context.Context, at netip.AddrPort) error {
			test, err := Client{Terms: Terms{Exchanges: 5, Request: 100, Answer: 100, Longest: short}, Timeout: short}.Begin(ctx, []netip.AddrPort{at})
			if err != nil {
				return err
			}
			defer test.Close()
			one, err := test.Connect()
			if err != nil {
				return err
			}
			defer one.Close()
			for range 5 {
				if _, err := one.Exchange(2, time.Now().Add(short)); err != nil {
					return err
				}
			}
			_, err = test.End()
			return err
		}},
		Wrong: [][]byte{append(hello{terms: Terms{Exchanges: 1, Request: 24, Answer: 1}}.encode()[:7], '9'), make([]byte, RequestHeader),
			hello{terms: Terms{Exchanges: 1, Request: 1, Answer: 1, Longest: time.Second}}.encode(), endMagic},
	})
}

// served serves on loopback until stop is called.
func served(t *testing.T, s *Server) (at netip.AddrPort, stop func()) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	return addrPort(l.Addr()), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
