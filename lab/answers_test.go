package lab

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/proto/icmp"
)

// What a router says in its errors, as a parser that shares no code with it reads them.
func TestAnswers(t *testing.T) {
	labels := []icmp.Label{{Label: 23990, TTL: 1}, {Label: 17, Bottom: true, TTL: 1}}
	arrived := func(address string) []icmp.Interface {
		return []icmp.Interface{{Role: icmp.Arrived, Index: 1, Address: netip.MustParseAddr(address), Name: "eth0", MTU: 1500}}
	}
	const routerR, routerR6 = lineR, "fd70:6174:6877::2"
	for _, c := range []struct {
		name, settings, from, to string
		ttl                      byte
		length                   int // of the packet
		kind                     uint8
		quoted                   int // bytes from the transport header on
		want                     icmp.Extensions
	}{
		{"plain", "", lineA, lineB, 1, 60, 11, 40, icmp.Extensions{}},
		{"plain, long", "", lineA, lineB, 1, 1400, 11, 576 - 20 - 8 - 20, icmp.Extensions{}},
		{"least quote", "quote: 8", lineA, lineB, 1, 60, 11, 8, icmp.Extensions{}},
		{"labels", "mpls: [23990, 17]", lineA, lineB, 1, 60, 11, 40, icmp.Extensions{Labels: labels}},
		{"interface, long", "interfaces: true", lineA, lineB, 1, 1400, 11, 108, icmp.Extensions{Interfaces: arrived(routerR)}},
		{"both, least quote", "mpls: [23990, 17], interfaces: true, quote: 8", lineA, lineB, 1, 1400, 11, 8,
			icmp.Extensions{Labels: labels, Interfaces: arrived(routerR)}},
		{"both by IPv6", "mpls: [23990, 17], interfaces: true", lineA6, lineB6, 1, 80, 3, 40,
			icmp.Extensions{Labels: labels, Interfaces: arrived(routerR6)}},
		{"class and all roles, by IPv6", "mpls: [17], mpls_class: 5, interfaces: [incoming, sub-ip, outgoing, next-hop]", lineA6, lineB6, 1, 80, 3, 40,
			icmp.Extensions{Labels: []icmp.Label{{Label: 17, Class: 5, Bottom: true, TTL: 1}}, Interfaces: append(arrived(routerR6),
				icmp.Interface{Role: icmp.SubIP, Index: 1001, Name: "eth0.1", MTU: 1500},
				icmp.Interface{Role: icmp.Outgoing, Index: 2, Address: netip.MustParseAddr("fd70:6174:6877:1::1"), Name: "eth1", MTU: 1300},
				icmp.Interface{Role: icmp.NextHop, Address: netip.MustParseAddr("fd70:6174:6877:1::2")})}},
		{"no route, so nothing to leave by", "interfaces: [incoming, outgoing, next-hop]", lineA, "10.99.0.1", 64, 60, 3, 40, icmp.Extensions{Interfaces: arrived(routerR)}},
		{"no route", "mpls: [23990, 17]", lineA, "10.99.0.1", 64, 60, 3, 40, icmp.Extensions{Labels: labels}},
		{"too big by IPv6 has no place for them", "mpls: [17]", lineA6, lineB6, 64, 1400, 2, 1280 - 40 - 8 - 40, icmp.Extensions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVirtual(t, line("{r: {"+c.settings+"}, s: {}}", ", mtu: 1300B"))
			v.Inject(0, v.plan.Nodes[node(t, v, "a")].Interfaces[0], v.udp(c.from, c.to, c.ttl, c.length, 0))
			v.Advance(forever)
			if len(v.got) != 1 {
				t.Fatalf("%d packets came back, want one", len(v.got))
			}
			b := v.got[0].Packet
			_, at := packet.Transport(b)
			e, err := icmp.Parse(b[at:], packet.Version(b) == 6)
			if err != nil || e.Type != c.kind || e.Quote.From.String() != c.from || e.Quote.To.String() != c.to || e.Quote.TTL > c.ttl {
				t.Fatalf("%v, %+v", err, e)
			}
			// The quote of an error with extensions is filled up to 128 bytes; what the packet did not have, or was not quoted, is no part of it.
			if len(e.Quote.Transport) != c.quoted {
				t.Errorf("%d bytes quoted from the transport header on, want %d", len(e.Quote.Transport), c.quoted)
			}
			if diff := cmp.Diff(c.want, e.Extensions, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
				t.Errorf("extensions (-want +got)\n%s", diff)
			}
		})
	}
}

// What a router tells of the way that a packet would leave by changes nothing of what it does with the next ones, and is of one way.
func TestTellingKeepsBalance(t *testing.T) {
	for _, told := range []string{"", ", interfaces: [outgoing]", ", interfaces: [outgoing, next-hop]"} {
		v := newVirtual(t, `
hosts: {a: {}, b: {}}
routers: {r: {balance: packet`+told+`}, s: {}}
links: [{between: [a, r]}, {between: [r, s]}, {between: [r, s]}, {between: [s, b]}]
`)
		const each = 40
		for i := range each { // between any two that go on, one dies at r
			v.Inject(int64(2*i)*1e6, 0, v.udp(lineA, "10.0.3.2", 64, 100, i))
			v.Inject(int64(2*i+1)*1e6, 0, v.udp(lineA, "10.0.3.2", 1, 100, i))
		}
		v.Advance(forever)
		if first, second := v.Truth().Links[2].Packets, v.Truth().Links[4].Packets; first != each/2 || second != each/2 {
			t.Errorf("told%s: %d and %d packets by the two ways, want as many by each", told, first, second)
		}
	}
}

