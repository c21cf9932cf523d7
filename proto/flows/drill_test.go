package flows

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/drilltest"
)

func TestDrill(t *testing.T) {
	const short = 500 * time.Millisecond
	script, terms := parsed(t, "flow a end 60ms constant rate 50/s size 100\nflow b end 60ms poisson rate 50/s size 64..99")
	terms.Longest, terms.Linger = 2*short, 20*time.Millisecond
	drilltest.Run(t, drilltest.Subject{
		Limit: 2 * short, Datagrams: true,
		Serve: func(t *testing.T) (netip.AddrPort, func()) {
			return served(t, &Server{Policy: Policy{Tests: 100}, silence: short})
		},
		Tests: map[string]func(context.Context, netip.AddrPort) error{"flows": func(ctx context.Context, at netip.AddrPort) error {
			test, err := Client{Terms: terms, Timeout: short, silence: short}.Begin(ctx, []netip.AddrPort{at})
			if err != nil {
				return err
			}
			_, err = test.Run(ctx, script)
			return err
		}},
		Wrong: [][]byte{append(encodeHello("", terms)[:7], '9'), make([]byte, helloBytes), encodeHello("", Terms{Longest: time.Second}), endMark,
			append(encodeHello("", terms), beatMark[:7]...), append(encodeHello("", terms), endMark...)},
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
	return netip.MustParseAddrPort(l.Addr().String()), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
