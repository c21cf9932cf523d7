package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// What a trace says of a path with labels, a silent router, one that quotes little, one that remarks and one that tells its interface, by
// each protocol and family, as root and without. Round trips are held to the lab's truth.
func TestTraceInLab(t *testing.T) {
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(`
hosts: {bob: {}, carol: {}}
routers: {r1: {}, r2: {dscp: 0, mpls: [23990, 17]}, r3: {quote: 8}, r4: {silent: true}, r5: {interfaces: true}}
links:
  - {between: [bob, r1], delay: 2ms}
  - {between: [r1, r2], delay: 2ms}
  - {between: [r2, r3], delay: 2ms}
  - {between: [r3, r4], delay: 2ms}
  - {between: [r4, r5], delay: 2ms}
  - {between: [r5, carol], delay: 2ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	const hops, carol = 6, "10.0.5.2"
	for _, c := range []struct {
		name      string
		arguments []string
		nobody    bool // without privileges
		answers   string
		reply     string
	}{
		{"udp", nil, false, "raw sockets", "port unreachable"},
		{"icmp", []string{"--proto", "icmp"}, false, "raw sockets", "echo reply"},
		{"tcp", []string{"--proto", "tcp", "--port", "443"}, false, "raw sockets", "RST"},
		{"icmp by IPv6", []string{"--proto", "icmp", "-6"}, false, "raw sockets", "echo reply"},
		{"tcp by IPv6", []string{"--proto", "tcp", "-6"}, false, "raw sockets", "RST"},
		{"udp without root", []string{"--port", "40000"}, true, "error queue", "port unreachable"},
		{"icmp without root", []string{"--proto", "icmp"}, true, "error queue", "echo reply"},
		{"tcp without root, by IPv6", []string{"--proto", "tcp", "-6"}, true, "connections", "RST"},
	} {
		argv := append([]string{lab.Self(), "trace", "carol", "--json", "--dscp", "46", "-n", "2"}, c.arguments...)
		if c.nobody {
			if os.Geteuid() != 0 {
				continue // who is root of a user namespace alone can be nobody else there
			}
			argv = asNobody(argv)
		}
		var out bytes.Buffer
		onHost(t, l, "bob", &out, argv...)
		var r measure.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v: %s", c.name, err, out.Bytes())
		}
		ipv6 := slices.Contains(c.arguments, "-6")
		route := r.Samples.Route
		if len(r.Samples.Hops) != hops || route == nil {
			t.Errorf("%s: %s", c.name, out.Bytes())
			continue
		}
		want := measure.RouteSample{Reached: true, FirstSilent: 4, LastForwards: 5, Answers: c.answers, SentPackets: route.SentPackets, SentBytes: route.SentBytes}
		want.Remarks = []measure.RouteRemark{{Kind: measure.RemarkSilent, TTLs: []int{4}}, {Kind: measure.RemarkExplicitTunnel, TTLs: []int{2}}}
		if !c.nobody {
			want.DSCPChanged = 3
		}
		if diff := cmp.Diff(want, *route); diff != "" {
			t.Errorf("%s: route (-want +got)\n%s", c.name, diff)
		}
		for i, h := range r.Samples.Hops {
			least, answered := h.Least()
			trip := 0.004 * float64(i+1)
			if silent := i == 3; answered == silent || answered && (least < trip || least > trip+0.004) {
				t.Errorf("%s: hop %d: least %v s, %v; want %v", c.name, h.TTL, least, answered, trip)
			}
			if told := h.DSCP != nil && *h.DSCP == 0; told != (!c.nobody && i >= 2 && i != 3 && (i < 5 || c.reply == "port unreachable")) {
				t.Errorf("%s: hop %d: DSCP %v", c.name, h.TTL, h.DSCP)
			}
		}
		labels := []measure.MPLSLabel{{Label: 23990, TTL: 1}, {Label: 17, TTL: 1}}
		if diff := cmp.Diff(labels, r.Samples.Hops[1].MPLS); diff != "" {
			t.Errorf("%s: labels (-want +got)\n%s", c.name, diff)
		}
		arrived := measure.HopPort{Role: "arrived by", Index: 1, Address: "10.0.4.2", Name: "eth0", MTU: 1500}
		if ipv6 {
			arrived.Address = "fd70:6174:6877:4::2"
		}
		if diff := cmp.Diff([]measure.HopPort{arrived}, r.Samples.Hops[4].Interfaces); diff != "" {
			t.Errorf("%s: interfaces (-want +got)\n%s", c.name, diff)
		}
		if last := r.Samples.Hops[hops-1]; last.Reply != c.reply || !ipv6 && !slices.Equal(last.Addresses, []string{carol}) {
			t.Errorf("%s: the target is %+v", c.name, last)
		}
	}
}

// asNobody is a command line that runs argv as a user without privileges. Only root may run it.
func asNobody(argv []string) []string {
	return append([]string{"setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps", "-all", "--bounding-set", "-all"}, argv...)
}
