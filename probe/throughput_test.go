package probe

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// serve runs a responder on a port of loopback for one test.
func serve(t *testing.T) (port int) {
	t.Helper()
	return serveBy(t, &iperf3.Server{})
}

func serveBy(t *testing.T, server *iperf3.Server) (port int) {
	t.Helper()
	listener, err := iperf3.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, server, listener)
}

func serveOn(t *testing.T, server *iperf3.Server, listener net.Listener) (port int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() { cancel(); <-ended })
	return listener.Addr().(*net.TCPAddr).Port
}

// A transfer over loopback brings the metrics and samples that the contract names, from both ends.
func TestThroughputLoopback(t *testing.T) {
	for _, c := range []struct {
		name   string
		config iperf3.Config
		main   string
	}{
		{"forward", iperf3.Config{Duration: time.Second}, measure.Forward},
		{"reverse", iperf3.Config{Duration: time.Second, Reverse: true}, measure.Reverse},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Throughput{Target: "127.0.0.1", Port: serve(t), Config: c.config}
			r, err := p.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []measure.Metric{measure.Throughput, measure.SentRate, measure.Retransmits, measure.RetransmittedBytes,
				measure.RwndLimitedRatio, measure.SndbufLimitedRatio, measure.CwndMax, measure.CPUSender, measure.CPUReceiver} {
				if v, ok := r.Get(m); !ok || v < 0 {
					t.Errorf("%s: %v %v", m, v, ok)
				}
			}
			ends := map[string]int{}
			for _, s := range r.Samples.TCPInfo {
				if s.Direction != c.main {
					t.Fatalf("a sample of direction %q", s.Direction)
				}
				ends[s.End]++
			}
			if ends[measure.Sender] < 10 || ends[measure.Receiver] < 10 {
				t.Errorf("samples by end: %v; want one each 50 ms of both", ends)
			}
			if r.Samples.Find(c.main, measure.Sender) == nil || r.Samples.Find(c.main, measure.Receiver) == nil {
				t.Errorf("ends: %+v", r.Samples.Ends)
			}
			if r.Parameters["payload"] != "discarded by the receiver's kernel" {
				t.Errorf("payload: %v", r.Parameters["payload"])
			}
			if r.Parameters["peer"] != "pathwise" || len(r.Samples.Intervals) == 0 || r.Status != measure.StatusOK {
				t.Errorf("peer %v, %d intervals, status %s", r.Parameters["peer"], len(r.Samples.Intervals), r.Status)
			}
		})
	}
}

// A Result records what the test was made with, whoever chose it, even of a test that was cut short.
func TestThroughputRecordsDefaults(t *testing.T) {
	port := serve(t)
	common := map[string]any{"port": float64(port), "duration": 10., "interval": 1., "parallel": 1., "reverse": false, "bidir": false,
		"event-loop": false, "nodelay": false, "peer": "pathwise"}
	for proto, more := range map[string]map[string]any{
		iperf3.TCP: {"proto": "tcp", "length": 131072.},
		iperf3.UDP: {"proto": "udp", "length": "some", "rate": 1e6, "offload": false}, // as none was used
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		config := iperf3.Config{Proto: proto, Cookie: strings.Repeat("secret", 6)}
		r, err := (&Throughput{Target: "127.0.0.1", Port: port, Config: config}).Do(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", proto, err)
		}
		want := maps.Clone(common)
		maps.Copy(want, more)
		got := maps.Clone(r.Parameters)
		delete(got, "kernel_memory")
		delete(got, "payload")
		delete(got, loadedBy)
		if length, _ := got["length"].(float64); proto == iperf3.UDP && length > 1000 {
			want["length"] = length // what fits the path's MSS
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", proto, diff)
		}
	}
}

// What a program gives is what is sent, and the test ends with it.
func TestThroughputFromSource(t *testing.T) {
	const size = 300_000
	p := &Throughput{Target: "127.0.0.1", Port: serve(t),
		Config: iperf3.Config{Source: io.LimitReader(strings.NewReader(strings.Repeat("x", 2*size)), size)}}
	r, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Metrics[measure.ReceivedBytes]; got != size {
		t.Errorf("%v bytes came, want %d", got, size)
	}
}

func TestThroughputFaults(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := closed.Addr().(*net.TCPAddr).Port
	closed.Close()
	p := &Throughput{Target: "127.0.0.1", Port: port, Config: iperf3.Config{Duration: time.Second}}
	r, err := p.Do(t.Context())
	if !errors.Is(err, iperf3.ErrRefused) || r.Status != measure.StatusFailed || r.Error == nil {
		t.Errorf("closed port: error %v, Result %+v", err, r)
	}
	for field, p := range map[string]*Throughput{
		"target": {}, "port": {Target: "a", Port: -1}, "window": {Target: "a", Config: iperf3.Config{Window: -1}},
	} {
		r, err := p.Do(t.Context())
		var bad interface{ BadInput() bool }
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), field) || r.Status != measure.StatusFailed {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

// A sample counts as held by the send buffer only when the buffer is full and nothing else is.
func TestFullBufferShare(t *testing.T) {
	held := map[string]float64{"snd_mss_bytes": 1448, "unacked_packets": 80, "snd_cwnd_packets": 300, "snd_wnd_bytes": 1e6,
		"notsent_bytes": 0, "send_queued_bytes": 120_000, "send_buffer_bytes": 131072}
	for _, c := range []struct {
		name   string
		change map[string]float64
		want   float64
	}{
		{"held", nil, 1},
		{"congestion window used up", map[string]float64{"snd_cwnd_packets": 80}, 0},
		{"receive window used up", map[string]float64{"snd_wnd_bytes": 120_000}, 0},
		{"data wait to be sent", map[string]float64{"notsent_bytes": 30_000}, 0},
		{"room in the buffer", map[string]float64{"send_queued_bytes": 50_000}, 0},
		{"buffer not known", map[string]float64{"send_buffer_bytes": 0}, 0},
	} {
		values := map[string]float64{}
		for k, v := range held {
			values[k] = v
		}
		for k, v := range c.change {
			values[k] = v
		}
		samples := []measure.TCPSample{{End: measure.Sender, Direction: measure.Forward, Stream: 1, Values: values}}
		if got := fullBufferShare(samples, 1); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if diff := cmp.Diff(0.0, fullBufferShare(nil, 1)); diff != "" {
		t.Error(diff)
	}
}

// The receiver of marked datagrams tells with which mark each arrived, whichever end it is; of unmarked ones it is not asked.
func TestThroughputMarks(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		listener, err := iperf3.Listen(t.Context(), net.JoinHostPort(address, "0"))
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		port := serveOn(t, &iperf3.Server{}, listener)
		for _, c := range []struct {
			dscp    int
			reverse bool
			want    []measure.Mark
		}{
			{46, false, []measure.Mark{{Direction: measure.Forward, DSCP: 46}}},
			{10, true, []measure.Mark{{Direction: measure.Reverse, DSCP: 10}}},
			{0, false, nil},
		} {
			p := &Throughput{Target: address, Port: port, Config: iperf3.Config{Proto: iperf3.UDP, Duration: 200 * time.Millisecond,
				Rate: 1e6, DSCP: c.dscp, Reverse: c.reverse}}
			r, err := p.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range r.Samples.Marks {
				if got.Packets < 1 {
					t.Errorf("%s: %+v", address, got)
				}
				r.Samples.Marks[i].Packets = 0
			}
			if diff := cmp.Diff(c.want, r.Samples.Marks); diff != "" {
				t.Errorf("%s, DSCP %d (-want +got):\n%s", address, c.dscp, diff)
			}
		}
	}
}
