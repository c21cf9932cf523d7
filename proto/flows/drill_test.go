package flows

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/drilltest"
	"github.com/pathwise-net/pathwise/traffic"
)

func TestDrill(t *testing.T) {
	const short = 500 * time.Millisecond
	script, terms := parsed(t, "flow a end 60ms constant rate 50/s size 100\nflow b end 60ms poisson rate 50/s size 64..99")
	both, bothTerms := parsed(t, "flow a end 60ms constant rate 50/s size 100\nflow b reverse end 60ms poisson rate 50/s size 64..99")
	tested := func(script *traffic.Script, terms Terms) func(context.Context, netip.AddrPort) error {
		terms.Longest, terms.Linger = 2*short, 20*time.Millisecond
		return func(ctx context.Context, at netip.AddrPort) error {
			test, err := Client{Terms: terms, Timeout: short, silence: short}.Begin(ctx, []netip.AddrPort{at})
			if err != nil {
				return err
			}
			_, err = test.Run(ctx, script)
			return err
		}
	}
	drilltest.Run(t, drilltest.Subject{
		Limit: 2 * short, Datagrams: true,
		Serve: func(t *testing.T) (netip.AddrPort, func()) {
			return served(t, &Server{Policy: Policy{Tests: 100}, silence: short})
		},
		Tests: map[string]func(context.Context, netip.AddrPort) error{"flows": tested(script, terms), "both ways": tested(both, bothTerms)},
		Wrong: [][]byte{append(encodeHello("", terms)[:7], '9'), make([]byte, helloBytes), encodeHello("", Terms{Longest: time.Second}), endMark,
			append(encodeHello("", terms), beatMark[:7]...), append(encodeHello("", terms), endMark...),
			append(encodeHello("", bothTerms), endMark...), encodeHello("", bothTerms)[:helloBytes+2*termBytes+5]},
	})
}

// served serves on loopback until stop is called.
func served(t *testing.T, s *Server) (at netip.AddrPort, stop func()) {
	return servedAt(t, s, "127.0.0.1:0")
}

func servedAt(t *testing.T, s *Server, address string) (at netip.AddrPort, stop func()) {
	t.Helper()
	l, err := Listen(t.Context(), address)
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
