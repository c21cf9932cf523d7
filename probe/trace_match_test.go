package probe

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

// flows are one of each protocol and family.
func traceFlows() (flows []*traceFlow) {
	for _, protocol := range []string{traceUDP, traceICMP, traceTCP} {
		for _, ends := range [][2]string{{"10.0.0.1", "10.9.9.9"}, {"2001:db8::1", "2001:db8::9"}, {"fe80::1%eth0", "fe80::9"}} {
			from, to := netip.MustParseAddr(ends[0]), netip.MustParseAddr(ends[1])
			f := &traceFlow{protocol: protocol, from: netip.AddrPortFrom(from, 4321), to: netip.AddrPortFrom(to, 33434), target: to}
			copy(f.token[:], "\xff\xff\xff\xfb\x01\x02\x03\x04") // ids wrap round the sequence numbers
			flows = append(flows, f)
		}
	}
	return flows
}

// quote is what a router quotes of a probe, of its transport header so many bytes; 0: all.
func (f *traceFlow) quote(id, bytes int, port uint16) icmp.Quote {
	packet := f.request(id)
	q := icmp.Quote{IPv6: f.to.Addr().Is6(), From: f.from.Addr().WithZone(""), To: f.to.Addr(), TTL: 1}
	switch f.protocol {
	case traceTCP:
		q.Protocol = icmp.ProtocolTCP
	case traceICMP:
		if q.Protocol = icmp.ProtocolICMP; q.IPv6 {
			q.Protocol = icmp.ProtocolICMPv6
		}
	default:
		q.Protocol = icmp.ProtocolUDP
		header := binary.BigEndian.AppendUint16(nil, f.from.Port())
		for _, word := range []uint16{port, uint16(udpHeader + len(packet)), f.checksum(id, port)} {
			header = binary.BigEndian.AppendUint16(header, word)
		}
		packet = append(header, packet...)
	}
	if q.Transport = packet; bytes > 0 {
		q.Transport = packet[:bytes]
	}
	return q
}

func TestTraceQuoted(t *testing.T) {
	const sent = 10
	other := netip.MustParseAddr("10.6.6.6")
	for _, f := range traceFlows() {
		for id := range sent {
			for _, bytes := range []int{0, 8} { // all, and the least
				q := f.quote(id, bytes, f.to.Port())
				if how := f.translated(q, id); how != "" {
					t.Errorf("%s from %s: probe %d, as it left, is told to be translated: %s", f.protocol, f.from, id, how)
				}
				if got, ok := f.quoted(q, sent); got != id || !ok {
					t.Errorf("%s to %s, %d bytes: probe %d taken for %d, %v", f.protocol, f.to, bytes, id, got, ok)
				}
			}
		}
		changed := map[string]func(q *icmp.Quote){ // as by a translator that leaves quotes as they are
			"another source": func(q *icmp.Quote) { q.From = other },
			"another target": func(q *icmp.Quote) { q.To = other },
			"another port, or identifier": func(q *icmp.Quote) {
				at := 0
				if f.protocol == traceICMP {
					at = 4
				}
				q.Transport[at]++
			},
		}
		for name, change := range changed {
			for bytes, proven := range map[int]bool{0: true, 8: f.protocol == traceTCP} {
				q := f.quote(3, bytes, f.to.Port())
				q.Transport = append([]byte(nil), q.Transport...)
				change(&q)
				id, ok := f.quoted(q, sent)
				if ok != proven || ok && (id != 3 || f.translated(q, id) == "") {
					t.Errorf("%s to %s: %s, %d bytes quoted, is taken for probe %d, %v; want %v", f.protocol, f.to, name, bytes, id, ok, proven)
				}
			}
		}
		refused := map[string]func(q *icmp.Quote){
			"another protocol": func(q *icmp.Quote) { q.Protocol = 132 },
			"too short":        func(q *icmp.Quote) { q.Transport = q.Transport[:7] },
			"no transport":     func(q *icmp.Quote) { q.Transport = nil },
			"a sequence number that is not ours, or another token": func(q *icmp.Quote) {
				q.Transport[map[string]int{traceUDP: 8, traceICMP: 6, traceTCP: 4}[f.protocol]] ^= 0x40
			},
		}
		for name, change := range refused {
			q := f.quote(3, 0, f.to.Port())
			if change(&q); true {
				if id, ok := f.quoted(q, sent); ok {
					t.Errorf("%s to %s: %s is taken for probe %d", f.protocol, f.to, name, id)
				}
			}
		}
		if id, ok := f.quoted(f.quote(sent, 0, f.to.Port()), sent); ok {
			t.Errorf("%s to %s: a probe yet to be sent is taken for %d", f.protocol, f.to, id)
		}
		if id, ok := f.quoted(f.quote(sent, 8, f.to.Port()), sent); ok {
			t.Errorf("%s to %s: a probe yet to be sent, quoted least, is taken for %d", f.protocol, f.to, id)
		}
	}
}

