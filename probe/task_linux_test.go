package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// Whatever a Task does, it ends soon after ctx, keeps what it has, and says why it ended.
func TestEveryKindEndsWithContext(t *testing.T) {
	needEcho(t, false)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	never := silent.Addr().(*net.TCPAddr).Port
	for name, task := range map[string]measure.Task{
		"ping":                     {Kind: "ping", Parameters: values{"count": 1000, "interval": "1h"}},
		"throughput":               {Kind: "throughput", Parameters: values{"port": serve(t), "duration": "50s", "rate": "1mbit"}},
		"throughput, silent":       {Kind: "throughput", Parameters: values{"port": never}},
		"throughput, udp, reverse": {Kind: "throughput", Parameters: values{"port": serve(t), "duration": "50s", "proto": "udp", "reverse": true}},
		"capacity, silent":         {Kind: "capacity", Parameters: values{"port": never}},
		"command":                  {Kind: "command", Parameters: values{"argv": []string{"sleep", "600"}}},
		"host":                     {Kind: "host", Parameters: values{"interval": "1h"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task.Target = "127.0.0.1"
			p, err := New(task, Options{Allow: anything})
			if err != nil {
				t.Fatal(err)
			}
			const limit = 500 * time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			r, err := p.Do(ctx)
			if took := time.Since(began) - limit; took > 5*time.Second { // well under one on a machine that is not busy
				t.Errorf("ended %v after ctx", took)
			}
			if err == nil || r == nil || r.Error == nil || r.Status == measure.StatusOK || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, Result %+v", err, r)
			}
		})
	}
}

// A target that admits one secret measures for the run that was told it, and for no other; no Result holds the secret.
func TestResponderSecret(t *testing.T) {
	secret := strings.Repeat("0123456789ab", 3)
	admitted, err := iperf3.ParseCookie(secret)
	if err != nil {
		t.Fatal(err)
	}
	port := serveBy(t, &iperf3.Server{Policy: iperf3.Policy{Admit: func(c iperf3.Cookie, _ netip.Addr) bool { return c == admitted }}})
	for _, task := range []measure.Task{
		{Kind: "throughput", Parameters: values{"duration": "100ms", "port": 1}},
		{Kind: "capacity"},
	} {
		task.Target = "127.0.0.1"
		p, err := New(task, Options{Responder: &measure.Responder{Kind: measure.ResponderIperf3, Port: port, Secret: secret}})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := p.Do(t.Context()); !errors.Is(err, errTrainsSlow) && (err != nil || r.Status != measure.StatusOK) { // loopback has no narrow link
			t.Errorf("%s with the secret: %v", task.Kind, err)
		}
	}
	p, err := New(measure.Task{Kind: "throughput", Target: "127.0.0.1", Parameters: values{"port": port}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Do(t.Context()); err == nil || r.Status != measure.StatusFailed {
		t.Errorf("without the secret: status %s", r.Status)
	}
}

// A ping by Poisson sends no echo beyond its bound, however the intervals are drawn.
func TestPingDeadline(t *testing.T) {
	needEcho(t, false)
	const deadline = 100 * time.Millisecond
	r, err := Ping{Target: "127.0.0.1", Count: 10_000, Interval: time.Millisecond, Poisson: true, Deadline: deadline}.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sent := r.Metrics[measure.SentPackets]
	if sent < 2 || sent > 200 || r.Metrics[measure.LossRatio] != 0 { // 100 as a rule, fewer on a machine that is busy
		t.Errorf("%v echoes, loss %v", sent, r.Metrics[measure.LossRatio])
	}
}
