package probe

import (
	"context"
	"math"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// Round trips that straddle the first data, or are of slow start or of the time after the last data, are of neither sort.
func TestSplitTrips(t *testing.T) {
	idle, loaded := splitTrips([]timedTrip{{-0.2, 0.1}, {-0.1, 0.1}, {-0.05, 0.1}, {0.1, 0.2}, {3.9, 0.3}, {4, 0.4}, {10, 0.5}, {10.1, 0.6}}, 10)
	if diff := cmp.Diff([2][]float64{{0.1, 0.1}, {0.4, 0.5}}, [2][]float64{idle, loaded}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadMetrics(t *testing.T) {
	for name, c := range map[string]struct {
		idle, loaded []float64
		want         map[measure.Metric]float64
	}{
		"a queue": {[]float64{0.02, 0.03}, []float64{0.06, 0.04, 0.06, 0.06, 0.1}, map[measure.Metric]float64{measure.IdleRTT: 0.02, measure.LoadedRTTMedian: 0.06,
			measure.LoadedRTTP95: 0.1, measure.BufferDelay: 0.04, measure.BufferDelayRatio: 2, measure.RoundTripsPerMinute: 1000}},
		"faster under load": {[]float64{0.02}, []float64{0.01, 0.01, 0.01, 0.01, 0.01}, map[measure.Metric]float64{measure.IdleRTT: 0.02,
			measure.LoadedRTTMedian: 0.01, measure.LoadedRTTP95: 0.01, measure.BufferDelay: 0, measure.BufferDelayRatio: 0, measure.RoundTripsPerMinute: 6000}},
		"too few":         {[]float64{0.02}, []float64{0.01, 0.01, 0.01, 0.01}, nil},
		"nothing to hold": {nil, []float64{1, 1, 1, 1, 1}, nil},
	} {
		if diff := cmp.Diff(c.want, loadMetrics(c.idle, c.loaded), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Where the far end reflects STAMP packets a transfer has round trips by them, also one of datagrams; else by its own packets, of which datagrams have none.
func TestThroughputRoundTrips(t *testing.T) {
	socket, err := stamp.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- (&stamp.Reflector{}).Serve(ctx, socket) }()
	t.Cleanup(func() { cancel(); <-ended })
	reflects := socket.Addr().(*net.UDPAddr).Port
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := closed.LocalAddr().(*net.UDPAddr).Port
	closed.Close()
	second := iperf3.Config{Duration: time.Second}
	datagrams := iperf3.Config{Duration: time.Second, Proto: iperf3.UDP, Rate: 1e6}
	few := iperf3.Config{Duration: 200 * time.Millisecond, Proto: iperf3.UDP, Rate: 1e6}
	for _, c := range []struct {
		name string
		p    Throughput
		want any
	}{
		{"reflected", Throughput{Config: second, reflector: reflects}, bySTAMP},
		{"nobody reflects", Throughput{Config: second, reflector: silent}, byTransfer},
		{"in a mesh", Throughput{Config: second, reflector: reflects, alone: true}, byTransfer},
		{"datagrams, reflected", Throughput{Config: datagrams, reflector: reflects}, bySTAMP},
		{"datagrams, nobody reflects", Throughput{Config: datagrams, reflector: silent}, nil},
		{"datagrams, of a path whose round trips are known", Throughput{Config: few, reflector: reflects, tripsKnown: true}, nil},
	} {
		c.p.Target, c.p.Port = "127.0.0.1", serve(t)
		r, err := c.p.Do(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := r.Parameters[loadedBy]; got != c.want {
			t.Errorf("%s: round trips by %v, want %v", c.name, got, c.want)
		}
		if _, told := r.Get(measure.LoadedRTTMedian); told != (c.want != nil) {
			t.Errorf("%s: metrics %v", c.name, r.Metrics)
		}
	}
}

// The ideal is of the path's rate less the headers of IP and TCP, as in RFC 6349 section 4.2.1.
func TestTransferTimeRatio(t *testing.T) {
	for name, c := range map[string]struct {
		rate, got float64
		mss       int
		target    string
		want      float64 // 0: none
	}{
		"as fast as it goes":      {20e6, 20e6 * 1448 / 1500, 1448, "192.0.2.1", 1},
		"over IPv6":               {20e6, 10e6 * 1428 / 1500, 1428, "2001:db8::1", 2},
		"half as fast":            {20e6, 10e6 * 1448 / 1500, 1448, "::ffff:192.0.2.1", 2},
		"of a rate not known":     {0, 10e6, 1448, "192.0.2.1", 0},
		"of segments not known":   {20e6, 10e6, 0, "192.0.2.1", 0},
		"of what nothing came of": {20e6, 0, 1448, "192.0.2.1", 0},
	} {
		r := &measure.Result{Target: measure.Endpoint{Address: c.target}, Metrics: map[measure.Metric]float64{measure.Throughput: c.got}}
		fillTransferTime(r, c.rate, c.mss)
		if got := r.Metrics[measure.TransferTimeRatio]; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
