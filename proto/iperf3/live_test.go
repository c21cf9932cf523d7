package iperf3

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve runs a Server on loopback and returns its address. The test fails if the server leaves anything running.
func serve(t *testing.T, policy Policy) string {
	t.Helper()
	return serveOn(t, policy, Listen)
}

// serveOn runs a Server of a policy on a listener that listen opens, and returns its address.
func serveOn(t *testing.T, policy Policy, listen func(context.Context, string) (net.Listener, error)) string {
	t.Helper()
	return serveBy(t, &Server{Policy: policy}, listen)
}

// serveBy runs a server on a listener that listen opens, and returns its address. The test fails if the server leaves anything running.
func serveBy(t *testing.T, s *Server, listen func(context.Context, string) (net.Listener, error)) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ln, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Error("Serve did not end with its context")
		}
	})
	return ln.Addr().String()
}

// run does a test that must succeed.
func run(t *testing.T, addr string, c Config) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := (&Client{Addr: addr, Config: c}).Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agree checks that both ends counted the same bytes, within a ratio.
func agree(t *testing.T, r *Report, directions []string, within float64) {
	t.Helper()
	for _, d := range directions {
		sum := r.Total(d)
		if !sum.HaveSent || !sum.HaveReceived || sum.SentBytes == 0 {
			t.Errorf("%s: sent %d, received %d", d, sum.SentBytes, sum.ReceivedBytes)
			continue
		}
		if off := float64(sum.ReceivedBytes)/float64(sum.SentBytes) - 1; off > within || off < -within {
			t.Errorf("%s: sent %d, received %d: %.3f %% apart", d, sum.SentBytes, sum.ReceivedBytes, off*100)
		}
	}
}

// configs are the tests that both stock and our own servers must do. Paced, so that what a busy machine leaves unread
// in megabytes of receive buffer does not matter.
var configs = map[string]Config{
	"tcp":      {Duration: time.Second, Rate: 200_000_000},
	"reverse":  {Duration: time.Second, Rate: 200_000_000, Reverse: true},
	"parallel": {Duration: time.Second, Rate: 50_000_000, Parallel: 4},
	"bidir":    {Duration: time.Second, Rate: 100_000_000, Bidir: true},
	"options":  {Duration: time.Second, Rate: 100_000_000, Congestion: "reno", Window: 100_000, Length: 20_000, MSS: 1000, DSCP: 8, NoDelay: true},
	"omit":     {Duration: time.Second, Omit: time.Second, Rate: 100_000_000},
	"udp":      {Proto: UDP, Duration: time.Second, Rate: 20_000_000},
	"udp back": {Proto: UDP, Duration: time.Second, Rate: 20_000_000, Reverse: true, Parallel: 2},
	"udp both": {Proto: UDP, Duration: time.Second, Rate: 20_000_000, Bidir: true},
}

func directions(c Config) []string {
	switch {
	case c.Bidir:
		return []string{Forward, Reverse}
	case c.Reverse:
		return []string{Reverse}
	}
	return []string{Forward}
}

func checkRate(t *testing.T, r *Report, c Config) {
	t.Helper()
	for _, d := range directions(c) {
		want := float64(c.Rate) * float64(max(1, c.Parallel))
		if got := r.Total(d).Goodput(); got < 0.7*want || got > 1.3*want {
			t.Errorf("%s: goodput %.3g bit/s, want %.3g", d, got, want)
		}
	}
}

func TestOwnServer(t *testing.T) {
	addr := serve(t, Policy{})
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			c.Interval = 200 * time.Millisecond
			c.OnInterval = func(IntervalReport) { calls.Add(1) }
			r := run(t, addr, c)
			within := 0.02 // what a busy machine leaves unread at the end of a second
			if c.Omit > 0 {
				within = 0.05 // each end ends the omitted part by its own clock: 50 ms of a second on a busy machine
			}
			agree(t, r, directions(c), within)
			checkRate(t, r, c)
			if calls.Load() != int64(len(r.Intervals)) || len(r.Intervals) < 4 {
				t.Errorf("%d intervals, %d calls", len(r.Intervals), calls.Load())
			}
			if r.Peer == nil || r.PeerExtra == nil || r.PeerExtra.Settings == nil || r.PeerExtra.Path == nil {
				t.Fatalf("peer %v, extra %+v: not all there", r.Peer, r.PeerExtra)
			}
			if c.Proto == UDP {
				return
			}
			if len(r.Samples) < 10 || len(r.PeerSamples) < 10 || len(r.PeerSamples[0].Values) < 30 {
				t.Errorf("%d and %d TCP_INFO samples in a second or more", len(r.Samples), len(r.PeerSamples))
			}
			if r.PeerSamples[0].Sender != c.Reverse {
				t.Errorf("peer's sample says sender %v", r.PeerSamples[0].Sender)
			}
			if e := r.Streams[0].RemoteExtra; e == nil || e.ReceiveBuffer == 0 || e.Congestion == "" || e.Congestion != r.RemoteCongestion {
				t.Errorf("remote extra %+v, remote congestion %q", e, r.RemoteCongestion)
			}
		})
	}
}

