package agent

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// copying is a far end that sends every packet of STAMP back as its answer, with the times that the packet has.
func copying(t *testing.T) (port int) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() { // ends with the socket
		buffer := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			copy(buffer[24:38], buffer[:14])
			copy(buffer[16:24], buffer[4:12])
			binary.BigEndian.PutUint16(buffer[40:], 0)
			_, _ = conn.WriteToUDPAddrPort(buffer[:n], from)
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// Runs of a continuous tool follow each other without a gap, on real packets.
func TestAgentContinuous(t *testing.T) {
	port := copying(t)
	a := run(t, Config{Dir: t.TempDir()})
	const every, interval = time.Second, 0.02
	from := time.Now().Add(claimAhead + tick).Truncate(time.Millisecond)
	var runs []measure.Run
	for n := range 3 {
		r := newRun(n+1, from.Add(time.Duration(n)*every))
		r.Task = measure.Task{Kind: "owd", Target: "127.0.0.1", Parameters: map[string]any{"continuous": true, "every": "1s", "interval": "20ms",
			"timeout": "300ms", "port": float64(port)}}
		runs = append(runs, r)
	}
	a.send(1, runs...)
	deadline := time.Now().Add(time.Minute)
	for a.link.count() < len(runs) && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond) // Results come when they come
	}
	var left []float64 // since from
	for n := range runs {
		r := a.link.result(n + 1)
		if r == nil || r.Status != measure.StatusOK {
			t.Fatalf("run %d: %+v", n+1, r)
		}
		if r.DurationSeconds != every.Seconds() {
			t.Errorf("run %d is of %v s", n+1, r.DurationSeconds)
		}
		for _, e := range r.Samples.Echoes {
			left = append(left, r.Started.Sub(from).Seconds()+e.SentSeconds)
		}
	}
	for i := 1; i < len(left); i++ {
		if gap := left[i] - left[i-1]; gap <= 0 || gap > 10*interval { // a busy machine is late
			t.Errorf("%v s between packets %d and %d", gap, i-1, i)
		}
	}
	if len(left) < 140 || len(left) > 150 {
		t.Errorf("%d packets, want 150 and none but those that a busy machine left out", len(left))
	}
}
