package lookup

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// questions counts what a server was asked.
type questions struct {
	atomic.Int64
	first chan struct{} // closed with the first
}

// nameServer answers on loopback from a table by "TYPE name"; what is not in it does not exist, and "silence" is never answered.
func nameServer(t *testing.T, records map[string][]string) (address string, asked *questions) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	asked = &questions{first: make(chan struct{})}
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if asked.Add(1) == 1 {
				close(asked.first)
			}
			if answer := respond(b[:n], records); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return conn.LocalAddr().String(), asked
}

// respond makes the answer to a question (RFC 1035, section 4).
func respond(q []byte, records map[string][]string) []byte {
	var labels []string
	at := 12
	for q[at] != 0 {
		labels = append(labels, string(q[at+1:at+1+int(q[at])]))
		at += 1 + int(q[at])
	}
	kind := binary.BigEndian.Uint16(q[at+1:])
	key := map[uint16]string{12: "PTR ", 16: "TXT "}[kind] + strings.Join(labels, ".")
	values := records[key]
	if len(values) == 1 && values[0] == "silence" {
		return nil
	}
	answer := append([]byte(nil), q[:at+5]...)
	answer[2], answer[3] = 0x84, 0 // an authoritative answer
	if values == nil {
		answer[3] = 3 // no such name
	}
	clear(answer[6:12])
	binary.BigEndian.PutUint16(answer[6:], uint16(len(values)))
	for _, v := range values {
		data := append([]byte{byte(len(v))}, v...)
		if kind == 12 {
			data = nil
			for _, label := range strings.Split(v, ".") {
				data = append(append(data, byte(len(label))), label...)
			}
			data = append(data, 0)
		}
		answer = append(answer, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 60)
		answer = append(binary.BigEndian.AppendUint16(answer, uint16(len(data))), data...)
	}
	return answer
}

func TestAll(t *testing.T) {
	server, _ := nameServer(t, map[string][]string{
		"PTR 1.2.0.192.in-addr.arpa":   {"r1.example.net"},
		"TXT 9.113.0.203.origin.test":  {"64500 | 203.0.0.0/16 | FR | ripencc | 2001-01-01", "64501 64502 | 203.0.113.0/24 | CH | ripencc | 2002-02-02"},
		"TXT 10.113.0.203.origin.test": {"nonsense", "64500 | x | FR"},
		"TXT AS64501.as.test":          {"64501 | CH | ripencc | 2001-01-01 | EXAMPLE | and more\x07, CH"},
		"TXT 8." + strings.Repeat("0.", 23) + "8.b.d.0.1.0.0.2.origin6.test": {"64510 | 2001:db8::/32 | DE | ripencc | 2001-01-01"},
	})
	dns, err := NewDNS(server)
	if err != nil {
		t.Fatal(err)
	}
	asns, err := ReadASNs(strings.NewReader("192.0.2.0/24\t64520\n"))
	if err != nil {
		t.Fatal(err)
	}
	owners, err := ReadOwners(strings.NewReader("inetnum: 192.0.2.0 - 192.0.2.255\ndescr: Example University\ncountry: CH\n"))
	if err != nil {
		t.Fatal(err)
	}
	var addresses []netip.Addr
	for _, a := range []string{"192.0.2.1", "192.0.2.1", "203.0.113.9", "203.0.113.10", "10.0.0.1", "2001:db8::8"} {
		addresses = append(addresses, netip.MustParseAddr(a))
	}
	prefix := netip.MustParsePrefix
	local := map[netip.Addr]Info{addresses[0]: {ASN: 64520, Prefix: prefix("192.0.2.0/24"), Owner: "Example University", Country: "CH"}}
	all := map[netip.Addr]Info{
		addresses[0]: {Name: "r1.example.net", ASN: 64520, Prefix: prefix("192.0.2.0/24"), Owner: "Example University", Country: "CH"},
		addresses[2]: {ASN: 64501, ASName: "EXAMPLE | and more, CH", Prefix: prefix("203.0.113.0/24"), Country: "CH"},
		addresses[5]: {ASN: 64510, Prefix: prefix("2001:db8::/32"), Country: "DE"},
	}
	files := Sources{ASNs: asns, Owners: owners}
	if d := cmp.Diff(local, allAnswered(t, files, addresses), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" {
		t.Errorf("files alone (-want +got):\n%s", d)
	}
	asking := Sources{ASNs: asns, Owners: owners, DNS: dns, Zones: &Zones{"origin.test", "origin6.test", "as.test."}}
	if d := cmp.Diff(all[addresses[2]], allAnswered(t, asking, addresses)[addresses[2]], cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" {
		t.Errorf("by DNS (-want +got):\n%s", d)
	}
	asking.Names = true
	asking.Zones.AS = "as.test"
	began := time.Now()
	got := allAnswered(t, asking, []netip.Addr{addresses[0], addresses[5], addresses[3], addresses[4]})
	if took := time.Since(began); took > MostTime {
		t.Errorf("four addresses took %v", took)
	}
	delete(all, addresses[2])
	if d := cmp.Diff(all, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" {
		t.Errorf("with names (-want +got):\n%s", d)
	}
}

