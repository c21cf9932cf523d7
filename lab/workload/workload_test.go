package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// freePort is one that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// anybodys is the congestion control that each user of each kernel may choose; the usual one is for who may set it up.
const anybodys = "reno"

// started plays a role in the background; the returned function waits for its report.
func started[T any](t *testing.T, role string, args ...string) func() T {
	t.Helper()
	if role != "burn" { // which has no connection
		args = append([]string{"-cc", anybodys}, args...)
	}
	done := make(chan error, 1)
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- Run(ctx, role, args, &out) }()
	return func() (report T) {
		t.Helper()
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%s: %v", role, err)
			}
		case <-time.After(5 * time.Second):
			cancel() // a server without an end of its own
			if err := <-done; err != nil {
				t.Fatalf("%s: %v", role, err)
			}
		}
		cancel()
		if err := json.Unmarshal(out.Bytes(), &report); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
			t.Fatalf("%s printed %q: %v", role, out.String(), err)
		}
		return report
	}
}

func played[T any](t *testing.T, role string, args ...string) T {
	t.Helper()
	return started[T](t, role, args...)()
}

// server starts a role that listens, and returns its address once it does.
func server[T any](t *testing.T, role string, args ...string) (address string, report func() T) {
	t.Helper()
	port := freePort(t)
	report = started[T](t, role, append(args, "-port", fmt.Sprint(port))...)
	address = fmt.Sprintf("127.0.0.1:%d", port)
	for range 1000 {
		if listens(port) {
			return address, report
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s does not listen on %s", role, address)
	return "", nil
}

// listens looks in the kernel's table whether a port is open, without calling there: a call would count.
func listens(port int) bool {
	const listening = "0A" // the state, as /proc/net/tcp6 shows it
	table, err := os.ReadFile("/proc/net/tcp6")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(table)) {
		words := strings.Fields(line)
		if len(words) > 3 && strings.HasSuffix(words[1], fmt.Sprintf(":%04X", port)) && words[3] == listening {
			return true
		}
	}
	return false
}

func between[T int | int64 | float64](t *testing.T, what string, v, low, high T) {
	t.Helper()
	if v < low || v > high {
		t.Errorf("%s: %v; want %v to %v", what, v, low, high)
	}
}

func TestSourceAndSink(t *testing.T) {
	address, sink := server[Transfer](t, "sink", "-connections", "2")
	sent := played[Transfer](t, "source", address, "-n", "1MB", "-write", "10000")
	slow := played[Transfer](t, "source", "-rate", "4mbit", address, "-t", "500ms")
	got := sink()
	if sent.Bytes != 1e6 || got.Bytes != sent.Bytes+slow.Bytes || got.Connections != 2 || sent.Error+slow.Error+got.Error != "" {
		t.Errorf("sent %+v and %+v, got %+v", sent, slow, got)
	}
	between(t, "rate", slow.Rate, 3e6, 4.5e6)
	between(t, "time waited", slow.WaitSeconds, 0.3, 0.6)
	if c := slow.Connection; c.Readings < 3 || !c.SACK || c.Last["bytes_acked"] == 0 {
		t.Errorf("connection %+v", c)
	}
}

// A source in bursts sends each when it is due.
func TestBursts(t *testing.T) {
	address, sink := server[Transfer](t, "sink")
	sent := played[Transfer](t, "source", address, "-t", "450ms", "-burst", "10kB", "-every", "100ms")
	sink()
	if sent.Bytes%10000 != 0 {
		t.Errorf("%d bytes; want whole bursts of 10000", sent.Bytes)
	}
	between(t, "bytes", sent.Bytes, 30000, 50000)
}

// A slow sink holds its source to its own rate once buffers are full.
func TestSlowSink(t *testing.T) {
	address, sink := server[Transfer](t, "sink", "-rate", "8mbit", "-rcvbuf", "16K")
	sent := played[Transfer](t, "source", address, "-n", "600kB", "-sndbuf", "16K")
	got := sink()
	between(t, "rate", sent.Rate, 5e6, 9.5e6)
	if got.Bytes != 600e3 || sent.Connection.ReceiveBuffer == 0 || sent.Connection.SendBuffer != 32<<10 {
		t.Errorf("got %+v, connection %+v", got, sent.Connection)
	}
}

func TestTransactions(t *testing.T) {
	address, _ := server[Transactions](t, "reply", "-think", "20ms", "-nodelay")
	turns := played[Transactions](t, "request", address, "-c", "5", "-size", "300", "-answer", "5000", "-nodelay")
	between(t, "median", turns.Median, 0.02, 0.2)
	between(t, "all", turns.Seconds, 0.1, 1)
	if turns.Transactions != 5 || turns.Error != "" || turns.Min > turns.Median || turns.Median > turns.Max {
		t.Errorf("%+v", turns)
	}
	fresh := played[Transactions](t, "request", address, "-c", "2", "-reconnect", "-clients", "3", "-pipeline", "2", "-writes", "2")
	if fresh.Transactions != 6 || fresh.Error != "" {
		t.Errorf("%+v", fresh)
	}
}

// Nagle's algorithm and the delayed acknowledgement meet on loopback as anywhere.
func TestNagle(t *testing.T) {
	address, _ := server[Transactions](t, "reply")
	nagle := played[Transactions](t, "request", address, "-c", "10", "-writes", "2")
	nodelay := played[Transactions](t, "request", address, "-c", "10", "-writes", "2", "-nodelay")
	between(t, "with Nagle's algorithm", nagle.Median, 0.035, 0.3)
	between(t, "without", nodelay.Median, 0, 0.03)
}

func TestRelayHolds(t *testing.T) {
	address, _ := server[Transactions](t, "reply")
	through, _ := server[Transfer](t, "relay", "-to", address, "-hold", "200ms")
	held := played[Transactions](t, "request", through, "-c", "2", "-answer", "3000")
	if held.Transactions != 2 || held.Error != "" {
		t.Errorf("%+v", held)
	}
	between(t, "transaction", held.Min, 0.2, 1)
}

func TestCopy(t *testing.T) {
	address, receiver := server[Transfer](t, "copy", "-receive", "-disk", "16mbit")
	sent := played[Transfer](t, "copy", address, "-n", "500000", "-window", "100000", "-part", "30000")
	got := receiver()
	if sent.Bytes != 500000 || got.Bytes != 500000 || sent.Error+got.Error != "" {
		t.Errorf("sent %+v, got %+v", sent, got)
	}
	between(t, "rate", sent.Rate, 8e6, 17.5e6)
	between(t, "disk", got.WaitSeconds, 0.1, 0.5)
}

func TestBurn(t *testing.T) {
	burnt := played[Burnt](t, "burn", "-t", "200ms", "-threads", "2")
	between(t, "seconds", burnt.Seconds, 0.2, 1)
	between(t, "processor", burnt.CPU, 0.02, 2)
}

func TestBadCalls(t *testing.T) {
	for call, want := range map[string]string{
		"juggle":                         "want a role: source, sink",
		"source":                         "0 arguments []; want 1: HOST:PORT",
		"source a b":                     "2 arguments",
		"source a -rate fast":            "want a positive rate",
		"source a -write 0":              "write: 0: want",
		"sink -read 0":                   "read: 0: want",
		"sink extra":                     "1 arguments",
		"respond extra":                  "1 arguments",
		"request a -size 4":              "sizes 4 and 100: want 8",
		"request a -writes 0":            "want 1 or more",
		"copy -receive extra":            "1 arguments",
		"copy a -block 0":                "want 1 to 1048576",
		"copy a -window 64K -part 128K":  "copy: part: 131072: want no more than the window",
		"relay":                          "relay: to: missing",
		"burn -threads 0":                "threads: want 1",
		"source 127.0.0.1:1 -colour red": "flag provided but not defined",
	} {
		words := strings.Fields(call)
		err := Run(t.Context(), words[0], words[1:], &bytes.Buffer{})
		var bad interface{ BadInput() bool }
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want %q in it, marked as bad input", call, err, want)
		}
	}
	if !slices.ContainsFunc(Roles(), func(r Role) bool { return r.Name == "burn" }) {
		t.Error("no burn among the roles")
	}
}