func TestBytesAreExact(t *testing.T) {
	addr := serve(t, Policy{})
	for name, c := range map[string]Config{
		"forward":  {Bytes: 10_000_001},
		"reverse":  {Bytes: 10_000_001, Reverse: true},
		"bidir":    {Bytes: 10_000_001, Bidir: true},
		"parallel": {Bytes: 10_000_001, Parallel: 3},
		"tiny":     {Bytes: 1},
		"source":   {Source: io.LimitReader(neverEnding{}, 10_000_001)},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, addr, c)
			for _, d := range directions(c) {
				sum := r.Total(d)
				want := max(c.Bytes, 0)
				if c.Source != nil {
					want = 10_000_001
				}
				if sum.SentBytes != want || sum.ReceivedBytes != want {
					t.Errorf("%s: sent %d, received %d, want %d", d, sum.SentBytes, sum.ReceivedBytes, want)
				}
			}
		})
	}
}

type neverEnding struct{}

func (neverEnding) Read(b []byte) (int, error) { return len(b), nil }

func TestSlowSourceLimits(t *testing.T) {
	addr := serve(t, Policy{})
	r := run(t, addr, Config{Duration: time.Second, Source: slowSource{}})
	if got := r.Total(Forward).Goodput(); got < 4e6 || got > 9e6 {
		t.Errorf("goodput %.3g bit/s from a source of at most 8 Mbit/s", got)
	}
	limited := 0
	for _, s := range r.Samples {
		limited += int(s.Values["delivery_rate_app_limited"])
	}
	if limited < len(r.Samples)/2 {
		t.Errorf("%d of %d samples say that the application was the limit", limited, len(r.Samples))
	}
}

type slowSource struct{}

func (slowSource) Read(b []byte) (int, error) {
	time.Sleep(10 * time.Millisecond) // the source's speed, not a wait for something
	return min(len(b), 10_000), nil
}