// allAnswered looks addresses up where every question is answered.
func allAnswered(t *testing.T, s Sources, addresses []netip.Addr) map[netip.Addr]Info {
	t.Helper()
	all, unanswered := s.All(context.Background(), addresses)
	if unanswered != 0 {
		t.Errorf("%d addresses are unanswered", unanswered)
	}
	return all
}

// A server that does not answer holds nobody up for longer than the limit, or than the caller cares; and neither does one that is not there. How many addresses
// they leave unanswered is said, and what files tell stays.
func TestSilentServer(t *testing.T) {
	silent, asked := nameServer(t, map[string][]string{"PTR 1.2.0.192.in-addr.arpa": {"silence"}, "TXT 9.113.0.203.origin.test": {"silence"}})
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	one, two, three := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("203.0.113.9"), netip.MustParseAddr("192.0.2.3")
	for server, want := range map[string]int{silent: 2, closed.LocalAddr().String(): 3} {
		dns, err := NewDNS(server)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		s := Sources{Hosts: map[netip.Addr]string{two: "two"}, DNS: dns, Names: true, Zones: &Zones{V4: "origin.test"}}
		got, unanswered := s.All(ctx, []netip.Addr{one, two, three})
		if took := time.Since(began); took > MostTime || server == silent && asked.Load() == 0 {
			t.Errorf("%s: %v after %v, and %d questions", server, got, took, asked.Load())
		}
		if d := cmp.Diff(map[netip.Addr]Info{two: {Name: "two"}}, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" || unanswered != want {
			t.Errorf("%s: %d are unanswered, want %d (-want +got):\n%s", server, unanswered, want, d)
		}
	}
}

// A private address is asked of no zone.
func TestPrivate(t *testing.T) {
	server, asked := nameServer(t, nil)
	dns, err := NewDNS(server)
	if err != nil {
		t.Fatal(err)
	}
	zones := ZonesBelow(CymruZone)
	allAnswered(t, Sources{DNS: dns, Zones: &zones}, []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fe80::1")})
	if d := cmp.Diff(Zones{"origin.asn.cymru.com", "origin6.asn.cymru.com", "asn.cymru.com"}, zones); d != "" {
		t.Errorf("zones (-want +got):\n%s", d)
	}
	if asked.Load() != 0 {
		t.Errorf("%d questions about private addresses", asked.Load())
	}
	for _, server := range []string{"192.0.2.1", "192.0.2.1:0"} {
		if _, err := NewDNS(server); err == nil || err.Error() != `name server "`+server+`": want an address with a port, such as 192.0.2.1:53` {
			t.Errorf("a server without a port: %v", err)
		}
	}
}

func FuzzOrigin(f *testing.F) {
	f.Add("64501 64502 | 203.0.113.0/24 | CH | ripencc | 2002-02-02")
	f.Fuzz(func(t *testing.T, record string) {
		if info, ok := parseOrigin(record); ok && (info.ASN == 0 || !info.Prefix.IsValid()) {
			t.Fatalf("%q: %+v", record, info)
		}
		if text := printable(record); strings.ContainsAny(text, "\x1b\x07\n\u009b") || len([]rune(text)) > 100 {
			t.Fatalf("%q stays", text)
		}
	})
}
