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
	"github.com/pathwise-net/pathwise/proto/stamp"
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

// reflectBeside opens a reflector of STAMP packets on the UDP port of the tests of a run, so that round trips can be measured beside them. It answers
// the run's peer alone. What it returns begins to answer, and returns what ends that. A host on which it cannot be opened has none.
//
// A test by UDP has sockets of its own on the port, which are connected to the peer's: while its streams are opened, packets beside it are lost.
func reflectBeside(ctx context.Context, at net.Addr, t terms) (begin func(context.Context) (end func())) {
	none := func(context.Context) func() { return func() {} }
	if t.secret == "" {
		return none
	}
	socket, err := stamp.Listen(ctx, at.String())
	if err != nil {
		t.log.Info("no round trips beside tests", "error", err)
		return none
	}
	if err := socket.Share(); err != nil {
		socket.Close()
		return none
	}
	return func(ctx context.Context) func() {
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = (&stamp.Reflector{Peer: t.peer, Log: t.log}).Serve(ctx, socket) // without it the tests go on
		}()
		return func() { cancel(); <-ended }
	}
}

func openIperf3(ctx context.Context, address string, t terms) (net.Addr, serve, error) {
	policy := iperf3.Policy{MaxTests: t.Tests, MaxDuration: t.Longest, MaxStreams: t.Streams, MaxRate: t.Rate, Peer: t.peer, Auth: t.Iperf3, Classes: t.Iperf3Classes, MPTCP: t.MPTCP}
	if t.secret == "" { // a run of a mesh has no groups
		policy.Groups = t.Groups
	}
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
	reflect := reflectBeside(ctx, listener.Addr(), t)
	return listener.Addr(), func(ctx context.Context) error {
		defer reflect(ctx)()
		err := server.Serve(ctx, listener)
		if policy.Files != nil {
			err = errors.Join(err, policy.Files.Close())
		}
		return err
	}, nil
}
