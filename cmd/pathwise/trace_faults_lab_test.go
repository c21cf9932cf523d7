package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// faultSetting is a path of the lab with something on it, and what a trace of it says. The path is bob, a router "0" that all paths share, and the
// routers "1" to "4", of which the last is the target, so that hop n is router n-1. "@3" is the address of router 3 on its way from bob.
type faultSetting struct {
	name    string
	routers map[int]string // settings
	links   map[int]string // of the link that leads to a router
	more    []string       // entries of a lab file: "routers x: {…}", "links {…}", "routes {…}", where "#" stands before names of this path's own
	flags   string         // of trace
	nobody  bool           // without privileges
	// want is the text without round trips, with the names of routers for their addresses; "%" is any number.
	want string
}

const plainPath = "1 0 / 2 1 / 3 2 / 4 3 / 5 4 (port unreachable)"

var faultSettings = []faultSetting{
	{name: "nothing", want: plainPath},
	// Silent hops.
	{name: "one silent", routers: map[int]string{2: "silent: true"},
		want: "1 0 / 2 1 / 3 - / 4 3 / 5 4 (port unreachable) / hop 3 does not answer, but it forwards"},
	{name: "one silent, without root", routers: map[int]string{2: "silent: true"}, nobody: true,
		want: "1 0 / 2 1 / 3 - / 4 3 / 5 4 (port unreachable) / hop 3 does not answer, but it forwards"},
	{name: "three silent in a row", routers: map[int]string{1: "silent: true", 2: "silent: true", 3: "silent: true"},
		want: "1 0 / 2 - / 3 - / 4 - / 5 4 (port unreachable) / hops 2 to 4 do not answer, but they forward"},
	{name: "two silent apart", routers: map[int]string{1: "silent: true", 3: "silent: true"}, flags: "--proto icmp",
		want: "1 0 / 2 - / 3 2 / 4 - / 5 4 (echo reply) / hops 2 and 4 do not answer, but they forward"},
	{name: "silent target", routers: map[int]string{4: "silent: true"},
		want: "1 0 / 2 1 / 3 2 / 4 3 / hop 4 is the first of which nothing shows that it forwards: nothing beyond it answers"},
	{name: "silent target and hop", routers: map[int]string{2: "silent: true", 4: "silent: true"}, flags: "-6",
		want: "1 0 / 2 1 / 3 - / 4 3 / hop 3 does not answer, but it forwards / hop 4 is the first of which nothing shows that it forwards: nothing beyond it answers"},
	{name: "all silent", routers: map[int]string{1: "silent: true", 2: "silent: true", 3: "silent: true", 4: "silent: true"},
		want: "1 0 / hop 1 is the first of which nothing shows that it forwards: nothing beyond it answers"},
	// Limits of ICMP, and loss.
	{name: "one answer a second", routers: map[int]string{2: "icmp: {rate: 1/s, burst: 1}"}, flags: "-n 5 --proto icmp",
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 4 (echo reply) / hop 3 does not answer all packets, but what goes beyond it is answered: no loss of the path shows there"},
	{name: "three answers at once", routers: map[int]string{2: "icmp: {rate: 1/s, burst: 3}"}, flags: "-n 5",
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 4 (port unreachable) / hop 3 does not answer all packets, but what goes beyond it is answered: no loss of the path shows there"},
	{name: "two limits", routers: map[int]string{1: "icmp: {rate: 1/s, burst: 1}", 3: "icmp: {rate: 1/s, burst: 2}"}, flags: "-n 5 --proto icmp",
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 4 (echo reply) / hops 2 and 4 do not answer all packets, but what goes beyond them is answered: no loss of the path shows there"},
	{name: "a limit of what passes, too", routers: map[int]string{1: "icmp: {rate: 1/s, burst: 6, transit: true}"}, flags: "-n 5 --proto icmp",
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 4 (echo reply) / hops 2 to 4 do not answer all packets, but what goes beyond them is answered: no loss of the path shows there"},
	{name: "loss that goes on", links: map[int]string{2: "forward: {loss: {every: 2}}"}, flags: "-n 10 --proto icmp",
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 4 (echo reply) / % packets to the target, or the answers, were lost, beyond hop 2"},
	{name: "loss of answers", links: map[int]string{2: "reverse: {loss: {every: 2}}"}, flags: "-n 10 --proto icmp",
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 4 (echo reply) / % packets to the target, or the answers, were lost, beyond hop 2"},
	{name: "late answers", links: map[int]string{3: "reverse: {delay: 400ms}"}, flags: "-W 150ms",
		want: "1 0 / 2 1 / 3 2 / hop 3 is the first of which nothing shows that it forwards: nothing beyond it answers"},
	{name: "every packet twice", links: map[int]string{2: "duplicate: 100%"}, want: plainPath},
	{name: "every answer three times", routers: map[int]string{2: "copies: 3"}, flags: "-n 5", want: plainPath},
	{name: "packets overtake each other", links: map[int]string{2: "delay: 4ms, jitter: {spread: 4ms, overtake: true}"}, want: plainPath},
	// Tunnels.
	{name: "explicit tunnel", routers: map[int]string{1: "mpls: [16]", 2: "mpls: [17, 18]"},
		want: "1 0 / 2 1 <MPLS:L=16,E=0,S=1,T=1> / 3 2 <MPLS:L=17,E=0,S=0,T=1/L=18,E=0,S=1,T=1> / 4 3 / 5 4 (port unreachable) / hops 2 and 3 are in an MPLS tunnel that shows its hops"},
	{name: "implicit tunnel", routers: map[int]string{2: "quoted_ttl: 2", 3: "quoted_ttl: 3"},
		want: "1 0 / 2 1 / 3 2 [TTL 2] / 4 3 [TTL 3] / 5 4 (port unreachable) / hops 2 to 4 say that packets came with more and more TTL left: they are in a tunnel that keeps it"},
	{name: "opaque tunnel", routers: map[int]string{1: "hidden: true", 2: "hidden: true", 3: "mpls: [9], mpls_ttl: 253"},
		want: "1 0 / 2 3 <MPLS:L=9,E=0,S=1,T=253> / 3 4 (port unreachable) / an MPLS tunnel ends before hop 2, and hides 2 hops, by the TTL of its label"},
	{name: "invisible tunnel", routers: map[int]string{2: "hidden: true"}, want: "1 0 / 2 1 / 3 3 / 4 4 (port unreachable)"},
	{name: "invisible tunnel, visible way back", routers: map[int]string{1: "hidden: true", 2: "hidden: true"},
		more: []string{"routers x: {}", "routers y: {}", "links {between: [#3, #x]}", "links {between: [#x, #y]}", "links {between: [#y, gate]}",
			"routes {at: #3, to: bob, via: #x}", "routes {at: #x, to: bob, via: #y}", "routes {at: gate, to: #4, via: #1}"},
		want: "1 0 / 2 3 [4 back] / 3 4 (port unreachable) [5 back] / from hop 2 on answers come back over more hops than packets go, there 2 more: " +
			"another way back, or a tunnel that hides hops on the way there"},
	{name: "longer way back", more: []string{"routers x: {}", "routers y: {}", "routers z: {}", "links {between: [#3, #x]}", "links {between: [#x, #y]}", "links {between: [#y, #z]}", "links {between: [#z, gate]}",
		"routes {at: #3, to: bob, via: #x}", "routes {at: #x, to: bob, via: #y}", "routes {at: #y, to: bob, via: #z}"},
		want: "1 0 / 2 1 / 3 2 / 4 3 [5 back] / 5 4 (port unreachable) [6 back] / from hop 4 on answers come back over more hops than packets go, there 1 more: " +
			"another way back, or a tunnel that hides hops on the way there"},
	{name: "shorter way back", more: []string{"links {between: [#3, gate]}", "routes {at: gate, to: #4, via: #1}", "routes {at: #1, to: #4, via: #2}", "routes {at: #2, to: #4, via: #3}"},
		want: "1 0 / 2 1 / 3 2 / 4 3 [2 back] / 5 4 (port unreachable) [3 back]"},
	// Loops.
	{name: "loop of two", more: []string{"routes {at: #2, to: #4, via: #1}"},
		want: "1 0 / 2 1 / 3 2 / 4 1 [2 back] / 5 2 [3 back] / packets go round in a loop: from hop 3 on 2, 1, and again"},
	{name: "loop of two, by IPv6", more: []string{"routes {at: #2, to: #4, via: #1}"}, flags: "-6",
		want: "1 0 / 2 1 / 3 2 / 4 1 [2 back] / 5 2 [3 back] / packets go round in a loop: from hop 3 on 2, 1, and again"},
	{name: "loop of three", more: []string{"routers x: {}", "links {between: [#3, #x]}", "links {between: [#x, #2]}", "routes {at: #3, to: #4, via: #x}", "routes {at: #x, to: #4, via: #2}"},
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 x [4 back] / 6 2 [3 back] / 7 3 [4 back] / packets go round in a loop: from hop 4 on 3, x, 2, and again"},
	{name: "loop with a silent hop", more: []string{"routers x: {silent: true}", "links {between: [#3, #x]}", "links {between: [#x, #2]}", "routes {at: #3, to: #4, via: #x}", "routes {at: #x, to: #4, via: #2}"},
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 - / 6 2 [3 back] / 7 3 [4 back] / packets go round in a loop: from hop 4 on 3, one that does not answer, 2, and again"},
	{name: "loop with limits", routers: map[int]string{1: "icmp: {rate: 20/s, burst: 6}", 2: "icmp: {rate: 20/s, burst: 6}"}, more: []string{"routes {at: #2, to: #4, via: #1}"}, flags: "-n 1 -i 30ms --max-ttl 20",
		want: "1 0 / 2 1 / 3 2 / 4 1 [2 back] / 5 2 [3 back] / packets go round in a loop: from hop 3 on 2, 1, and again"},
	{name: "loop, without root", more: []string{"routes {at: #2, to: #4, via: #1}"}, nobody: true,
		want: "1 0 / 2 1 / 3 2 / 4 1 [2 back] / 5 2 [3 back] / packets go round in a loop: from hop 3 on 2, 1, and again"},
	// Refused, and filtered.
	{name: "no network", routers: map[int]string{2: "refuse: network"},
		want: "1 0 / 2 1 / 3 2 / 4 2 !N (network unreachable) [3 back] / hop 3 says that it does not forward: network unreachable, !N"},
	{name: "no host", routers: map[int]string{2: "refuse: host"}, flags: "--proto tcp",
		want: "1 0 / 2 1 / 3 2 / 4 2 !H (host unreachable) [3 back] / hop 3 says that it does not forward: host unreachable, !H"},
	{name: "no host, by IPv6", routers: map[int]string{2: "refuse: host"}, flags: "-6",
		want: "1 0 / 2 1 / 3 2 / 4 2 !H (host unreachable) [3 back] / hop 3 says that it does not forward: host unreachable, !H"},
	{name: "no protocol", routers: map[int]string{3: "refuse: protocol"},
		want: "1 0 / 2 1 / 3 2 / 4 3 / 5 3 !P (protocol unreachable) [4 back] / hop 4 says that it does not forward: protocol unreachable, !P"},
	{name: "prohibited", routers: map[int]string{2: "refuse: prohibited"}, nobody: true,
		want: "1 0 / 2 1 / 3 2 / 4 2 !X (administratively prohibited) [3 back] / hop 3 says that it does not forward: administratively prohibited, !X"},
	{name: "UDP dropped", routers: map[int]string{2: "firewall: {deny: [{protocol: udp}]}"},
		want: "1 0 / 2 1 / 3 2 / hop 3 is the first of which nothing shows that it forwards: nothing beyond it answers"},
	{name: "UDP dropped, asked by ICMP", routers: map[int]string{2: "firewall: {deny: [{protocol: udp}]}"}, flags: "--proto icmp", want: "1 0 / 2 1 / 3 2 / 4 3 / 5 4 (echo reply)"},
	{name: "ICMP dropped", routers: map[int]string{2: "firewall: {deny: [{protocol: icmp}]}"}, flags: "--proto icmp",
		want: "1 0 / 2 1 / 3 2 / hop 3 is the first of which nothing shows that it forwards: nothing beyond it answers"},
	{name: "a port of TCP rejected", routers: map[int]string{2: "firewall: {deny: [{protocol: tcp, port: 80}], reject: true}"}, flags: "--proto tcp",
		want: "1 0 / 2 1 / 3 2 / 4 2 !X (administratively prohibited) [3 back] / hop 3 says that it does not forward: administratively prohibited, !X"},
	{name: "another port of TCP", routers: map[int]string{2: "firewall: {deny: [{protocol: tcp, port: 80}], reject: true}"}, flags: "--proto tcp --port 443", want: plainPath},
	{name: "errors dropped on their way back", routers: map[int]string{2: "icmp: filtered"}, flags: "--proto icmp",
		want: "1 0 / 2 1 / 3 2 / 4 - / 5 4 (echo reply) / hop 4 does not answer, but it forwards"},
	{name: "a link that is down", links: map[int]string{3: "down: true"},
		want: "1 0 / 2 1 / 3 2 / hop 3 is the first of which nothing shows that it forwards: nothing beyond it answers"},
	// Translators.
	{name: "a translator that undoes all", routers: map[int]string{1: "nat: {outside: #2, ports: move}"}, want: plainPath},
	{name: "a translator that leaves checksums", routers: map[int]string{1: "nat: {outside: #2, ports: move, quotes: addresses}"},
		want: "1 0 / 2 1 / 3 2 [NAT] / 4 3 [NAT] / 5 4 (port unreachable) [NAT] / hop 3 is the first that packets reach with another address or port than they left with: an address translator (NAT) is before it"},
	{name: "a translator that leaves quotes", routers: map[int]string{2: "nat: {outside: #3, quotes: leave}"},
		want: "1 0 / 2 1 / 3 2 / 4 3 [from 2:%] / 5 4 (port unreachable) [from 2:%] / hop 4 is the first that packets reach with another address or port than they left with, from 2:%: an address translator (NAT) is before it"},
	{name: "the same, by TCP", routers: map[int]string{1: "nat: {outside: #2, ports: move, quotes: leave}"}, flags: "--proto tcp",
		want: "1 0 / 2 1 / 3 2 [from 1:%] / 4 3 [from 1:%] / 5 4 (port unreachable) [from 1:%] / hop 3 is the first that packets reach with another address or port than they left with, from 1:%: an address translator (NAT) is before it"},
	{name: "the same, by ICMP", routers: map[int]string{1: "nat: {outside: #2, ports: move, quotes: leave}"}, flags: "--proto icmp",
		want: "1 0 / 2 1 / 3 2 [from 1:%] / 4 3 [from 1:%] / 5 4 (echo reply) / hop 3 is the first that packets reach with another address or port than they left with, from 1:%: an address translator (NAT) is before it"},
	{name: "two translators in a row", routers: map[int]string{1: "nat: {outside: #2, ports: move, quotes: addresses}", 2: "nat: {outside: #3, ports: move, quotes: addresses}"},
		want: "1 0 / 2 1 / 3 2 [NAT] / 4 3 [NAT] / 5 4 (port unreachable) [NAT] / " + twoTranslators},
	{name: "two in a row, by TCP", routers: map[int]string{1: "nat: {outside: #2, ports: move, quotes: addresses}", 2: "nat: {outside: #3, ports: move, quotes: addresses}"}, flags: "--proto tcp",
		want: "1 0 / 2 1 / 3 2 [NAT] / 4 3 [NAT] / 5 4 (port unreachable) [NAT] / " + twoTranslators},
	{name: "two in a row, by ICMP, of which the second keeps the identifier", routers: map[int]string{1: "nat: {outside: #2, ports: move, quotes: addresses}", 2: "nat: {outside: #3, ports: move, quotes: addresses}"}, flags: "--proto icmp",
		want: "1 0 / 2 1 / 3 2 [NAT] / 4 3 [NAT] / 5 4 (echo reply) / " + oneTranslator},
	// Routers that answer otherwise than they should.
	{name: "forwards a TTL of zero", routers: map[int]string{2: "zero_ttl: true"},
		want: "1 0 / 2 1 / 3 3 [4 back] [TTL 0] / 4 3 / 5 4 (port unreachable) / hop 3 forwards packets whose TTL ran out, so that the next hop answers in its place"},
	{name: "another source", routers: map[int]string{2: "from: 192.0.2.7"}, want: "1 0 / 2 1 / 3 192.0.2.7 / 4 3 / 5 4 (port unreachable)"},
	{name: "the target's address as source", routers: map[int]string{2: `from: "@4"`},
		want: "1 0 / 2 1 / 3 4 / 4 3 / 5 4 (port unreachable) / hop 3 answers with the target's address, though the TTL ran out there: it is not the target, or a translator stands before it"},
	{name: "two with one address", routers: map[int]string{2: `from: "@3"`},
		want: "1 0 / 2 1 / 3 3 / 4 3 / 5 4 (port unreachable) / hops 3 and 4 answer with one address, 3: one hop hides, or one counts twice"},
	{name: "the least quote", routers: map[int]string{2: "quote: 8"}, want: plainPath},
	{name: "a wrong checksum", routers: map[int]string{2: "spoil: checksum"},
		want: "1 0 / 2 1 / 3 - / 4 3 / 5 4 (port unreachable) / hop 3 does not answer, but it forwards"},
	{name: "extensions with a wrong checksum", routers: map[int]string{2: "mpls: [5], spoil: extensions"},
		want: "1 0 / 2 1 / 3 2 [checksum of extensions is wrong] / 4 3 / 5 4 (port unreachable)"},
	{name: "interfaces", routers: map[int]string{2: "interfaces: true"}, want: "1 0 / 2 1 / 3 2 <arrived by eth0 2 number 1 MTU 1500> / 4 3 / 5 4 (port unreachable)"},
	{name: "balancing by packet", routers: map[int]string{1: "balance: packet"}, more: []string{"routers x: {}", "links {between: [#1, #x]}", "links {between: [#x, #3]}"}, flags: "-n 8",
		want: "1 0 / 2 1 / 3 2 x / 4 3 3 / 5 4 (port unreachable) / packets of one flow meet several addresses at hops 3 and 4: they are spread packet by packet, or the route changed"},
	{name: "bleached", routers: map[int]string{2: "dscp: 0"}, flags: "--dscp 46",
		want: "1 0 / 2 1 / 3 2 / 4 3 [DSCP 0] / 5 4 (port unreachable) / hop 4 is the first that packets reach with another DSCP than they left with"},
}

// What a trace says of one address translator before hop 3, and of a second one before hop 4.
const (
	oneTranslator  = "hop 3 is the first that packets reach with another address or port than they left with: an address translator (NAT) is before it"
	twoTranslators = oneTranslator + "; hop 4 is the first that packets reach with another address or port than hop 3: another is before it"
)

// faultNet is a lab file of all settings, with the names of the addresses in it.
type faultNet struct {
	routers, links, routes strings.Builder
	number                 int                 // of links
	names                  []map[string]string // by setting: address -> name
}

func (n *faultNet) link(setting int, text, near, far string) {
	fmt.Fprintf(&n.links, "  - %s\n", text)
	for end, name := range []string{near, far} {
		for _, format := range []string{"10.%d.%d.%d", "fd70:6174:6877:%x::%d"} {
			address := fmt.Sprintf(format, n.number, end+1)
			if strings.HasPrefix(format, "10") {
				address = fmt.Sprintf(format, n.number/256, n.number%256, end+1)
			} else if n.number == 0 {
				address = fmt.Sprintf("fd70:6174:6877::%d", end+1)
			}
			for i := range n.names {
				if setting == i || setting < 0 {
					n.names[i][address] = name
				}
			}
		}
	}
	n.number++
}

func (n *faultNet) add(i int, s *faultSetting) {
	own := fmt.Sprintf("p%d-", i)
	resolve := strings.NewReplacer("#", own)
	first := n.number
	at := func(text string) string {
		return regexp.MustCompile(`@(\d)`).ReplaceAllStringFunc(text, func(m string) string {
			link := first + int(m[1]-'0') - 1
			return fmt.Sprintf("10.%d.%d.2", link/256, link%256)
		})
	}
	for r := 1; r <= 4; r++ {
		fmt.Fprintf(&n.routers, "  %s%d: {%s}\n", own, r, at(resolve.Replace(s.routers[r])))
		before := fmt.Sprint(own, r-1)
		if r == 1 {
			before = "gate"
		}
		settings := s.links[r]
		if settings != "" {
			settings = ", " + settings
		}
		n.link(i, fmt.Sprintf("{between: [%s, %s%d]%s}", before, own, r, settings), fmt.Sprint(r-1), fmt.Sprint(r))
	}
	for _, m := range s.more {
		kind, entry, _ := strings.Cut(resolve.Replace(m), " ")
		switch kind {
		case "routers":
			fmt.Fprintf(&n.routers, "  %s%s\n", own, entry)
		case "links":
			ends := regexp.MustCompile(`\[(\S+), (\S+)\]`).FindStringSubmatch(entry)
			n.link(i, entry, strings.TrimPrefix(ends[1], own), strings.TrimPrefix(ends[2], own))
		case "routes":
			fmt.Fprintf(&n.routes, "  - %s\n", entry)
		}
	}
}

// What a trace says of each setting is what is there, and no hop is blamed for what it did not do. JSON and text come of one Result.
func TestTraceFaults(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	n := &faultNet{names: make([]map[string]string, len(faultSettings))}
	for i := range n.names {
		n.names[i] = map[string]string{}
	}
	n.link(-1, "{between: [bob, gate], delay: 1ms}", "bob", "0")
	for i := range faultSettings {
		n.add(i, &faultSettings[i])
	}
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}}\nrouters:\n  gate: {}\n"+n.routers.String()+"links:\n"+n.links.String()+"routes:\n"+n.routes.String()))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	kind, _ := probe.KindOf("trace")
	atOnce := make(chan struct{}, 12) // traces: they wait more than they work
	var all sync.WaitGroup
	for i, s := range faultSettings {
		if s.nobody && os.Geteuid() != 0 {
			continue
		}
		atOnce <- struct{}{}
		all.Go(func() {
			defer func() { <-atOnce }()
			argv := append([]string{lab.Self(), "trace", fmt.Sprintf("p%d-4", i), "--json"}, strings.Fields(s.flags)...)
			if s.nobody {
				argv = asNobody(argv)
			}
			var out bytes.Buffer
			onHost(t, l, "bob", &out, argv...)
			var r measure.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Errorf("%s: %v: %s", s.name, err, out.Bytes())
				return
			}
			var text bytes.Buffer
			kind.Text(&text, &r)
			if diff := cmp.Diff(strings.Split(s.want, " / "), saidOf(text.String(), n.names[i])); diff != "" {
				t.Errorf("%s (-want +got)\n%s", s.name, diff)
			}
		})
	}
	all.Wait()
}

var (
	spaces    = regexp.MustCompile(`\s+`)
	tripTime  = regexp.MustCompile(` ([0-9.]+ (µs|ms|s)\b|\*)`)
	addressIn = regexp.MustCompile(`(\b10\.\d+\.\d+\.\d+|\bfd70:6174:6877:[0-9a-f:]*[0-9a-f])`)
	lossIn    = regexp.MustCompile(`^\d+ packets? to the target, or the answers, (was|were)`)
	portIn    = regexp.MustCompile(`from (\w+):\d+`)
)

// saidOf is a trace's text as faultSetting.want has it.
func saidOf(text string, names map[string]string) (lines []string) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		line = tripTime.ReplaceAllString(line, "")
		line = addressIn.ReplaceAllStringFunc(line, func(a string) string {
			if name, known := names[a]; known {
				return name
			}
			return a
		})
		line = lossIn.ReplaceAllString(line, "% packets to the target, or the answers, were")
		line = portIn.ReplaceAllString(line, "from $1:%")
		lines = append(lines, strings.TrimSpace(spaces.ReplaceAllString(line, " ")))
	}
	return slices.Clip(lines)
}