// A client that gets no connection at all has not measured anything; one that loses it tells what it saw by then.
func TestNoConnection(t *testing.T) {
	nobody := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	for _, call := range []string{"source " + nobody, "copy " + nobody, "request " + nobody, "request -clients 3 -c 2 " + nobody} {
		words := strings.Fields(call)
		var out bytes.Buffer
		err := Run(t.Context(), words[0], words[1:], &out)
		if err == nil || !strings.Contains(err.Error(), "connect to "+nobody) || out.Len() > 0 {
			t.Errorf("%s: error %v, printed %q; want an error and no report", call, err, out.String())
		}
	}
	address, _ := server[Transactions](t, "reply", "-connections", "1")
	turns := played[Transactions](t, "request", address, "-c", "2", "-reconnect", "-timeout", "500ms")
	if turns.Transactions != 1 || turns.Error == "" {
		t.Errorf("%+v; want one transaction, and what ended them", turns)
	}
}

// A role that is told to end says what it has done so far.
func TestEndsWithContext(t *testing.T) {
	address, _ := server[Transfer](t, "sink")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	if err := Run(ctx, "source", []string{address, "-cc", anybodys, "-t", "1h", "-rate", "1mbit"}, &out); err != nil {
		t.Fatal(err)
	}
	var sent Transfer
	if err := json.Unmarshal(out.Bytes(), &sent); err != nil || sent.Bytes == 0 || sent.Seconds > 5 {
		t.Errorf("%+v, %v", sent, err)
	}
}

// A wait for a disk is in the state of such waits, and lasts as long as it is to, or little longer.
func TestStall(t *testing.T) {
	const lasts = 300 * time.Millisecond
	took := make(chan time.Duration)
	go func() { took <- stall(t.Context(), lasts) }()
	seen := 0
	for {
		select {
		case took := <-took:
			if seen == 0 || took < lasts || took > lasts+time.Second {
				t.Errorf("waited for %v; %d looks found a thread that nothing interrupts", took, seen)
			}
			return
		case <-time.After(5 * time.Millisecond):
		}
		threads, err := filepath.Glob("/proc/self/task/*/stat")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range threads {
			if stat, err := os.ReadFile(path); err == nil && strings.Contains(string(stat), ") D ") {
				seen++
			}
		}
	}
}
