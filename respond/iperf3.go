package respond

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// iperf3Kind is an iperf3 server. The secret of a run is the cookie that opens each of its connections.
func iperf3Kind() Kind {
	return Kind{
		Name: measure.ResponderIperf3, Meaning: "throughput tests of Pathwise and of any iperf3 client",
		Probes: []string{"capacity", "throughput"}, Protocols: []string{"tcp", "udp"}, Port: iperf3.DefaultPort,
		// One test at a time is iperf3's own way, and 128 streams are its limit (iperf.h, MAX_STREAMS); five minutes is longer than
		// people wait, and short enough that a client that hangs is gone when the next looks again.
		Limits: Limits{Tests: 1, Longest: 5 * time.Minute, Streams: 128, Rate: 1e9},
		Fills:  true,
		check:  func(secret string) error { _, err := iperf3.ParseCookie(secret); return err },
		open:   openIperf3,
	}
}

func openIperf3(ctx context.Context, address string, t terms) (net.Addr, serve, error) {
	policy := iperf3.Policy{MaxTests: t.Tests, MaxDuration: t.Longest, MaxStreams: t.Streams, MaxRate: t.Rate, Peer: t.peer, Auth: t.Iperf3, Classes: t.Iperf3Classes, MPTCP: t.MPTCP}
	if t.secret != "" {
		secret, err := iperf3.ParseCookie(t.secret)
		if err != nil {
			return nil, nil, err
		}
		competing, err := iperf3.ParseCookie(measure.CompetingSecret(t.secret))
		if err != nil {
			return nil, nil, err
		}
		policy.Admit = func(c iperf3.Cookie, _ netip.Addr) bool { return c.Equal(secret) || t.Tests > 1 && c.Equal(competing) }
	}
	listen := iperf3.Listen
	if t.MPTCP {
		listen = iperf3.ListenMPTCP
	}
	listener, err := listen(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	if t.Files != "" && t.secret == "" { // a run of a mesh has no files
		if policy.Files, err = os.OpenRoot(t.Files); err != nil {
			listener.Close()
			return nil, nil, fmt.Errorf("open the folder for files: %w", err)
		}
	}
	server := &iperf3.Server{Policy: policy, Log: t.log}
	if t.onTest != nil {
		server.OnTest = func(one iperf3.Tested) {
			t.onTest(Tested{Client: one.Client, Bytes: one.SentBytes + one.ReceivedBytes, Err: one.Err})
		}
	}
	return listener.Addr(), func(ctx context.Context) error {
		err := server.Serve(ctx, listener)
		if policy.Files != nil {
			err = errors.Join(err, policy.Files.Close())
		}
		return err
	}, nil
}
