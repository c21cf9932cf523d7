package probe

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/sock/socktest"
)

// A connection of this process is told with what it moves, whose it is, and what its queues hold, over both families; one to another port
// is not.
func TestSocketsLive(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		t.Run(address, func(t *testing.T) {
			near, far := socktest.Connected(t, address)
			socktest.Connected(t, address)
			ended := make(chan struct{})
			go func() { // until the connection is closed
				defer close(ended)
				for {
					if _, err := near.Write(make([]byte, 1000)); err != nil {
						return
					}
					if _, err := io.ReadFull(far, make([]byte, 999)); err != nil { // the queue grows
						return
					}
				}
			}()
			t.Cleanup(func() { near.Close(); far.Close(); <-ended })
			port := far.LocalAddr().(*net.TCPAddr).Port
			r, err := (&Sockets{Target: address, Port: port, State: "established", Duration: 200 * time.Millisecond, Interval: 20 * time.Millisecond}).Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			byLocal := map[string]measure.Connection{}
			for _, c := range r.Samples.Connections {
				byLocal[c.Local] = c
			}
			c, there := byLocal[near.LocalAddr().String()]
			if len(byLocal) != 2 || !there || c.Remote != far.LocalAddr().String() || c.Process != os.Getpid() || len(c.Readings) < 2 {
				t.Fatalf("connections %+v", byLocal)
			}
			if sent := measure.Rate(c.Readings, "bytes_acked"); sent <= 0 || r.Metrics[measure.SocketsSent] < sent || r.Metrics[measure.Sockets] != 2 {
				t.Errorf("sent at %v bit/s, metrics %v", sent, r.Metrics)
			}
			if unread := measure.Last(byLocal[far.LocalAddr().String()].Readings)["unread_bytes"]; unread == 0 {
				t.Error("nothing is unread")
			}
			if len(r.Samples.Processes) != 1 || r.Samples.Processes[0].ID != os.Getpid() || measure.Last(r.Samples.Processes[0].Readings)["cpu_seconds"] <= 0 {
				t.Errorf("processes %+v", r.Samples.Processes)
			}
		})
	}
}

// The connections that moved most come first and are kept, then those that hold most; a process is listed once.
func TestSocketsKept(t *testing.T) {
	w := socketWatch{Sockets: Sockets{Most: 3}, programs: map[int]*programSeen{7: {Process: measure.Process{ID: 7, Name: "copy"}}}}
	for i, moved := range []float64{0, 100, 0, 5000} {
		s := &socketSeen{Connection: measure.Connection{Local: fmt.Sprintf("10.0.0.1:%d", i), Process: 7}}
		for n := range 2 {
			s.Readings = append(s.Readings, measure.Reading{ElapsedSeconds: float64(n), Values: map[string]float64{"bytes_acked": moved * float64(n),
				"total_retrans_packets": float64(n), "unsent_bytes": float64(10 * i)}})
		}
		w.order = append(w.order, s)
	}
	r := measure.NewResult("sockets", time.Now())
	w.fill(r)
	var order []string
	for _, c := range r.Samples.Connections {
		order = append(order, c.Local)
	}
	if diff := cmp.Diff([]string{"10.0.0.1:3", "10.0.0.1:1", "10.0.0.1:2"}, order); diff != "" || len(r.Notes) != 1 || len(r.Samples.Processes) != 1 {
		t.Errorf("notes %v, processes %v (-want +got):\n%s", r.Notes, r.Samples.Processes, diff)
	}
	want := map[measure.Metric]float64{measure.Sockets: 4, measure.SocketsSent: 40_800, measure.SocketsReceived: 0, measure.SocketsResent: 4}
	if diff := cmp.Diff(want, r.Metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// People read what held a connection: the larger of the shares that the kernel books, or a cap on its rate.
func TestSocketsHeldBy(t *testing.T) {
	for _, c := range []struct {
		last map[string]float64
		want string
	}{
		{map[string]float64{"rwnd_limited_seconds": 0.04}, "-"},
		{map[string]float64{"rwnd_limited_seconds": 0.6, "sndbuf_limited_seconds": 0.2}, "window 60 %"},
		{map[string]float64{"rwnd_limited_seconds": 0.1, "sndbuf_limited_seconds": 0.7}, "send buffer 70 %"},
		{map[string]float64{"max_pacing_rate_bits_per_second": 10e6, "notsent_bytes": 5000}, "pacing 10.0 Mbit/s"},
		{map[string]float64{"max_pacing_rate_bits_per_second": 10e6}, "-"},
	} {
		first := measure.Reading{Values: map[string]float64{"rwnd_limited_seconds": 0, "sndbuf_limited_seconds": 0}}
		connection := measure.Connection{Readings: []measure.Reading{first, {ElapsedSeconds: 1, Values: c.last}}}
		if got := heldBy(&connection); got != c.want {
			t.Errorf("%v: %s, want %s", c.last, got, c.want)
		}
	}
}

// A call that cannot be is refused, and one without a target is of all connections.
func TestSocketsValidate(t *testing.T) {
	for _, p := range []Sockets{{Family: "ipv5"}, {Port: 70_000}, {Most: -1}, {Interval: time.Millisecond}, {Duration: 2 * time.Hour}} {
		if err := p.Validate(); err == nil || !blamesCaller(err) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := (&Sockets{}).Validate(); err != nil {
		t.Error(err)
	}
	same(t, socketsFields(), &Sockets{Port: 5001, State: "close-wait", Duration: 2 * time.Second, Interval: time.Second, Most: 9, Family: sock.IPv6})
}

// Where nothing is open, that is said, and not a table without lines.
func TestSocketsOfNone(t *testing.T) {
	var text strings.Builder
	socketsText(&text, measure.NewResult("sockets", time.Time{}))
	if text.String() != "no such connection\n" {
		t.Errorf("%q", text.String())
	}
}