// A router that quotes 8 bytes beyond the IP header, and fills up with zeros to 128 bytes before an MPLS label (RFC 4884), tells the probe as the least quote does.
func TestTraceQuotedFilled(t *testing.T) {
	const sent = 10
	zeros := strings.Repeat("00", 100)
	b, err := hex.DecodeString("0b00163100200000" + "4500003c1c464000011140590a0000010a090909" + "10e1829a00284b0b" + zeros + "2000c819" + "0008010105dc1101")
	if err != nil {
		t.Fatal(err)
	}
	e, err := icmp.Parse(b, false)
	if err != nil || len(e.Extensions.Labels) != 1 {
		t.Fatalf("%+v, %v; want a label", e, err)
	}
	f := traceFlows()[0]
	if id, ok := f.quoted(e.Quote, sent); id != 3 || !ok {
		t.Errorf("taken for probe %d, %v; want 3", id, ok)
	}
	payload := b[len(b)-len(zeros)/2-12:] // which the error queue of an old kernel leaves with the extensions
	for port, want := range map[uint16]struct {
		id           int
		nameless, ok bool
	}{f.to.Port(): {nameless: true}, f.distinctPort(3): {id: 3, ok: true}} {
		id, nameless, ok := f.queued(sock.ICMPError{To: netip.AddrPortFrom(f.to.Addr(), port), Quoted: payload}, sent)
		if id != want.id || nameless != want.nameless || ok != want.ok {
			t.Errorf("in the error queue, to port %d: %d %v %v, want %+v", port, id, nameless, ok, want)
		}
	}
}

func TestTraceQueued(t *testing.T) {
	const sent = 10
	for _, f := range traceFlows() {
		if f.protocol == traceTCP {
			continue // each connection has a queue of its own
		}
		payload := f.request(4)
		for _, c := range []struct {
			name               string
			e                  sock.ICMPError
			id                 int
			udpOK, udpNameless bool
			icmpOK             bool
		}{
			{"whole", sock.ICMPError{To: f.to, Quoted: payload}, 4, true, false, true},
			{"with a port of its own", sock.ICMPError{To: netip.AddrPortFrom(f.to.Addr(), f.distinctPort(4)), Quoted: payload}, 4, true, false, true},
			{"with a port of its own alone", sock.ICMPError{To: netip.AddrPortFrom(f.to.Addr(), f.distinctPort(4))}, 4, true, false, false},
			{"nothing quoted", sock.ICMPError{To: f.to}, 0, false, true, false},
			{"another port", sock.ICMPError{To: netip.AddrPortFrom(f.to.Addr(), 53), Quoted: payload}, 0, false, false, true},
			{"another target", sock.ICMPError{To: netip.MustParseAddrPort("10.6.6.6:33434"), Quoted: payload}, 4, true, false, true},
			{"another target, nothing of ours", sock.ICMPError{To: netip.MustParseAddrPort("10.6.6.6:33434"), Quoted: []byte("not a probe of this trace")}, 0, false, false, false},
			{"another target alone", sock.ICMPError{To: netip.MustParseAddrPort("10.6.6.6:33434")}, 0, false, false, false},
			{"not sent yet", sock.ICMPError{To: f.to, Quoted: f.request(sent)}, 0, false, false, false},
		} {
			if f.to.Addr().Is6() && c.e.To.Addr().Is4() {
				c.e.To = netip.AddrPortFrom(netip.MustParseAddr("2001:db8::6"), c.e.To.Port())
			}
			id, nameless, ok := f.queued(c.e, sent)
			wantOK, wantNameless := c.udpOK, c.udpNameless
			if f.protocol == traceICMP {
				wantOK, wantNameless = c.icmpOK, false
			}
			if ok != wantOK || nameless != wantNameless || ok && id != 4 {
				t.Errorf("%s to %s, %s: %d %v %v", f.protocol, f.to, c.name, id, nameless, ok)
			}
		}
	}
}

