package icmp

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// message builds an ICMP message by hand: a header of type, code and second word, a quote, and extensions.
func message(kind, code byte, second uint32, quote, extensions []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{kind, code, 0, 0}, second)
	b = append(append(b, quote...), extensions...)
	sealAt(b)
	return b
}

func sealAt(b []byte) {
	b[2], b[3] = 0, 0
	binary.BigEndian.PutUint16(b[2:], Checksum(b))
}

func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	// A UDP packet of 60 bytes from 10.0.0.1:4321 to 10.9.9.9:33434 with DSCP 46, ECN 1 and one hop left, and its first 4 bytes of payload.
	quoted4 = "45b9 003c abcd 4000 0111 0000 0a000001 0a090909 10e1 829a 0028 beef 01020304"
	// A TCP SYN from [2001:db8::1]:4321 to [2001:db8::9]:443 with DSCP 8 and a flow label, behind options for each hop.
	quoted6 = "620a bcde 001c 00 01 20010db8000000000000000000000001 20010db8000000000000000000000009 0600 000000000000 10e1 01bb 00000007 00000000 5002 faf0 0000 0000"
	labels  = "2000 0000 000c 0101 05db6e01 00011101" // 24 bits of header, then 23990 in class 7, and 17 in class 0 at the bottom
	// Interface 5, 10.1.2.3, "ge-0/0/1", MTU 9000, by which the packet came; and the next hop 2001:db8::2.
	interfaces = "2000 0000 0020 020f 00000005 0001 0000 0a010203 0c 67652d302f302f31 000000 00002328 0018 02c4 0002 0000 20010db8000000000000000000000002"
)

func TestParse(t *testing.T) {
	four := Quote{From: netip.MustParseAddr("10.0.0.1"), To: netip.MustParseAddr("10.9.9.9"), TTL: 1, DSCP: 46, ECN: 1, ID: 0xabcd,
		Length: 60, Protocol: ProtocolUDP, DontFragment: true, Transport: bytesOf(t, "10e1829a0028beef01020304")}
	padded := four
	padded.Length, padded.Transport = 32, four.Transport
	six := Quote{IPv6: true, From: netip.MustParseAddr("2001:db8::1"), To: netip.MustParseAddr("2001:db8::9"), TTL: 1, DSCP: 8, ECN: 0, Flow: 0xabcde,
		Length: 68, Protocol: ProtocolTCP, Transport: bytesOf(t, "10e101bb00000007000000005002faf000000000")}
	six.Flow = 0xabcde
	least6 := six
	least6.Transport = six.Transport[:8]
	q4, q6 := bytesOf(t, quoted4), bytesOf(t, quoted6)
	full := func(q []byte, n int) []byte { return append(q, make([]byte, n-len(q))...) }
	stack := []Label{{Label: 23990, Class: 7, TTL: 1}, {Label: 17, Bottom: true, TTL: 1}}
	short := append([]byte(nil), q4...)
	short[3] = 32 // the packet was no longer than what is quoted of it
	old := sealed4(bytesOf(t, labels))
	for _, c := range []struct {
		name string
		ipv6 bool
		b    []byte
		want Error
	}{
		{"time exceeded", false, message(11, 0, 0, q4, nil), Error{Type: 11, Quote: four}},
		{"needs fragments", false, message(3, 4, 1400, q4, nil), Error{Type: 3, Code: 4, MTU: 1400, Quote: four}},
		{"labels", false, message(11, 0, 32<<16, full(short, 128), bytesOf(t, labels)),
			Error{Type: 11, Quote: padded, Extensions: Extensions{Labels: stack}}},
		{"labels of an old router", false, message(11, 0, 0, full(short, 128), old),
			Error{Type: 11, Quote: padded, Extensions: Extensions{Labels: stack}}},
		{"a length that lies", false, message(11, 0, 200<<16, short, nil), Error{Type: 11, Quote: padded}},
		{"interfaces", true, message(3, 0, 10<<24, full(q6, 80), bytesOf(t, interfaces)), Error{IPv6: true, Type: 3, Quote: six,
			Extensions: Extensions{Interfaces: []Interface{
				{Role: Arrived, Index: 5, Address: netip.MustParseAddr("10.1.2.3"), Name: "ge-0/0/1", MTU: 9000},
				{Role: NextHop, Address: netip.MustParseAddr("2001:db8::2")}}}}},
		{"the least, filled up", true, message(3, 0, 10<<24, full(q6[:56:56], 80), bytesOf(t, interfaces)[:4]), Error{IPv6: true, Type: 3, Quote: least6}},
		{"packet too big", true, message(2, 0, 1280, q6, nil), Error{IPv6: true, Type: 2, MTU: 1280, Quote: six}},
	} {
		got, err := Parse(c.b, c.ipv6)
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", c.name, err, diff)
		}
	}
}

