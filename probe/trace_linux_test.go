package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

func TestTraceLoopback(t *testing.T) {
	for _, target := range []string{"127.0.0.1", "::1"} {
		if _, err := sock.Source(netip.MustParseAddr(target)); err != nil {
			t.Logf("no %s on this machine: %v", target, err)
			continue
		}
		var progress []measure.Hop
		result, err := Trace{Target: target, Progress: func(h measure.Hop) { progress = append(progress, h) }}.Do(t.Context())
		if err != nil || result.Status != measure.StatusOK {
			t.Errorf("%s: status %s, %v", target, result.Status, err)
			continue
		}
		want := map[measure.Metric]float64{measure.HopCount: 1, measure.SentPackets: 3, measure.ReceivedPackets: 3}
		if diff := cmp.Diff(want, result.Metrics); diff != "" {
			t.Errorf("%s: metrics (-want +got):\n%s", target, diff)
		}
		hops := result.Samples.Hops
		if len(hops) != 1 || hops[0].TTL != 1 || hops[0].Reply != "port unreachable" || len(hops[0].Addresses) != 1 ||
			hops[0].Addresses[0] != target || len(hops[0].RTTSeconds) != 3 {
			t.Errorf("%s: hops %+v; want the target, three times", target, hops)
		}
		if diff := cmp.Diff(hops, progress); diff != "" {
			t.Errorf("%s: (-hops +progress):\n%s", target, diff)
		}
	}
}

// A UDP server on the port of a probe answers in place of an ICMP error.
func TestTraceOpenPort(t *testing.T) {
	server, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			_, from, err := server.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = server.WriteToUDPAddrPort([]byte("who?"), from)
		}
	}()
	defer func() { server.Close(); <-done }()
	port := server.LocalAddr().(*net.UDPAddr).Port
	result, err := Trace{Target: "127.0.0.1", Port: port, MaxTTL: 1, Queries: 1}.Do(t.Context())
	if err != nil || len(result.Samples.Hops) != 1 || result.Samples.Hops[0].Reply != "UDP reply" {
		t.Errorf("hops %+v, %v; want one with a UDP reply", result.Samples.Hops, err)
	}
	if hops, ok := result.Get(measure.HopCount); !ok || hops != 1 {
		t.Errorf("hop count %v, %v; want 1", hops, ok)
	}
}

func TestTraceCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	result, err := Trace{Target: "127.0.0.1"}.Do(ctx)
	if !errors.Is(err, context.Canceled) || result.Status == measure.StatusOK || time.Since(began) > time.Second {
		t.Errorf("status %s, %v after %v; want cancelled at once", result.Status, err, time.Since(began))
	}
}
