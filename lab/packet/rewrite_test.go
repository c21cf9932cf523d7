package packet

import (
	"bytes"
	"math/bits"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var ends = netip.AddrPortFrom

// changes are all that may be done to a packet in place. Each is given random addresses of the packet's family.
var changes = map[string]func(p *Packet, to netip.AddrPort, n uint64){
	"source":     func(p *Packet, to netip.AddrPort, n uint64) { p.Rewrite(true, to) },
	"target":     func(p *Packet, to netip.AddrPort, n uint64) { p.Rewrite(false, to) },
	"quoted":     func(p *Packet, to netip.AddrPort, n uint64) { p.RewriteQuoted(n&1 == 0, to) },
	"sack":       func(p *Packet, to netip.AddrPort, n uint64) { p.StripOption(OptionSACKPermitted) },
	"timestamps": func(p *Packet, to netip.AddrPort, n uint64) { p.StripOption(OptionTimestamps) },
	"scale":      func(p *Packet, to netip.AddrPort, n uint64) { p.StripOption(OptionWindowScale) },
	"mss":        func(p *Packet, to netip.AddrPort, n uint64) { p.ClampMSS(uint16(n)) },
	"hidden bit": func(p *Packet, to netip.AddrPort, n uint64) { p.FlipBit(n, true) },
}

// TestChangesKeepChecksumsRight does every change to every sample, with a full checksum and with one left to the
// adapter.
func TestChangesKeepChecksumsRight(t *testing.T) {
	var pool Pool
	r := newRand()
	for _, s := range samples() {
		field, _, _ := transportParts(s.data, s.at)
		for name, change := range changes {
			for round := range 400 {
				p := packetOf(&pool, s.data)
				if partial := round%2 == 1; partial && field >= 0 {
					leftUndone(p, s.at)
				}
				address := netip.AddrFrom4([4]byte(random(r, 4)))
				if s.data[0]>>4 == 6 {
					address = netip.AddrFrom16([16]byte(random(r, 16)))
				}
				change(p, ends(address, uint16(r.Uint32())), r.Uint64())
				p.Finish()
				if !verifies(p.Data) {
					t.Fatalf("%s, %s, round %d: a checksum is wrong", s.name, name, round)
				}
				if inner, ok := Quoted(p.Data); ok && name == "quoted" && !verifies(inner) {
					t.Fatalf("%s: the quoted packet's checksum is wrong", s.name)
				}
				pool.Put(p)
			}
		}
	}
}

func TestRewriteKeys(t *testing.T) {
	var pool Pool
	for _, s := range samples() {
		before := KeyOf(s.data)
		to := ends(left4.Next(), 999)
		if before.Version == 6 {
			to = ends(left6.Next(), 999)
		}
		ported := before.SourcePort != 0
		for _, source := range []bool{true, false} {
			p := packetOf(&pool, s.data)
			p.Rewrite(source, to)
			want := before
			if source {
				want.Source = [16]byte{}
				copy(want.Source[:], to.Addr().AsSlice())
				if ported {
					want.SourcePort = 999
				}
			} else {
				want.Target = [16]byte{}
				copy(want.Target[:], to.Addr().AsSlice())
				if ported && before.TargetPort != 0 {
					want.TargetPort = 999
				}
			}
			if d := cmp.Diff(want, KeyOf(p.Data)); d != "" {
				t.Errorf("%s, source %v (-want +got)\n%s", s.name, source, d)
			}
		}
		other := packetOf(&pool, s.data)
		other.Rewrite(true, ends(map[byte]netip.Addr{4: left6, 6: left4}[before.Version], 1))
		if !bytes.Equal(other.Data, s.data) {
			t.Errorf("%s: an address of the other family changed it", s.name)
		}
	}
}

// TestEchoThroughATranslator: the reply's identifier is put back.
func TestEchoThroughATranslator(t *testing.T) {
	p := packetOf(new(Pool), find(t, "echo4"))
	inside := KeyOf(p.Data)
	p.Rewrite(true, ends(netip.MustParseAddr("192.0.2.9"), 4321))
	if k := KeyOf(p.Data); k.SourcePort != 4321 {
		t.Errorf("outside %v", k)
	}
	EchoReply(p.Data)
	p.Rewrite(false, ends(left4, inside.SourcePort))
	if d := cmp.Diff(inside.Reverse(), KeyOf(p.Data)); d != "" || !verifies(p.Data) {
		t.Error(d)
	}
}

func TestFlipBit(t *testing.T) {
	var pool Pool
	r := newRand()
	for _, s := range samples() {
		field, _, _ := transportParts(s.data, s.at)
		for range 500 {
			p := packetOf(&pool, s.data)
			if field >= 0 && r.IntN(2) == 0 {
				leftUndone(p, s.at)
			}
			if !p.FlipBit(r.Uint64(), false) || !p.Spoilt {
				t.Fatalf("%s: nothing flipped", s.name)
			}
			if got := differing(s.data, p.Data); got != 1 || field >= 0 && verifies(p.Data) {
				t.Fatalf("%s: %d bits flipped; verifies: %v", s.name, got, verifies(p.Data))
			}
			hidden := packetOf(&pool, s.data)
			hidden.FlipBit(r.Uint64(), true)
			if field >= 0 { // without the bits of the checksum that was mended
				copy(hidden.Data[s.at+field:], s.data[s.at+field:s.at+field+2])
			}
			if got := differing(s.data, hidden.Data); got != 1 {
				t.Fatalf("%s: %d bits flipped and hidden", s.name, got)
			}
			pool.Put(p)
			pool.Put(hidden)
		}
	}
	if bare := packetOf(&pool, ip(left4, right4, 47, nil, 0, nil)); bare.FlipBit(1, false) || bare.Spoilt {
		t.Error("a bit of nothing flipped")
	}
}

// Every bit that is flipped and hidden in a datagram without payload leaves it one that hosts take.
func TestFlipBitOfEmptyDatagram(t *testing.T) {
	for _, data := range [][]byte{make([]byte, v4MinHeader+udpHeader), make([]byte, v6Header+udpHeader)} {
		source, target := ends(left4, 9), ends(right4, 5001)
		if len(data) > v4MinHeader+udpHeader {
			source, target = ends(left6, 9), ends(right6, 5001)
		}
		UDP(data, source, target, 0, 64)
		at := len(data) - udpHeader
		for bit := range uint64(8 * udpHeader) {
			p := &Packet{Data: bytes.Clone(data)}
			p.FlipBit(bit, true)
			if length := be.Uint16(p.Data[at+udpLength:]); length != udpHeader || differing(data[:at+udpLength], p.Data[:at+udpLength]) != 1 ||
				!verifies(p.Data) {
				t.Errorf("bit %d: length %d, verifies %v:\n% x\n% x", bit, length, verifies(p.Data), data, p.Data)
			}
		}
	}
}

func differing(a, b []byte) int {
	n := 0
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

func find(t testing.TB, name string) []byte {
	for _, s := range samples() {
		if s.name == name {
			return bytes.Clone(s.data)
		}
	}
	t.Fatalf("no sample %s", name)
	return nil
}

func TestOptions(t *testing.T) {
	var pool Pool
	odd := []byte{1, 2, 4, 5, 0xb4, 4, 2, 0} // at an odd offset
	for _, c := range []struct {
		name    string
		options []byte
		change  func(p *Packet) bool
		want    []byte
		changed bool
	}{
		{"strip SACK", synOptions, func(p *Packet) bool { return p.StripOption(OptionSACKPermitted) },
			[]byte{2, 4, 5, 0xb4, 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7}, true},
		{"strip scale", synOptions, func(p *Packet) bool { return p.StripOption(OptionWindowScale) },
			[]byte{2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1}, true},
		{"strip twice", []byte{4, 2, 1, 4, 2, 1, 1, 0}, func(p *Packet) bool { return p.StripOption(OptionSACKPermitted) },
			[]byte{1, 1, 1, 1, 1, 1, 1, 0}, true},
		{"strip what is not there", synOptions, func(p *Packet) bool { return p.StripOption(30) }, synOptions, false},
		{"behind the end", []byte{0, 4, 2, 1}, func(p *Packet) bool { return p.StripOption(OptionSACKPermitted) },
			[]byte{0, 4, 2, 1}, false},
		{"malformed", []byte{8, 1, 4, 2}, func(p *Packet) bool { return p.StripOption(OptionSACKPermitted) },
			[]byte{8, 1, 4, 2}, false},
		{"too long", []byte{8, 10, 4, 2}, func(p *Packet) bool { return p.StripOption(OptionTimestamps) },
			[]byte{8, 10, 4, 2}, false},
		{"clamp", odd, func(p *Packet) bool { return p.ClampMSS(1200) }, []byte{1, 2, 4, 4, 0xb0, 4, 2, 0}, true},
		{"clamp what is less", odd, func(p *Packet) bool { return p.ClampMSS(1460) }, odd, false},
	} {
		p := packetOf(&pool, sealed(ip(left6, right6, 6, nil, 0, tcp(FlagSYN, c.options, nil)), 40))
		changed := c.change(p)
		if d := cmp.Diff(c.want, p.Data[60:]); d != "" || changed != c.changed || !verifies(p.Data) {
			t.Errorf("%s: %v, verifies %v (-want +got)\n%s", c.name, changed, verifies(p.Data), d)
		}
	}
	data := packetOf(&pool, sealed(ip(left4, right4, 6, nil, 0, tcp(FlagACK, odd, nil)), 20))
	if data.ClampMSS(500) {
		t.Error("the MSS of a packet that is no SYN was clamped")
	}
	if flags, ok := TCPFlags(data.Data); flags != FlagACK || !ok {
		t.Errorf("flags %#x, %v", flags, ok)
	}
}

func TestUDP(t *testing.T) {
	for _, c := range []struct {
		source, target netip.Addr
		want           string
	}{
		{left4, right4, "udp 10.0.0.1:9 > 10.0.2.2:5001 1172 bytes"},
		{left6, right6, "udp [2001:db8::1]:9 > [2001:db8:0:2::2]:5001 1152 bytes"},
	} {
		b := random(newRand(), 1200)
		UDP(b, ends(c.source, 9), ends(c.target, 5001), 46, 17)
		if got := describe(b); got != c.want || !verifies(b) || DSCP(b) != 46 || HopLimit(b) != 17 || ECN(b) != 0 {
			t.Errorf("%s, DSCP %d, hop limit %d, verifies %v; want %s", got, DSCP(b), HopLimit(b), verifies(b), c.want)
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	p := packetOf(new(Pool), find(b, "tcp4"))
	to := ends(right4, 1234)
	b.ReportAllocs()
	for b.Loop() {
		p.Rewrite(true, to)
	}
}

func BenchmarkUDP1500(b *testing.B) {
	data := make([]byte, 1500)
	b.ReportAllocs()
	for b.Loop() {
		UDP(data, ends(left4, 1), ends(right4, 2), 0, 64)
	}
}