// sealed4 gives extensions their checksum.
func sealed4(b []byte) []byte { sealAt(b); return b }

func TestParseRefuses(t *testing.T) {
	spoilt := message(11, 0, 0, bytesOf(t, quoted4), nil)
	spoilt[len(spoilt)-1] ^= 1
	for _, c := range []struct {
		name string
		ipv6 bool
		b    []byte
		want error
	}{
		{"nothing", false, nil, errShort},
		{"an echo request", false, message(8, 0, 0, bytesOf(t, quoted4), nil), errNoError},
		{"a redirect", false, message(5, 0, 0, bytesOf(t, quoted4), nil), errNoError},
		{"an echo reply", true, message(129, 0, 0, bytesOf(t, quoted6), nil), errNoError},
		{"a wrong checksum", false, spoilt, errChecksum},
		{"no quote", false, message(11, 0, 0, bytesOf(t, quoted4)[:19], nil), errQuote},
		{"a header of 12 bytes", false, message(11, 0, 0, append([]byte{0x43}, bytesOf(t, quoted4)[1:]...), nil), errQuote},
	} {
		if _, err := Parse(c.b, c.ipv6); err != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	udp, err := ParseQuote(bytesOf(t, quoted4))
	from, to, ok := udp.Ports()
	length, checksum, payload, isUDP := udp.UDP()
	if err != nil || from != 4321 || to != 33434 || !ok || length != 40 || checksum != 0xbeef || len(payload) != 4 || !isUDP {
		t.Errorf("%v: ports %d %d %v, UDP %d %x %x %v", err, from, to, ok, length, checksum, payload, isUDP)
	}
	tcp, err := ParseQuote(bytesOf(t, quoted6))
	sequence, isTCP := tcp.Sequence()
	if _, to, ok = tcp.Ports(); err != nil || to != 443 || !ok || sequence != 7 || !isTCP {
		t.Errorf("%v: port %d %v, sequence %d %v", err, to, ok, sequence, isTCP)
	}
	echo := bytesOf(t, "4500001c00000000010100000a0000010a090909 0800 1234 0007 0009")
	ping, err := ParseQuote(echo)
	if id, seq, sum, ok := ping.Echo(); err != nil || id != 7 || seq != 9 || sum != 0x1234 || !ok {
		t.Errorf("%v: echo %d %d %x %v", err, id, seq, sum, ok)
	}
	echo[6], echo[7] = 0, 1 // a later fragment has no transport header
	if ping, err = ParseQuote(echo); err != nil || ping.Transport != nil {
		t.Errorf("later fragment: %v, transport %x", err, ping.Transport)
	}
	if _, _, _, ok := ping.Echo(); ok {
		t.Error("an echo in a later fragment")
	}
}

func TestExtensionFaults(t *testing.T) {
	wrong := sealed4(bytesOf(t, labels))
	wrong[len(wrong)-1] ^= 1
	one := []Label{{Label: 17, Bottom: true, TTL: 1}}
	for _, c := range []struct {
		name string
		b    []byte
		want Extensions
	}{
		{"wrong checksum", wrong, Extensions{Fault: "checksum of extensions is wrong"}},
		{"version 1", bytesOf(t, "1000 0000"), Extensions{Fault: "extensions have version 1, not 2"}},
		{"cut header", bytesOf(t, "2000"), Extensions{Fault: "extensions of 2 bytes are shorter than their header"}},
		{"object of nothing", bytesOf(t, "2000 0000 0000 0101"), Extensions{Fault: "extension object claims 0 bytes of 4"}},
		{"object too long", bytesOf(t, "2000 0000 0008 0101 00011101 0010 0201"),
			Extensions{Labels: one, Fault: "extension object claims 16 bytes of 4"}},
		{"crumbs", bytesOf(t, "2000 0000 0008 0101 00011101 00"), Extensions{Labels: one, Fault: "1 bytes behind the last extension object"}},
		{"interface cut short", bytesOf(t, "2000 0000 0008 020c 00000001"), Extensions{Fault: "interface object is cut short"}},
		{"interface cut short before a label", bytesOf(t, "2000 0000 0008 020c 00000001 0008 0101 00011101"), Extensions{Labels: one, Fault: "interface object is cut short"}},
		{"name that lies", bytesOf(t, "2000 0000 0008 0202 ff616200"), Extensions{Fault: "interface object is cut short"}},
		{"name with an escape", bytesOf(t, "2000 0000 0008 0202 041b6300"), Extensions{Interfaces: []Interface{{Name: "?c"}}}},
		{"another class", bytesOf(t, "2000 0000 0004 0301"), Extensions{Others: 1}},
	} {
		if diff := cmp.Diff(c.want, ParseExtensions(c.b), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestAnnotation(t *testing.T) {
	for _, c := range []struct {
		e    Error
		want string
	}{
		{Error{Type: 11}, ""}, {Error{Type: 3, Code: 3}, ""}, {Error{Type: 3, Code: 0}, "!N"}, {Error{Type: 3, Code: 1}, "!H"},
		{Error{Type: 3, Code: 2}, "!P"}, {Error{Type: 3, Code: 4, MTU: 1400}, "!F-1400"}, {Error{Type: 3, Code: 5}, "!S"},
		{Error{Type: 3, Code: 13}, "!X"}, {Error{Type: 3, Code: 14}, "!V"}, {Error{Type: 3, Code: 15}, "!C"},
		{Error{Type: 3, Code: 16}, "!<16>"}, {Error{Type: 11, Code: 1}, "!<11-1>"}, {Error{Type: 12}, "!<12-0>"},
		{Error{IPv6: true, Type: 3}, ""}, {Error{IPv6: true, Type: 1, Code: 4}, ""}, {Error{IPv6: true, Type: 1}, "!N"},
		{Error{IPv6: true, Type: 1, Code: 1}, "!X"}, {Error{IPv6: true, Type: 1, Code: 3}, "!H"}, {Error{IPv6: true, Type: 1, Code: 9}, "!<9>"},
		{Error{IPv6: true, Type: 2, MTU: 1280}, "!F-1280"}, {Error{IPv6: true, Type: 4, Code: 1}, "!P"},
	} {
		if got := c.e.Annotation(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.e, got, c.want)
		}
	}
}

// TestCaptured parses errors that a Linux 6.18 kernel made about probes of this program, as a raw socket read them.
func TestCaptured(t *testing.T) {
	for _, name := range []string{"port4.hex", "port6.hex"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		ipv6 := strings.Contains(name, "6")
		e, err := Parse(bytesOf(t, string(text)), ipv6)
		_, to, _ := e.Quote.Ports()
		_, _, payload, ok := e.Quote.UDP()
		if err != nil || !e.PortClosed() || e.Annotation() != "" || !e.Quote.To.IsLoopback() || to != 33434 || string(payload) != "a probe of pathwise" || !ok {
			t.Errorf("%s: %v, %+v", name, err, e)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(message(11, 0, 0, bytesOf(f, quoted4), nil), false)
	f.Add(message(3, 0, 10<<24, append(bytesOf(f, quoted6), make([]byte, 8)...), bytesOf(f, interfaces)), true)
	f.Add(message(11, 0, 32<<16, append(bytesOf(f, quoted4), make([]byte, 96)...), bytesOf(f, labels)), false)
	f.Fuzz(func(t *testing.T, b []byte, ipv6 bool) {
		if len(b) >= header && !ipv6 { // let the fuzzer past the checksum
			b = append([]byte(nil), b...)
			sealAt(b)
		}
		ParseExtensions(b)
		e, err := Parse(b, ipv6)
		if err != nil {
			return
		}
		e.Annotation()
		e.Quote.Ports()
		e.Quote.UDP()
		e.Quote.Sequence()
		e.Quote.Echo()
		if len(e.Quote.Transport) > len(b) {
			t.Errorf("a transport header of %d bytes in a message of %d", len(e.Quote.Transport), len(b))
		}
		for _, i := range e.Extensions.Interfaces {
			if len(i.Name) >= maxName || strings.ContainsFunc(i.Name, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("name %q", i.Name)
			}
		}
	})
}

// FuzzExtensions lets the fuzzer past version and checksum, to the objects: labels, and interfaces with their parts.
func FuzzExtensions(f *testing.F) {
	for _, seed := range []string{labels, interfaces} {
		f.Add(bytesOf(f, seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= extensionHeader {
			b = append([]byte(nil), b...)
			b[0], b[2], b[3] = extensionVersion<<4, 0, 0
		}
		e := ParseExtensions(b)
		if most := len(b) / 4; len(e.Labels) > most || len(e.Interfaces) > most || e.Others > most {
			t.Errorf("%d labels, %d interfaces and %d others in %d bytes", len(e.Labels), len(e.Interfaces), e.Others, len(b))
		}
		for _, l := range e.Labels {
			if l.Label >= 1<<20 || l.Class > 7 {
				t.Errorf("label %+v", l)
			}
		}
		for _, i := range e.Interfaces {
			if len(i.Name) >= maxName || strings.ContainsFunc(i.Name, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("name %q", i.Name)
			}
		}
		OldExtensions(b, 20)
	})
}

func BenchmarkParse(b *testing.B) {
	m := message(11, 0, 32<<16, append(bytesOf(b, quoted4), make([]byte, 96)...), bytesOf(b, labels))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(m, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	packet := make([]byte, 64)
	for b.Loop() {
		Checksum(packet)
	}
}
