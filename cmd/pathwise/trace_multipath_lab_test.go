package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// A trace finds all ways of the lab over routers that balance by flow and by packet, one of which is silent, as root and without, by each protocol and both families; and
// which links took packets the lab tells by itself.
func TestMultipathInLab(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(`
hosts: {bob: {}, carol: {}}
routers: {home: {balance: flow}, a: {}, b: {balance: packet}, c: {silent: true}, join: {}, far: {}}
links:
  - {between: [bob, home]}
  - {between: [home, a]}
  - {between: [home, b]}
  - {between: [home, c]}
  - {between: [a, join]}
  - {between: [b, join]}
  - {between: [b, join]}
  - {between: [c, join]}
  - {between: [join, far]}
  - {between: [far, carol]}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	var all sync.WaitGroup
	for _, c := range []struct {
		family, proto string
		nobody        bool
	}{{"", "udp", false}, {"-6", "udp", true}, {"", "icmp", false}, {"-6", "icmp", false}, {"", "tcp", false}, {"-6", "tcp", false}} {
		if c.nobody && os.Geteuid() != 0 {
			continue // who is root of a user namespace alone can be nobody else there
		}
		all.Go(func() { multipathInLab(t, l, c.family, c.proto, c.nobody) })
	}
	all.Wait()
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range truth.Links {
		if k.Direction == "forward" && k.Packets == 0 {
			t.Errorf("%v took no packet", k.Between)
		}
	}
}

// multipathInLab holds what one trace finds against what there is.
func multipathInLab(t *testing.T, l *lab.Lab, family, proto string, nobody bool) {
	t.Helper()
	net := map[string]string{"": "10.0.%d.2", "-6": "fd70:6174:6877:%d::2"}
	argv := []string{lab.Self(), "trace", "carol", "--json", "--multipath", "--proto", proto}
	if family != "" {
		argv = append(argv, family)
	}
	if nobody {
		argv = asNobody(argv)
	}
	var out bytes.Buffer
	onHost(t, l, "bob", &out, argv...)
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Samples.Paths == nil {
		t.Fatalf("%v: %v: %s", argv, err, out.Bytes())
	}
	at := func(link int) string { return fmt.Sprintf(net[family], link) } // the far end of a link
	first := map[string]string{"": "10.0.0.2", "-6": "fd70:6174:6877::2"}[family]
	want := []string{
		"1 " + first + " flow -> 2 " + at(1) + " ", "1 " + first + " flow -> 2 " + at(2) + " packet", "1 " + first + " flow -> 2  ",
		"2 " + at(1) + "  -> 3 " + at(4) + " ", "2 " + at(2) + " packet -> 3 " + at(5) + " ", "2 " + at(2) + " packet -> 3 " + at(6) + " ", "2   -> 3 " + at(7) + " ",
		"3 " + at(4) + "  -> 4 " + at(8) + " ", "3 " + at(5) + "  -> 4 " + at(8) + " ", "3 " + at(6) + "  -> 4 " + at(8) + " ", "3 " + at(7) + "  -> 4 " + at(8) + " ",
		"4 " + at(8) + "  -> 5 " + at(9) + " ",
	}
	var got []string
	p := r.Samples.Paths
	for _, k := range p.Links {
		from, to := p.Vertices[k.From], p.Vertices[k.To]
		got = append(got, fmt.Sprintf("%d %s %s -> %d %s %s", from.TTL, from.Address, from.Balancing, to.TTL, to.Address, to.Balancing))
		if !k.Certain || k.Translated {
			t.Errorf("%v: %v", argv, k)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%v (-want +got):\n%s", argv, d)
	}
	if !p.Complete || p.Confidence < 0.9499 || r.Metrics[measure.HopCount] != 5 {
		t.Errorf("%v: complete %v, confidence %v, %v hops", argv, p.Complete, p.Confidence, r.Metrics[measure.HopCount])
	}
}
