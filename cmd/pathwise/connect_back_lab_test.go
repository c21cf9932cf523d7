package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/reach"
)

// freshPortLabs are what lies between bob and carol, and what that does to fresh ports: of bob over TCP and UDP, and of carol.
var freshPortLabs = []struct {
	name, router string
	rules        string // of carol's own firewall, by nft; "": none
	want         [4]string
	nat          bool
}{
	{name: "a router", router: "r: {}", want: [4]string{reach.Reachable, reach.Reachable, reach.Reachable, reach.Reachable}},
	{name: "a firewall that drops what begins outside", router: "r: {firewall: {inside: [bob]}}",
		want: [4]string{reach.Filtered, reach.Filtered, reach.Reachable, reach.Reachable}},
	{name: "a firewall that says so", router: "r: {firewall: {inside: [bob], reject: true}}",
		want: [4]string{reach.Rejected, reach.Rejected, reach.Reachable, reach.Reachable}},
	{name: "a firewall at carol's side that lets the responder in", router: "r: {firewall: {inside: [carol], allow: [{target_port: 4443, protocol: tcp}]}}",
		want: [4]string{reach.Reachable, reach.Reachable, reach.Filtered, reach.Filtered}},
	{name: "a translator of addresses", router: "r: {nat: {outside: carol}}",
		want: [4]string{reach.Filtered, reach.Filtered, reach.Reachable, reach.Reachable}, nat: true},
	{name: "a firewall of the host that refuses", router: "r: {}", rules: `table inet f {
	chain in {
		type filter hook input priority 0
		tcp dport 32768-60999 ct state new reject with tcp reset
		udp dport 32768-60999 reject
	}
}`, want: [4]string{reach.Reachable, reach.AnswerLost, reach.Refused, reach.Refused}},
	{name: "something that answers in the host's name", router: "r: {}", rules: `table inet f {
	chain pre {
		type nat hook prerouting priority -100
		tcp dport 32768-60999 redirect to :4443
	}
}`, want: [4]string{reach.Reachable, reach.Reachable, reach.Between, reach.Reachable}},
}

// Whatever lies between two hosts, both ways say what it does to fresh ports.
func TestFreshPortsInLab(t *testing.T) {
	for _, c := range freshPortLabs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait more than they work
			if _, err := exec.LookPath("nft"); c.rules != "" && (err != nil || os.Geteuid() != 0) {
				t.Skip("this is not root, or nft is not here")
			}
			spec, err := lab.ParseSpec(c.name, []byte("hosts: {bob: {}, carol: {}}\nrouters: {"+c.router+"}\nlinks: [{between: [bob, r], delay: 1ms}, {between: [r, carol]}]\n"))
			if err != nil {
				t.Fatal(err)
			}
			l := startLab(t, spec)
			readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
			if c.rules != "" {
				onHost(t, l, "carol", os.Stderr, "nft", c.rules)
			}
			var out bytes.Buffer
			onHost(t, l, "bob", &out, lab.Self(), "ping", "--connect", "carol", "--back", "-c", "1", "--json")
			var r measure.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Samples.Reach == nil {
				t.Fatalf("%v: %s", err, out.Bytes())
			}
			var got [4]string
			var says []string
			for i, way := range r.Samples.Reach.Ways {
				got[i] = way.Finding
				says = append(says, way.Says)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s%s", diff, strings.Join(says, "\n"))
			}
			if nat := r.Samples.Reach.Local != r.Samples.Reach.Seen; nat != c.nat {
				t.Errorf("translated: %v, here %s, there %s", nat, r.Samples.Reach.Local, r.Samples.Reach.Seen)
			}
		})
	}
}
