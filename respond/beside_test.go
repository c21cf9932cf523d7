package respond

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// Tests of a run have packets of STAMP reflected beside them, by TCP and by UDP; one that does not load its path has none.
func TestReflectsBesideTests(t *testing.T) {
	secret := "abcdefghijklmnopqrstuvwxyz0123456789"
	kind, _ := KindOf(measure.ResponderIperf3)
	opened, err := kind.OpenForRun(t.Context(), "127.0.0.1:0", Run{Secret: secret, Tests: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- opened.Serve(ctx) }()
	at := opened.Addr.(*net.TCPAddr)
	for _, c := range []struct {
		parameters map[string]any
		want       any
	}{
		{map[string]any{"rate": "20mbit"}, "stamp"},
		{map[string]any{"rate": "20mbit", "proto": "udp", "length": "1000"}, "stamp"},
		{map[string]any{"rate": "20mbit", "proto": "udp", "length": "1000", "reverse": true}, "stamp"},
		{map[string]any{"rate": "500kbit"}, "tcp_info"},
	} {
		c.parameters["duration"] = "0.6s"
		task := measure.Task{Kind: "throughput", Target: "127.0.0.1", Parameters: c.parameters}
		m, err := probe.New(task, probe.Options{Responder: &measure.Responder{Kind: measure.ResponderIperf3, Port: at.Port, Secret: secret}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.Do(ctx)
		if err != nil || r.Parameters["round_trips_by"] != c.want || r.Metrics[measure.IdleRTT] <= 0 {
			t.Errorf("%v: by %v, %v, %v", c.parameters, r.Parameters["round_trips_by"], err, r.Metrics)
		}
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	again, err := net.ListenPacket("udp", "127.0.0.1:"+strconv.Itoa(at.Port))
	if err != nil {
		t.Fatalf("the port is not free again: %v", err)
	}
	again.Close()
}
