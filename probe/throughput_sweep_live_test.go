package probe

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// A sweep over loopback measures every point, in rounds, and tells of each run; a point that the kernel refuses is told as such.
func TestSweepLoopback(t *testing.T) {
	var lines []string
	p := &Throughput{Target: "127.0.0.1", Port: serve(t), Sweep: Sweep{Over: "streams=1,2 cc=reno,none-such", Within: 1, Budget: 20 * time.Second, Seed: 3},
		Config: iperf3.Config{Duration: 100 * time.Millisecond}, OnRun: func(line string) { lines = append(lines, line) }}
	r, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := r.Samples.Sweep
	if s == nil || len(s.Points) != 4 || len(lines) != len(s.Order) || r.Metrics[measure.Throughput] <= 0 || s.Seed != 3 {
		t.Fatalf("%+v, lines %q", s, lines)
	}
	for _, point := range s.Points {
		if refused := point.Values[1] == "none-such"; refused != (point.N == 0 && point.Failure != "") {
			t.Errorf("%+v", point)
		}
	}
	var text strings.Builder
	throughputText(&text, r)
	if !strings.Contains(text.String(), "streams") || !strings.Contains(text.String(), "failed: ") {
		t.Error(text.String())
	}
}

// Where nobody answers a sweep ends soon, and with an error; when it is ended it keeps what it has.
func TestSweepWithoutPeer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	p := &Throughput{Target: "127.0.0.1", Port: closed.Addr().(*net.TCPAddr).Port, Sweep: Sweep{Over: "streams=1..64"}, Config: iperf3.Config{Duration: time.Second}}
	r, err := p.Do(t.Context())
	if err == nil || r.Status != measure.StatusFailed || len(r.Samples.Sweep.Order) != sweepHopeless || r.Samples.Sweep.Ended != measure.SweepFailed {
		t.Errorf("%v: %+v", err, r)
	}

	ctx, end := context.WithCancel(t.Context())
	p.Port, p.Config.Duration = serve(t), 100*time.Millisecond
	p.OnRun = func(string) { end() }
	r, err = p.Do(ctx)
	if err == nil || r.Samples.Sweep.Ended != measure.SweepBroken || len(r.Samples.Sweep.Order) != 1 || r.Metrics[measure.Throughput] <= 0 {
		t.Errorf("%v: %+v", err, r)
	}
}
