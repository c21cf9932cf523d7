package iperf3

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

func needIperf3(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed")
	}
	return path
}

// stockServer starts iperf3 -s and returns its address once it says that it listens.
func stockServer(t *testing.T, more ...string) (addr string, kill func()) {
	t.Helper()
	addr, process := startStock(t, more...)
	return addr, func() { _ = process.Kill() }
}

func startStock(t *testing.T, more ...string) (addr string, process *os.Process) {
	t.Helper()
	path := needIperf3(t)
	_, port, err := net.SplitHostPort(closedPort(t))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"-s", "-B", "127.0.0.1", "-p", port, "--forceflush"}, more...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "Server listening") {
			go func() { // ends with the process
				for lines.Scan() {
				}
			}()
			return "127.0.0.1:" + port, cmd.Process
		}
	}
	t.Fatal("iperf3 -s did not start")
	return "", nil
}

// retry does a test that must succeed once the server is ready: a stock one closes its socket between tests.
func retry(t *testing.T, addr string, c Config) (r *Report) {
	t.Helper()
	eventually(t, func() (err error) {
		r, err = (&Client{Addr: addr, Config: c}).Run(context.Background())
		return starting(err)
	})
	return r
}

// How far the counts of both ends may be apart, in tests of a second.
const (
	// A stock end stops reading when the test is over. What it leaves unread, which counts as sent, is of the 20 ms for which a busy
	// machine keeps it from the processor: a few turns of the scheduler, of 3 to 4 ms each.
	leftUnread = 0.02
	// Each end begins to count when its own omitted second is over, and datagrams are lost where a buffer is full for that time: 10 ms
	// more.
	countedApart = 0.03
)

func TestStockServer(t *testing.T) {
	addr, _ := stockServer(t)
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			r := retry(t, addr, c)
			within := leftUnread
			if c.Omit > 0 || c.Proto == UDP {
				within = countedApart
			}
			agree(t, r, directions(c), within)
			checkRate(t, r, c)
			if r.Peer != nil || r.PeerExtra != nil {
				t.Errorf("a stock server passed for Pathwise: %v, %+v", r.Peer, r.PeerExtra)
			}
			if c.Proto != UDP && c.Congestion != "" && (r.Congestion != c.Congestion || r.RemoteCongestion != c.Congestion) {
				t.Errorf("congestion control %q and %q, want %q", r.Congestion, r.RemoteCongestion, c.Congestion)
			}
			if r.RemoteCPU == nil {
				t.Error("no CPU figures from the server")
			}
		})
	}
	// What the server has not read when it is told that all is sent it never counts. That is what its receive buffer holds at
	// most, of which Linux gives twice what is asked for.
	t.Run("bytes", func(t *testing.T) {
		const size, window = 20_000_001, 64 << 10
		sum := retry(t, addr, Config{Bytes: size, Window: window}).Total(Forward)
		if unread := sum.SentBytes - sum.ReceivedBytes; sum.SentBytes != size || unread < 0 || unread > 2*window {
			t.Errorf("sent %d, received %d, want %d, of which the server may leave %d unread", sum.SentBytes, sum.ReceivedBytes, size, 2*window)
		}
	})
	t.Run("bytes reverse", func(t *testing.T) {
		r := retry(t, addr, Config{Bytes: 20_000_000, Reverse: true})
		agree(t, r, []string{Reverse}, 0)
		if sum := r.Total(Reverse); sum.ReceivedBytes < 20_000_000 {
			t.Errorf("received %d, want 20000000 at least", sum.ReceivedBytes)
		}
	})
	t.Run("train", func(t *testing.T) {
		r := retry(t, addr, Config{Proto: UDP, Train: &Train{Packets: 20, Size: 1200, Trains: 2, Gap: 0.05}})
		if sum := r.Total(Forward); sum.Packets != 40 || r.Arrivals != nil {
			t.Errorf("%d packets, %d arrivals; want 40 and none", sum.Packets, len(r.Arrivals))
		}
	})
	t.Run("busy", func(t *testing.T) {
		release := occupy(t, addr)
		defer release()
		if _, err := (&Client{Addr: addr}).Run(context.Background()); !errors.Is(err, ErrBusy) {
			t.Errorf("error is %v, want ErrBusy", err)
		}
	})
}

func TestStockServerDies(t *testing.T) {
	addr, kill := stockServer(t)
	c := Config{Duration: time.Minute, Interval: 50 * time.Millisecond, OnInterval: func(r IntervalReport) {
		if r.Bytes > 0 {
			kill()
		}
	}}
	r, err := (&Client{Addr: addr, Config: c}).Run(context.Background())
	if !errors.Is(err, ErrPeerLost) {
		t.Errorf("error is %v, want ErrPeerLost", err)
	}
	if len(r.Streams) != 1 || r.Streams[0].Sent == nil || r.Streams[0].Sent.Bytes == 0 || len(r.Intervals) == 0 {
		t.Errorf("the report lacks what was measured before: %+v", r)
	}
}

