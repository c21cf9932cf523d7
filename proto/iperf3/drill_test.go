package iperf3

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/drilltest"
)

func TestDrill(t *testing.T) {
	const short = 500 * time.Millisecond
	test := func(c Config) func(context.Context, netip.AddrPort) error {
		c.Timeout = short
		return func(ctx context.Context, at netip.AddrPort) error {
			_, err := (&Client{Addr: at.String(), Config: c}).Run(ctx)
			return err
		}
	}
	drilltest.Run(t, drilltest.Subject{
		Limit: time.Second + short + short + streamsGrace, Varies: true, Datagrams: true, // the time of the test, that of its end, and that without data
		Serve: func(t *testing.T) (netip.AddrPort, func()) {
			ctx, cancel := context.WithCancel(context.Background())
			l, err := Listen(ctx, "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			s := &Server{Policy: Policy{MaxTests: 100, MaxDuration: time.Second, Timeout: short, Overtime: short}}
			go func() { ended <- s.Serve(ctx, l) }()
			return addrPort(l.Addr()), func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		},
		Tests: map[string]func(context.Context, netip.AddrPort) error{
			"both ways": test(Config{Duration: 200 * time.Millisecond, Rate: 4_000_000, Bidir: true, Length: 2000}),
			"datagrams": test(Config{Proto: UDP, Duration: 200 * time.Millisecond, Rate: 4_000_000, Reverse: true, Length: 1000}),
		},
		Wrong: [][]byte{[]byte(strings.Repeat("x", CookieSize)), append([]byte(strings.Repeat("x", CookieSize)), 0xff, 0xff, 0xff, 0xff),
			append([]byte(strings.Repeat("y", CookieSize)), 0, 0, 0, 2, '{', '}')},
	})
}