func node(t *testing.T, v *virtual, name string) int {
	t.Helper()
	id, ok := v.plan.NodeByName(name)
	if !ok {
		t.Fatalf("no node %s", name)
	}
	return id
}

// How routers answer otherwise than others, and what address translators leave of a quote.
func TestOtherAnswers(t *testing.T) {
	type answer struct {
		From       string
		Type, Code uint8
		QuotedTTL  uint8
		QuotedFrom string // address and port
		Right      bool   // the checksum of the quoted packet
		Told       string
	}
	const routerR, sideS, outside = lineR, "10.0.1.2", "10.0.1.1"
	expired := answer{From: routerR, Type: 11, QuotedTTL: 1, QuotedFrom: lineA + " 1000", Right: true}
	with := func(change func(*answer)) []answer { a := expired; change(&a); return []answer{a} }
	refused := func(code uint8) []answer {
		return with(func(a *answer) { a.Type, a.Code, a.QuotedTTL = 3, code, 9 })
	}
	behind := func(quoted string, right bool) []answer {
		return with(func(a *answer) { a.From, a.QuotedFrom, a.Right = sideS, quoted, right })
	}
	for _, c := range []struct {
		settings string
		ttl      byte
		want     []answer
	}{
		{"", 1, with(func(*answer) {})},
		{"refuse: network", 9, refused(0)},
		{"refuse: host", 9, refused(1)},
		{"refuse: protocol", 9, refused(2)},
		{"refuse: prohibited", 9, refused(13)},
		{"from: 192.0.2.7", 1, with(func(a *answer) { a.From = "192.0.2.7" })},
		{"copies: 3", 1, []answer{expired, expired, expired}},
		{"quoted_ttl: 5", 1, with(func(a *answer) { a.QuotedTTL = 5 })},
		{"mpls: [9], mpls_ttl: 252", 1, with(func(a *answer) { a.Told = "[{9 0 true 252}]" })},
		{"mpls: [9], spoil: extensions", 1, with(func(a *answer) { a.Told = "checksum of extensions is wrong" })},
		{"spoil: checksum", 1, with(func(a *answer) { *a = answer{From: routerR, Told: "checksum of ICMP message is wrong"} })},
		{"zero_ttl: true", 1, with(func(a *answer) { a.From, a.QuotedTTL = sideS, 0 })},
		{"nat: {outside: s}", 2, behind(lineA+" 1000", true)},
		{"nat: {outside: s, ports: move}", 2, behind(lineA+" 1000", true)},
		{"nat: {outside: s, ports: move, quotes: addresses}", 2, behind(lineA+" 1000", false)},
		{"nat: {outside: s, quotes: leave}", 2, behind(outside+" 1000", true)},
		{"nat: {outside: s, ports: move, quotes: leave}", 2, behind(outside+" 1", true)},
	} {
		v := newVirtual(t, line("{r: {"+c.settings+"}, s: {}}", ""))
		v.Inject(0, v.plan.Nodes[node(t, v, "a")].Interfaces[0], v.udp(lineA, lineB, c.ttl, 60, 0))
		v.Advance(forever)
		var got []answer
		for _, d := range v.got {
			_, at := packet.Transport(d.Packet)
			a := answer{From: packet.Source(d.Packet).String()}
			e, err := icmp.Parse(d.Packet[at:], false)
			if err != nil {
				a.Told = err.Error()
				got = append(got, a)
				continue
			}
			port, _, _ := e.Quote.Ports()
			a.Type, a.Code, a.QuotedTTL, a.QuotedFrom = e.Type, e.Code, e.Quote.TTL, fmt.Sprint(e.Quote.From, " ", port)
			pseudo := append(append(e.Quote.From.AsSlice(), e.Quote.To.AsSlice()...), 0, icmp.ProtocolUDP, 0, byte(len(e.Quote.Transport)))
			a.Right = icmp.Checksum(append(pseudo, e.Quote.Transport...)) == 0
			if a.Told = e.Extensions.Fault; e.Extensions.Labels != nil {
				a.Told = fmt.Sprint(e.Extensions.Labels)
			}
			got = append(got, a)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.settings, diff)
		}
	}
}

func TestAnswersValidate(t *testing.T) {
	for settings, want := range map[string]string{
		"mpls: [1048576]":                   "mpls: 1048576: want a label from 0 to 1048575",
		"mpls: [1, 2, 3, 4, 5, 6, 7, 8, 9]": "mpls: 9 labels: want at most 8",
		"quote: 7":                          "quote: 7: want a number of bytes from 8 to 1232",
		"mpls_class: 8":                     "mpls_class: 8: want a number from 0 to 7",
		"interfaces: all":                   "want true, or a list of incoming, sub-ip, outgoing and next-hop",
		"interfaces: [in]":                  "want each once of incoming, sub-ip, outgoing and next-hop",
		"interfaces: [sub-ip, sub-ip]":      "want each once of incoming, sub-ip, outgoing and next-hop",
		"mpls_ttl: 256":                     "mpls_ttl: 256: want a number from 1 to 255",
		"quoted_ttl: -1":                    "quoted_ttl: -1: want a number from 0 to 255",
		"from: nobody":                      `from: "nobody": want an address, such as 192.0.2.1`,
		"copies: 17":                        "copies: 17: want a number from 1 to 16",
		"spoil: all":                        `spoil: "all": want checksum or extensions`,
		"refuse: all":                       `refuse: "all": want network, host, protocol or prohibited`,
		"quote: 1233":                       "quote: 1233: want a number of bytes from 8 to 1232",
	} {
		if _, err := ParseSpec("lab.yaml", []byte(line("{r: {"+settings+"}, s: {}}", ""))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
}
