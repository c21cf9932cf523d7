package agent

import (
	"encoding/binary"
	"net"
	"slices"
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

// Runs of a continuous tool follow each other without a gap, on real packets. A machine that does much else holds packets back in the middle of runs,
// which leaves some out: then three more are measured.
func TestAgentContinuous(t *testing.T) {
	port := copying(t)
	const tries, interval = 5, 0.02
	for try := 1; ; try++ {
		left, seams := continuousRuns(t, port)
		var within []float64 // runs: times between packets
		for i := 1; i < len(left); i++ {
			if !slices.Contains(seams, i) {
				within = append(within, left[i]-left[i-1])
			}
		}
		if slices.Sort(within); len(within) == 0 || within[len(within)/2] > 2*interval { // most of them: it is not the machine
			t.Fatalf("%d packets, most of them not each %v s", len(left), interval)
		}
		longest := within[len(within)-1]
		for i := 1; i < len(left); i++ {
			least := 0.0
			if slices.Contains(seams, i) { // the last packet of the run before may be late, and each run sends for itself
				least = -10 * interval
			}
			if gap := left[i] - left[i-1]; gap <= least || longest <= 10*interval && gap > 10*interval {
				t.Errorf("%v s between packets %d and %d", gap, i-1, i)
			}
		}
		if len(left) > 150 {
			t.Errorf("%d packets, want 150 at the most", len(left))
		}
		if t.Failed() || longest <= 10*interval && len(left) >= 140 {
			return
		}
		t.Logf("once more: %d packets of 150, up to %.2f s between two of a run", len(left), longest)
		if try == tries {
			t.Skipf("this machine held packets back in each of %d tries", tries)
		}
	}
}

// continuousRuns has an agent do three runs, one after another, and returns when their packets left, in seconds, and which of them are the first of a run.
func continuousRuns(t *testing.T, port int) (left []float64, seams []int) {
	t.Helper()
	a := run(t, Config{Dir: t.TempDir()})
	const every = time.Second
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
	for n := range runs {
		r := a.link.result(n + 1)
		if r == nil || r.Status != measure.StatusOK {
			t.Fatalf("run %d: %+v", n+1, r)
		}
		if r.DurationSeconds != every.Seconds() {
			t.Errorf("run %d is of %v s", n+1, r.DurationSeconds)
		}
		seams = append(seams, len(left))
		for _, e := range r.Samples.Echoes {
			left = append(left, r.Started.Sub(from).Seconds()+e.SentSeconds)
		}
	}
	return left, seams
}
