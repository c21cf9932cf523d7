package probe

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/ndt7"
)

// serveNDT7 serves until the test ends.
func serveNDT7(t *testing.T, p ndt7.Policy) (port int) {
	t.Helper()
	l, err := ndt7.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- (&ndt7.Server{Policy: p}).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().(*net.TCPAddr).Port
}

// Both ways give their rates and what the kernels of both ends saw; one way alone is the throughput.
func TestNDT7(t *testing.T) {
	port := serveNDT7(t, ndt7.Policy{Secret: "sesame"})
	for _, c := range []struct {
		direction string
		way       measure.Way
		senders   map[string]int // readings by direction, at least
		metrics   []measure.Metric
	}{
		{"", measure.Both, map[string]int{measure.Forward: 4, measure.Reverse: 2}, []measure.Metric{measure.Throughput, measure.ReverseThroughput,
			measure.ReceivedBytes, measure.ReverseReceivedBytes, measure.Retransmits, measure.RetransmittedBytes, measure.RTTMin, measure.CwndMax,
			measure.RwndLimitedRatio, measure.SndbufLimitedRatio}},
		{measure.Reverse, measure.Reverse, map[string]int{measure.Forward: 0, measure.Reverse: 2}, []measure.Metric{measure.Throughput, measure.ReceivedBytes,
			measure.RetransmittedBytes, measure.RTTMin, measure.RwndLimitedRatio, measure.SndbufLimitedRatio}},
	} {
		p := NDT7{Target: "127.0.0.1", Port: port, Direction: c.direction, Duration: 500 * time.Millisecond, Congestion: "reno", Secret: "sesame"}
		var told []measure.Interval
		p.OnInterval = func(i measure.Interval) { told = append(told, i) }
		r, err := p.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Way != c.way || r.Target.Address != "127.0.0.1" || !cmp.Equal(told, r.Samples.Intervals) || len(r.Notes) > 0 {
			t.Errorf("%q: way %q to %q, told of %d intervals, has %d; notes %q", c.direction, r.Way, r.Target.Address, len(told), len(r.Samples.Intervals), r.Notes)
		}
		for _, m := range c.metrics {
			if _, has := r.Get(m); !has {
				t.Errorf("%q: no %s", c.direction, m)
			}
		}
		for direction, least := range c.senders {
			if got := len(r.Samples.Readings(direction, measure.Sender)); got < least || least == 0 && got > 0 {
				t.Errorf("%q: %d readings of the sender %s, want %d", c.direction, got, direction, least)
			}
		}
		var text strings.Builder
		WriteText(&text, r)
		if lines := strings.Count(text.String(), "bit/s"); lines != len(p.tests()) || !strings.Contains(text.String(), "least round trip") {
			t.Errorf("%q:\n%s", c.direction, text.String())
		}
		if secret := "sesame"; strings.Contains(strings.Join(append(r.Notes, text.String()), ""), secret) || r.Parameters["secret"] != nil {
			t.Errorf("the secret is in the Result: %v", r.Parameters)
		}
	}
}

// What cannot be is refused before anything is sent, and what the server refuses is told with its name.
func TestNDT7Refused(t *testing.T) {
	for _, p := range []NDT7{{Target: ""}, {Target: "x", Duration: 11 * time.Second}, {Target: "x", Duration: time.Millisecond}, {Target: "x", Port: -1}} {
		if err := p.Validate(); err == nil {
			t.Errorf("%+v is let through", p)
		}
	}
	port := serveNDT7(t, ndt7.Policy{Longest: time.Second})
	p := NDT7{Target: "127.0.0.1", Port: port, Duration: 2 * time.Second}
	if _, err := p.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "at most 1s here") || !strings.Contains(err.Error(), "127.0.0.1 port") {
		t.Errorf("too long a test: %v", err)
	}
}

// What a sender's kernel said comes to shares of its time and to sentences.
func TestNDT7Text(t *testing.T) {
	reading := func(direction, end string, values map[string]float64) measure.TCPSample {
		return measure.TCPSample{End: end, Direction: direction, Stream: 1, ElapsedSeconds: 10, Values: values}
	}
	r := newResult("ndt7", "carol")
	r.Way = measure.Both
	r.Metrics[measure.Throughput], r.Metrics[measure.ReverseThroughput] = 20e6, 94.1e6
	r.Samples.TCPInfo = []measure.TCPSample{
		reading(measure.Reverse, measure.Sender, map[string]float64{"rtt_seconds": 0.05, "min_rtt_seconds": 0.02, "bytes_sent": 1e8, "bytes_retrans": 1e6, "rwnd_limited_seconds": 6}),
		reading(measure.Forward, measure.Sender, map[string]float64{"rtt_seconds": 0.3, "min_rtt_seconds": 0.021, "bytes_sent": 1e7, "bytes_retrans": 0, "total_retrans_packets": 3,
			"snd_cwnd_packets": 10, "snd_mss_bytes": 1448, "sndbuf_limited_seconds": 1}),
	}
	addSenderTCP(r, measure.Forward)
	addTrips(r)
	want := map[measure.Metric]float64{measure.Throughput: 20e6, measure.ReverseThroughput: 94.1e6, measure.Retransmits: 3, measure.RetransmittedBytes: 0,
		measure.SndbufLimitedRatio: 0.1, measure.CwndMax: 14480, measure.RTTMin: 0.02}
	if diff := cmp.Diff(want, r.Metrics); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var text strings.Builder
	ndt7Text(&text, r)
	const said = `from the target        94.1 Mbit/s, round trip under load 50.0 ms, 1.0 % resent, held by the receive window for 60.0 %
to the target          20.0 Mbit/s, round trip under load 300 ms, 0.0 % resent
least round trip       20.0 ms
`
	if diff := cmp.Diff(said, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Another address at the server than here is told once, whatever the way; an address that cannot be read, or is the same, is not.
func TestNDT7Translation(t *testing.T) {
	report := func(client string) *ndt7.Report {
		return &ndt7.Report{Test: ndt7.Upload, Local: netip.MustParseAddrPort("192.0.2.1:1000"),
			Told: []ndt7.Measurement{{}, {ConnectionInfo: &ndt7.ConnectionInfo{Client: client}}}}
	}
	r := newResult("ndt7", "carol")
	for _, client := range []string{"192.0.2.1:1000", "[::ffff:192.0.2.1]:7", "", "x", "198.51.100.7:1", "198.51.100.7:2"} {
		addTranslation(r, report(client))
	}
	if diff := cmp.Diff([]string{"addresses are translated on the way (NAT): the target saw 198.51.100.7 where this host has 192.0.2.1"}, r.Notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
