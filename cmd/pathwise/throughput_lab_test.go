package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// A search for the highest rate of datagrams that passes ends just below what the link carries, also where a queue takes in what is too much for longer than a
// trial lasts.
func TestThroughputSearch(t *testing.T) {
	carrying(t)
	for name, link := range map[string]string{"short queue": "queue: 20p", "long queue": "queue: 2000p"} {
		t.Run(name, func(t *testing.T) { searchOver(t, link) })
	}
}

// searchOver makes a search over a link of 20 Mbit/s.
func searchOver(t *testing.T, link string) {
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 20mbit, overhead: none, delay: 5ms, "+link+"}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	var out bytes.Buffer
	onHost(t, l, "bob", &out, lab.Self(), "throughput", "carol", "--json", "--proto", "udp", "--search", "-t", "0.3", "-l", "1000")
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	const carries = 20e6 // bit/s of IP packets
	most := carries * 1000 / 1028
	failed := 0
	for _, one := range r.Samples.Trials {
		if one.Failure != "" {
			failed++
		}
	}
	if got := r.Metrics[measure.Throughput]; got < 0.85*most || got > 1.03*most || failed == 0 || r.Metrics[measure.LossRatio] > 0.01 {
		t.Errorf("%.3g bit/s of %.3g, trials %+v", got, most, r.Samples.Trials)
	}
}

// A search by RFC 9097 finds what the link carries, in either direction, behind a queue of 20 packets and with a loss that is none of congestion.
func TestThroughputCapacitySearch(t *testing.T) {
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 100mbit, overhead: none, delay: 10ms, queue: 20p, loss: 0.1%}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	for _, direction := range []string{"--reverse=false", "--reverse"} {
		var out bytes.Buffer
		onHost(t, l, "bob", &out, lab.Self(), "throughput", "carol", "--json", "--search=rfc9097", "-t", "4", direction)
		var r measure.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		const carries = 100e6 // bit/s of IP packets, of which 0.1 % are lost
		got, s := r.Metrics[measure.MaxIPCapacity], r.Samples.Search
		if got < 0.95*carries || got > 1.002*carries || s == nil || len(s.SubIntervals) < 3 || r.Metrics[measure.LossRatio] > 0.1 {
			t.Errorf("%s: %.4g bit/s, %+v", direction, got, s)
		}
		if goodput := r.Metrics[measure.Throughput]; goodput >= got || goodput < 0.97*got {
			t.Errorf("%s: %.4g bit/s of payload in %.4g of packets", direction, goodput, got)
		}
	}
}

// Each receiver of a multicast group tells the loss of its own branch, over either version of IP; where routers are not to forward it, nothing comes.
func TestThroughputToGroup(t *testing.T) {
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(`hosts: {bob: {}, carol: {}, dave: {}}
routers: [r]
groups: {239.255.86.4: [carol, dave], "ff15::5864": [carol, dave]}
links:
  - {between: [bob, r]}
  - {between: [r, carol], delay: 2ms}
  - {between: [r, dave], delay: 5ms, forward: {loss: {every: 20}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	respond := lab.Command{Argv: []string{lab.Self(), "respond", "--multicast"}, Env: append(os.Environ(), actAsPathwise+"=1")}
	readyOnCarol(t, l, respond)
	readyOn(t, l, "dave", respond)
	for group, ttl := range map[string]string{"239.255.86.4": "2", "ff15::5864": "2", "239.255.86.4 ": "1"} {
		var out bytes.Buffer
		onHost(t, l, "bob", &out, lab.Self(), "throughput", "carol", "--json", "--group", strings.TrimSpace(group), "--receivers", "dave", "--ttl", ttl, "--rate", "8mbit", "-l", "1000", "-t", "1")
		var r measure.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		got := r.Samples.Receivers
		if len(got) != 2 {
			t.Fatalf("%s: receivers %+v", group, got)
		}
		want := [2]float64{0, 0.05}
		if ttl == "1" {
			want = [2]float64{1, 1}
		}
		for i, one := range got {
			if one.SentPackets < 500 || math.Abs(one.LossRatio-want[i]) > 0.005 || one.DuplicatePackets+one.ReorderedPackets > 0 {
				t.Errorf("%s, ttl %s: %+v, want a loss of %v", group, ttl, one, want[i])
			}
		}
	}
}
