package lab

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/sock"
)

const adapterReaderVariable = "PATHWISE_TEST_ADAPTERS"

// TestAdapterReader prints, on a lab's host, what its adapters counted.
func TestAdapterReader(t *testing.T) {
	if os.Getenv(adapterReaderVariable) == "" {
		t.Skip("runs only as a child of TestAdaptersOnHosts")
	}
	text, err := os.ReadFile(os.Getenv(sock.AdapterVariable))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("adapters %s\n", text)
	if address, err := netip.ParseAddr(os.Getenv(adapterReaderVariable)); err == nil {
		fmt.Printf("pauses %d\n", sock.ReadCounts(address)["link.rx_pause"])
	}
}

// adaptersOn is what a host's own process reads in the engine's file, and what a transfer from an address of it finds there of pause frames that came.
func adaptersOn(t *testing.T, l *Lab, host, address string) (counted map[string]link.Adapter, pauses uint64) {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	out, status := runEnv(t, l, host, append(os.Environ(), adapterReaderVariable+"="+address), self, "-test.run", "^TestAdapterReader$")
	_, rest, found := strings.Cut(out, "adapters ")
	line, rest, _ := strings.Cut(rest, "\n")
	var all adapters
	if status != 0 || !found || json.Unmarshal([]byte(line), &all) != nil {
		t.Fatalf("on %s: exit status %d:\n%s", host, status, out)
	}
	if _, err := fmt.Sscanf(rest, "pauses %d", &pauses); err != nil {
		t.Fatalf("on %s: %v:\n%s", host, err, out)
	}
	return all[host], pauses
}

// Each host reads of its own adapters what the truth says of them, and nothing where a link is full duplex.
func TestAdaptersOnHosts(t *testing.T) {
	l := start(t, `
hosts: {a: {}, b: {}, c: {}}
links:
  - {between: [a, b], rate: 20mbit, duplex: half}
  - {between: [a, c], rate: 20mbit}
`, Options{})
	transfer(t, l, "10.0.0.2:5000")
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	ends := [2]*link.Adapter{truth.Links[0].Adapter, truth.Links[1].Adapter}
	if ends[0] == nil || ends[1] == nil || ends[0].Collisions == 0 || ends[1].Collisions == 0 {
		t.Fatalf("by the truth %+v and %+v; want collisions of both", ends[0], ends[1])
	}
	for host, want := range map[string]map[string]link.Adapter{"a": {"eth0": *ends[0]}, "b": {"eth0": *ends[1]}, "c": nil} {
		diff := ""
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
			counted, _ := adaptersOn(t, l, host, "127.0.0.1")
			if diff = cmp.Diff(want, counted); diff == "" {
				break
			}
		}
		if diff != "" {
			t.Errorf("on %s (-want +read):\n%s", host, diff)
		}
	}
}

// Pauses of a link are counted at both of its ends, and a transfer's own reader of counters finds them there.
func TestPausesOnHosts(t *testing.T) {
	l := start(t, `
hosts: {a: {}, b: {}}
links: [{between: [a, b], rate: 20mbit, forward: {pause: {every: 20ms, for: 5ms}}}]
`, Options{})
	transfer(t, l, "10.0.0.2:5000")
	ofA, came := adaptersOn(t, l, "a", "10.0.0.1")
	ofB, _ := adaptersOn(t, l, "b", "10.0.0.2")
	a, b := ofA["eth0"], ofB["eth0"]
	if a.PausesReceived == 0 || a.PausesSent != 0 || b.PausesSent == 0 || b.PausesReceived != 0 {
		t.Errorf("adapters counted %+v and %+v; want pauses that came to a and that b sent", a, b)
	}
	if came < a.PausesReceived { // more may have come since
		t.Errorf("a transfer reads %d, want %d", came, a.PausesReceived)
	}
}

// A host's programs are told how well its clock is kept where the file says so, and those of another host nothing.
func TestClocksOnHosts(t *testing.T) {
	t.Setenv(sock.ClockVariable, "3s") // of a lab around this one
	l := start(t, "hosts: {a: {clock: 100us}, b: {}}\nlinks: [{between: [a, b]}]\n", Options{})
	for host, want := range map[string]string{"a": "100µs", "b": ""} {
		out, status := runEnv(t, l, host, os.Environ(), "sh", "-c", "echo told ${"+sock.ClockVariable+"}.")
		if status != 0 || strings.TrimSpace(out) != "told "+want+"." {
			t.Errorf("on %s: exit status %d: %q, want %q", host, status, out, want)
		}
	}
}