func TestTraceAnswered(t *testing.T) {
	const sent = 10
	for _, f := range traceFlows() {
		answers := map[string][]byte{"": f.request(4)}
		switch f.protocol {
		case traceICMP:
			e, _ := parseEcho(f.request(4), f.to.Addr().Is6())
			reply := e.marshal(f.to.Addr().Is6())
			if reply[0] = echoReply4; f.to.Addr().Is6() {
				reply[0] = echoReply6
			}
			answers = map[string][]byte{"echo reply": reply}
		case traceTCP:
			s := segment{from: f.to.Port(), to: f.from.Port(), ack: f.base() + 5, flags: flagACK | flagSYN}
			answers = map[string][]byte{"SYN ACK": s.marshal(f.to.Addr(), f.from.Addr())}
			s.flags = flagACK | flagRST
			answers["RST"] = s.marshal(f.to.Addr(), f.from.Addr())
		default:
			answers = map[string][]byte{"UDP reply": f.request(4)}
		}
		for how, packet := range answers {
			if id, got, ok := f.answered(packet, f.to, sent); id != 4 || got != how || !ok {
				t.Errorf("%s from %s: %d %q %v, want %q", f.protocol, f.to, id, got, ok, how)
			}
			if _, _, ok := f.answered(packet, netip.MustParseAddrPort("10.6.6.6:33434"), sent); ok {
				t.Errorf("%s: an answer of a stranger counts", f.protocol)
			}
			if _, _, ok := f.answered(packet, f.to, 4); ok && f.protocol != traceUDP {
				t.Errorf("%s from %s: an answer to a probe that was not sent counts", f.protocol, f.to)
			}
		}
		if _, _, ok := f.answered(f.request(4), f.to, sent); ok && f.protocol != traceUDP {
			t.Errorf("%s from %s: a probe counts as its answer", f.protocol, f.to)
		}
	}
	udp := traceFlows()[0]
	if id, _, ok := udp.answered([]byte("who?"), udp.to, sent); id != -1 || !ok {
		t.Errorf("a UDP packet that says nothing of ours: %d %v; want an answer to nothing in particular", id, ok)
	}
	if _, _, ok := udp.answered([]byte("who?"), netip.AddrPortFrom(udp.to.Addr(), 53), sent); ok {
		t.Error("a UDP packet from a port that was not asked counts")
	}
}

// The checksum of UDP alone tells which probe it is of, whatever the number.
func TestTraceByChecksum(t *testing.T) {
	for _, f := range traceFlows()[:2] {
		for id := 0; id < 1<<16-1; id += 13 {
			port := uint16(33434 + id%7)
			if got := f.byChecksum(f.checksum(id, port), port); got != id {
				t.Fatalf("from %s: probe %d is taken for %d", f.from, id, got)
			}
		}
		if got := f.byChecksum(f.checksum(4, 33434)^0x40, 33434); got >= 0 && got < 10 {
			t.Errorf("from %s: a checksum of no probe is taken for that of %d", f.from, got)
		}
	}
}

// The error queue tells extensions apart from the quote; those of routers from before RFC 4884 stand behind its 128 bytes.
func TestTraceExtensions(t *testing.T) {
	extensions := []byte{0x20, 0, 0, 0, 0, 8, 1, 1, 0, 1, 0x11, 1}
	binary.BigEndian.PutUint16(extensions[2:], icmp.Checksum(extensions))
	want := []icmp.Label{{Label: 17, Bottom: true, TTL: 1}}
	for _, f := range traceFlows() {
		before := ipHeader(f.to.Addr())
		if f.protocol == traceUDP {
			before += udpHeader
		}
		old := append(make([]byte, 128-before), extensions...)
		for name, e := range map[string]sock.ICMPError{"told": {Quoted: []byte("quote"), Extensions: extensions}, "old": {Quoted: old}} {
			if diff := cmp.Diff(icmp.Extensions{Labels: want}, f.extensionsOf(e)); diff != "" {
				t.Errorf("%s to %s, %s (-want +got)\n%s", f.protocol, f.to, name, diff)
			}
		}
		old[len(old)-1] ^= 1 // what lies there may be anything
		for _, quoted := range [][]byte{old, old[:20], nil} {
			if diff := cmp.Diff(icmp.Extensions{}, f.extensionsOf(sock.ICMPError{Quoted: quoted})); diff != "" {
				t.Errorf("%s to %s: %d bytes (-want +got)\n%s", f.protocol, f.to, len(quoted), diff)
			}
		}
	}
}

func FuzzTraceQuoted(f *testing.F) {
	flows := traceFlows()
	for _, flow := range flows {
		q := flow.quote(3, 0, flow.to.Port())
		f.Add(q.Transport, q.Protocol)
	}
	f.Fuzz(func(t *testing.T, transport []byte, protocol uint8) {
		for _, flow := range flows {
			q := icmp.Quote{IPv6: flow.to.Addr().Is6(), From: flow.from.Addr(), To: flow.to.Addr(), Protocol: protocol, Transport: transport}
			if id, ok := flow.quoted(q, 10); ok && (id < 0 || id >= 10) {
				t.Errorf("%s: probe %d of 10", flow.protocol, id)
			}
			if id, _, ok := flow.answered(transport, flow.to, 10); ok && (id < -1 || id >= 10) {
				t.Errorf("%s: probe %d of 10 answered", flow.protocol, id)
			}
			if id, _, ok := flow.queued(sock.ICMPError{To: flow.to, Quoted: transport}, 10); ok && (id < 0 || id >= 10) {
				t.Errorf("%s: probe %d of 10 queued", flow.protocol, id)
			}
			q.From = flow.to.Addr() // as a translator may leave it
			if id, ok := flow.quoted(q, 10); ok && (id < 0 || id >= 10 || flow.translated(q, id) == "") {
				t.Errorf("%s: probe %d of 10 from another source", flow.protocol, id)
			}
		}
	})
}