// stockReport is the part of iperf3 -J that is looked at.
type stockReport struct {
	Error        string `json:"error"`
	ServerOutput string `json:"server_output_text"`
	End          struct {
		Sent        stockSum `json:"sum_sent"`
		Received    stockSum `json:"sum_received"`
		SentBack    stockSum `json:"sum_sent_bidir_reverse"`
		ReceivedBck stockSum `json:"sum_received_bidir_reverse"`
	} `json:"end"`
}

type stockSum struct {
	Bytes         float64 `json:"bytes"`
	Seconds       float64 `json:"seconds"`
	BitsPerSecond float64 `json:"bits_per_second"`
	Lost          float64 `json:"lost_packets"`
}

func stockClient(t *testing.T, addr string, args ...string) (stockReport, int) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, needIperf3(t), append([]string{"-J", "-c", host, "-p", port}, args...)...)
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var r stockReport
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("iperf3 %v printed %q, %q", args, out, errOut.String())
	}
	return r, cmd.ProcessState.ExitCode()
}

func TestStockClient(t *testing.T) {
	addr := serve(t, Policy{})
	for _, args := range []string{
		"-t 1 -b 200M", "-t 1 -b 200M -R", "-t 1 -b 50M -P 4", "-t 1 -b 50M -P 4 -R", "-t 1 -b 100M --bidir", "-n 20M", "-n 20M -R",
		"-k 100", "-t 1 -O 1 -b 100M", "-t 1 -i 0.2 -b 50M -C reno -w 100K -l 20K -M 1000 -S 32 -N", "-t 1 -w 100K -R -b 50M",
		"-u -t 1 -b 20M", "-u -t 1 -b 20M -R -P 2", "-u -t 1 -b 20M --bidir", "-u -t 1 -b 20M --udp-counters-64bit",
		"-t 1", "-t 1 -R", "-t 1 -P 4",
	} {
		t.Run(args, func(t *testing.T) {
			list := strings.Fields(args)
			r, status := stockClient(t, addr, list...)
			if r.Error != "" || status != 0 {
				t.Fatalf("status %d, error %q", status, r.Error)
			}
			within := leftUnread
			if strings.Contains(args, "-u") || strings.Contains(args, "-O") {
				within = countedApart
			}
			closeTo(t, "forward", r.End.Sent, r.End.Received, within)
			if strings.Contains(args, "bidir") {
				closeTo(t, "reverse", r.End.SentBack, r.End.ReceivedBck, within)
			}
			if i := strings.Index(args, "-b "); i >= 0 && !strings.Contains(args, "-n") {
				rate, _ := strconv.ParseFloat(strings.TrimSuffix(strings.Fields(args[i+3:])[0], "M"), 64)
				streams := 1.0
				if i := strings.Index(args, "-P "); i >= 0 {
					streams, _ = strconv.ParseFloat(args[i+3:i+4], 64)
				}
				if want := rate * 1e6 * streams; r.End.Received.BitsPerSecond < 0.85*want || r.End.Received.BitsPerSecond > 1.15*want {
					t.Errorf("%.4g bit/s, want %.4g", r.End.Received.BitsPerSecond, want)
				}
			}
		})
	}
}

func closeTo(t *testing.T, direction string, sent, received stockSum, within float64) {
	t.Helper()
	if sent.Bytes == 0 || received.Bytes == 0 {
		t.Errorf("%s: sent %.0f, received %.0f", direction, sent.Bytes, received.Bytes)
		return
	}
	if off := received.Bytes/sent.Bytes - 1; off > within || off < -within {
		t.Errorf("%s: sent %.0f, received %.0f: %.3f %% apart", direction, sent.Bytes, received.Bytes, off*100)
	}
}

func TestStockClientRefused(t *testing.T) {
	addr := serve(t, Policy{MaxDuration: 5 * time.Second})
	for args, want := range map[string]string{
		"-t 10": "duration too long", "--sctp": "protocol does not exist",
	} {
		if r, _ := stockClient(t, addr, strings.Fields(args)...); !strings.Contains(r.Error, want) {
			t.Errorf("iperf3 %s says %q, want %q", args, r.Error, want)
		}
	}
	if r, _ := stockClient(t, serve(t, Policy{}), "-t", "1", "-b", "1M"); r.Error != "" {
		t.Errorf("iperf3 after refusals elsewhere says %q", r.Error)
	}
}
