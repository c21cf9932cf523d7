package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// pingLab starts a lab of bob and carol, whose path goes over a link of its own.
func pingLab(t *testing.T, link string) *lab.Lab {
	t.Helper()
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte("seed: 16\nhosts: {bob: {}, carol: {}}\nrouters: [r]\nlinks:\n"+
		"  - {between: [bob, r], "+link+"}\n  - {between: [r, carol], rate: 1gbit}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return startLab(t, spec)
}

// startLab starts a lab that ends with the test.
func startLab(t *testing.T, spec *lab.Spec) *lab.Lab {
	t.Helper()
	l, err := lab.Start(t.Context(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// pinged runs ping on bob, and returns its Result.
func pinged(t *testing.T, l *lab.Lab, arguments ...string) measure.Result {
	t.Helper()
	var out bytes.Buffer
	onHost(t, l, "bob", &out, append([]string{lab.Self(), "ping", "carol", "--json"}, arguments...)...)
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	return r
}

// Datagrams to a reflector take what the path takes; those to a port on which nobody listens come back as the kernel of the far end limits that,
// and the Result says that it is no loss of the path.
func TestPingDatagramsInLab(t *testing.T) {
	l := pingLab(t, "rate: 1gbit, delay: 10ms")
	readyOnCarol(t, l, otherReflector())
	r := pinged(t, l, "--proto", "stamp", "-c", "100", "-i", "2ms", "-W", "1")
	if rtt := r.Metrics[measure.RTTMin]; r.Metrics[measure.LostPackets] != 0 || rtt < 0.020 || rtt > 0.0215 {
		t.Errorf("%v lost, least round trip %v s; want 0, 20 ms", r.Metrics[measure.LostPackets], rtt)
	}
	r = pinged(t, l, "--proto", "udp", "-c", "40", "-i", "5ms", "-W", "0.2")
	notes := strings.Join(r.Notes, "\n")
	if lost := r.Metrics[measure.LostPackets]; lost < 20 || lost == 40 || !strings.Contains(notes, "limit how often") {
		t.Errorf("%v lost of 40; notes %q", lost, notes)
	}
}
