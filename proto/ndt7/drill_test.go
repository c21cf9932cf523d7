package ndt7_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/drilltest"
	"github.com/pathwise-net/pathwise/proto/ndt7"
)

func TestDrill(t *testing.T) {
	const short = 500 * time.Millisecond
	const overtime = 3 * time.Second // of the specification
	tests := map[string]func(context.Context, netip.AddrPort) error{}
	for _, name := range []string{ndt7.Download, ndt7.Upload} {
		tests[name] = func(ctx context.Context, at netip.AddrPort) error {
			r, err := (&ndt7.Client{Host: "localhost", Duration: 300 * time.Millisecond, Timeout: short}).Run(ctx, name, []netip.AddrPort{at})
			if err == nil && (r.Elapsed < 250*time.Millisecond || len(r.Notes) > 0) {
				return fmt.Errorf("the test ended after %v: %q", r.Elapsed, r.Notes)
			}
			return err
		}
	}
	drilltest.Run(t, drilltest.Subject{
		Limit: short + overtime, Varies: true, Tests: tests,
		Serve: func(t *testing.T) (netip.AddrPort, func()) {
			at, _, stop := serve(t, &ndt7.Server{Policy: ndt7.Policy{Tests: 100, Longest: 300 * time.Millisecond, Idle: short}})
			return at, stop
		},
		Wrong: [][]byte{[]byte("GET /ndt/v7/download HTTP/1.1\r\nHost: x\r\nSec-WebSocket-Protocol: wrong\r\n\r\n"), []byte("GET / HTTP/1.1\r\nX: ")},
	})
}
