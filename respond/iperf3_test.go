package respond

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// The limits that only an iperf3 server has: streams, and the rate that it sends at. A run without a rate may ask for any.
func TestIperf3Limits(t *testing.T) {
	kind, _ := KindOf(measure.ResponderIperf3)
	fast := iperf3.Config{Cookie: secret, Proto: iperf3.UDP, Reverse: true, Duration: 100 * time.Millisecond, Rate: 2e6}
	for name, c := range map[string]struct {
		open   func() (*Opened, error)
		config iperf3.Config
		admits bool
	}{
		"streams": {func() (*Opened, error) { return kind.Open(t.Context(), "127.0.0.1:0", Limits{Streams: 2}, nil) },
			iperf3.Config{Bytes: 1000, Parallel: 3}, false},
		"so many": {func() (*Opened, error) { return kind.Open(t.Context(), "127.0.0.1:0", Limits{Streams: 2}, nil) },
			iperf3.Config{Bytes: 1000, Parallel: 2}, true},
		"rate": {func() (*Opened, error) {
			return kind.OpenForRun(t.Context(), "127.0.0.1:0", Run{Secret: secret, Rate: 1e6}, nil)
		}, fast, false},
		"any rate": {func() (*Opened, error) { return kind.OpenForRun(t.Context(), "127.0.0.1:0", Run{Secret: secret}, nil) },
			iperf3.Config{Cookie: secret, Proto: iperf3.UDP, Reverse: true, Bytes: 1000, Rate: 2e9}, true},
	} {
		o, err := c.open()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- o.Serve(ctx) }()
		_, err = (&iperf3.Client{Addr: o.Addr.String(), Config: c.config}).Run(t.Context())
		var refused *iperf3.PeerError
		if (err == nil) != c.admits || errors.As(err, &refused) == c.admits {
			t.Errorf("%s: %v, want admitted: %v", name, err, c.admits)
		}
		cancel()
		if err := <-served; err != nil {
			t.Errorf("%s: Serve: %v", name, err)
		}
	}
}
