package iperf3

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// Streams with a flow label go through with servers of both sorts, and a stock client's server is told one.
func TestFlowLabel(t *testing.T) {
	l, err := Listen(t.Context(), "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here:", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- (&Server{}).Serve(ctx, l) }()
	defer func() { cancel(); <-ended }()
	at := l.Addr().String()
	for _, c := range []Config{{Bytes: 100_000, FlowLabel: 77, Parallel: 2}, {Proto: UDP, Bytes: 20_000, Rate: 10_000_000, FlowLabel: 77}} {
		if r := run(t, at, c); r.Total(Forward).ReceivedBytes < 20_000 {
			t.Errorf("%s: %+v", c.Proto, r.Total(Forward))
		}
	}
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	if r, status := stockClient(t, "[::1]:"+port, "-6", "-n", "100K", "-L", "99"); status != 0 || r.Error != "" {
		t.Errorf("a stock client: status %d, %q", status, r.Error)
	}
	_, err = (&Client{Addr: serve(t, Policy{}), Config: Config{Bytes: 1, FlowLabel: 5, Timeout: time.Second}}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "IPv4") {
		t.Errorf("over IPv4: %v", err)
	}
}