// TestPacedUDPIsSmooth looks at the kernel's stamps of a stream of 10 Mbit/s: the loss probe relies on it that no more
// than two datagrams come together.
func TestPacedUDPIsSmooth(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := stampArrivals(raw); err != nil {
		t.Fatal(err)
	}
	out, err := net.Dial("udp", conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	transfer := newTransfer(Params{UDP: true, Parallel: 1, Len: 1448, Bandwidth: 10_000_000, Num: 1448 * 500, Pathwise: &ParamsExtra{}})
	transfer.active = true
	s, err := newStream(0, out, true, true, true)
	if err != nil {
		t.Fatal(err)
	}
	transfer.streams = []*stream{s}
	transfer.begin(&monitor{})
	var stamps []int64
	buf, oob := make([]byte, 2048), make([]byte, 128)
	for len(stamps) < 500 {
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, n, _, _, err := conn.ReadMsgUDPAddrPort(buf, oob)
		if errors.Is(err, os.ErrDeadlineExceeded) && len(stamps) >= 250 { // the buffer was full while this test had no processor
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		stamps = append(stamps, readBeside(oob[:n]).stamp)
	}
	transfer.settle()
	transfer.closeStreams()
	conn.Close()
	bursts := 0
	for i := 2; i < len(stamps); i++ {
		if stamps[i]-stamps[i-2] < int64(300*time.Microsecond) { // evenly spaced they are 2.3 ms apart
			bursts++
		}
	}
	// Where the processor was given to others meanwhile, a few go out together to catch up, and some spans are longer: neither
	// is the pacing, so it is judged by most of the datagrams and by the median of spans of ten.
	if bursts > len(stamps)/50 {
		t.Errorf("%d times three datagrams came within 300 us", bursts)
	}
	var spans []int64
	for i := 10; i < len(stamps); i++ {
		spans = append(spans, stamps[i]-stamps[i-10])
	}
	slices.Sort(spans)
	rate := 10 * 1448 * 8 / (float64(spans[len(spans)/2]) / 1e9)
	if rate < 9.5e6 || rate > 10.5e6 {
		t.Errorf("rate %.4g bit/s, want 10 Mbit/s", rate)
	}
}

func TestCancelReturnsWhatWasMeasured(t *testing.T) {
	addr := serve(t, Policy{})
	for name, c := range map[string]Config{
		"tcp": {Duration: time.Minute}, "reverse": {Duration: time.Minute, Reverse: true}, "bytes": {Bytes: 1 << 50},
		"source": {Source: neverEnding{}}, "udp": {Proto: UDP, Duration: time.Minute, Rate: 1000},
		"udp reverse": {Proto: UDP, Duration: time.Minute, Reverse: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			var at time.Time
			c.Interval = 50 * time.Millisecond
			c.OnInterval = func(r IntervalReport) {
				if r.Bytes > 0 || c.Proto == UDP {
					at = time.Now()
					cancel()
				}
			}
			r, err := (&Client{Addr: addr, Config: c}).Run(ctx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v, want context.Canceled", err)
			}
			if took := time.Since(at); took > time.Second {
				t.Errorf("took %v to return", took)
			}
			if len(r.Streams) == 0 || len(r.Intervals) == 0 {
				t.Errorf("report has %d streams, %d intervals", len(r.Streams), len(r.Intervals))
			}
			c.OnInterval = nil
			r = run(t, addr, Config{Bytes: 1000}) // the server is free again at once
			agree(t, r, []string{Forward}, 0)
		})
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("tests", func(t *testing.T) {
		addr := serve(t, Policy{})
		run(t, addr, Config{Bytes: 1 << 20, Bidir: true, Parallel: 3})
		run(t, addr, Config{Proto: UDP, Duration: 100 * time.Millisecond, Bidir: true})
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_, _ = (&Client{Addr: addr, Config: Config{Reverse: true}}).Run(ctx)
	})
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if now := runtime.NumGoroutine(); now > before {
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, now, buf[:runtime.Stack(buf, true)])
	}
}

func TestConcurrentTests(t *testing.T) {
	addr := serve(t, Policy{MaxTests: 3})
	done := make(chan error, 3)
	for _, c := range []Config{{Bytes: 5 << 20, Parallel: 2}, {Bytes: 5 << 20, Reverse: true}, {Proto: UDP, Duration: 300 * time.Millisecond, Bidir: true}} {
		go func() {
			_, err := (&Client{Addr: addr, Config: c}).Run(context.Background())
			done <- err
		}()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TCP and UDP streams come over IPv6 as over IPv4.
func TestIPv6(t *testing.T) {
	ln, err := Listen(t.Context(), "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6: ", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- (&Server{}).Serve(ctx, ln) }()
	for name, c := range map[string]Config{
		"tcp": {Bytes: 100_000, Bidir: true}, "udp": {Proto: UDP, Bytes: 10_000, Parallel: 2}, "udp back": {Proto: UDP, Bytes: 10_000, Reverse: true},
	} {
		if r := run(t, ln.Addr().String(), c); r.Total(directions(c)[0]).ReceivedBytes == 0 {
			t.Errorf("%s: nothing came", name)
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestWindowReachesTheServer(t *testing.T) {
	addr := serve(t, Policy{})
	r := run(t, addr, Config{Bytes: 1 << 20, Window: 50_000})
	if got := r.Streams[0].RemoteExtra.ReceiveBuffer; got != 100_000 { // Linux doubles it
		t.Errorf("server's receive buffer %d, want 100000", got)
	}
	if got := r.Streams[0].LocalExtra.SendBuffer; got != 100_000 {
		t.Errorf("client's send buffer %d, want 100000", got)
	}
	r = run(t, addr, Config{Bytes: 1 << 20, Window: maxWindow})
	if !slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, "rmem_max") }) {
		t.Errorf("notes %q say nothing of a window above the limit", r.Notes)
	}
}
