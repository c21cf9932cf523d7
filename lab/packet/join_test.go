package packet

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// datagram makes a whole UDP packet with so much payload, each byte of it n.
func datagram(from, to string, payload int, n byte) *Packet {
	a, b := netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	p := &Packet{Data: make([]byte, minHeader(a.Addr())+udpHeader+payload)}
	for i := range p.Data {
		p.Data[i] = n
	}
	UDP(p.Data, a, b, 0, 64)
	return p
}

func TestJoinable(t *testing.T) {
	const a4, b4, a6, b6 = "10.0.0.1:1000", "10.0.0.2:2000", "[fd00::1]:1000", "[fd00::2]:2000"
	same := func(payloads ...int) (list []*Packet) {
		for i, size := range payloads {
			list = append(list, datagram(a4, b4, size, byte(i)))
		}
		return list
	}
	changed := func(change func(*Packet)) []*Packet {
		list := same(100, 100, 100)
		change(list[1])
		return list
	}
	for _, test := range []struct {
		name string
		list []*Packet
		want int
	}{
		{"one", same(100), 1},
		{"alike", same(100, 100, 100), 3},
		{"the last is shorter", same(100, 100, 40, 100), 3},
		{"longer", same(100, 101), 1},
		{"empty", same(0, 0), 1},
		{"more than an IP packet holds", same(30000, 30000, 30000), 2},
		{"IPv6", []*Packet{datagram(a6, b6, 100, 1), datagram(a6, b6, 100, 2)}, 2},
		{"IPv4 and IPv6", []*Packet{datagram(a4, b4, 100, 1), datagram(a6, b6, 80, 2)}, 1},
		{"another port", []*Packet{datagram(a4, b4, 100, 1), datagram(a4, "10.0.0.2:2001", 100, 2)}, 1},
		{"another address", []*Packet{datagram(a4, b4, 100, 1), datagram("10.0.0.3:1000", b4, 100, 2)}, 1},
		{"another class", changed(func(p *Packet) { SetDSCP(p.Data, 46) }), 1},
		{"another hop limit", changed(func(p *Packet) { Hop(p.Data) }), 1},
		{"another identification", changed(func(p *Packet) { be.PutUint16(p.Data[v4ID:], 7); sealV4(p.Data) }), 3},
		{"a fragment", changed(func(p *Packet) { be.PutUint16(p.Data[v4Fragment:], moreToCome); sealV4(p.Data) }), 1},
		{"a bit turned in the payload", changed(func(p *Packet) { p.Data[60] ^= 4 }), 1},
		{"a bit turned in the header", changed(func(p *Packet) { p.Data[v4ID] ^= 4 }), 1},
		{"a bit turned in the first", same(100, 100), 2},
		{"no checksum", changed(func(p *Packet) { be.PutUint16(p.Data[v4MinHeader+udpChecksum:], 0) }), 1},
		{"a super-packet", changed(func(p *Packet) { p.VNet = VNet{Kind: GSOUDP, SegmentSize: 50} }), 1},
	} {
		if test.name == "a bit turned in the first" {
			test.list[0].Data[60] ^= 4
			test.want = 1
		}
		if got := Joinable(test.list); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// What is joined comes apart as it was.
func TestJoinIsSplitBack(t *testing.T) {
	for _, ends := range [][2]string{{"10.0.0.1:1000", "10.0.0.2:2000"}, {"[fd00::1]:1000", "[fd00::2]:2000"}} {
		var list []*Packet
		for i, payload := range []int{500, 500, 500, 77} {
			p := datagram(ends[0], ends[1], payload, byte(i))
			if Version(p.Data) == 4 { // as a kernel numbers what it cuts
				be.PutUint16(p.Data[v4ID:], uint16(i))
				sealV4(p.Data)
			}
			list = append(list, p)
		}
		if n := Joinable(list); n != len(list) {
			t.Fatalf("%d of %d are joinable", n, len(list))
		}
		head := make([]byte, MaxJoinHead)
		n, v := JoinHead(head, list)
		whole := &Packet{Data: bytes.Clone(head[:n]), VNet: v}
		for _, p := range list {
			whole.Data = append(whole.Data, p.Data[n:]...)
		}
		var got, want [][]byte
		(&Pool{}).Split(whole, func(p *Packet) { got = append(got, p.Data) })
		for _, p := range list {
			want = append(want, p.Data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-sent +got):\n%s", ends[0], diff)
		}
	}
}

func BenchmarkJoinable(b *testing.B) {
	var list []*Packet
	for i := range 16 {
		list = append(list, datagram("10.0.0.1:1000", "10.0.0.2:2000", 1472, byte(i)))
	}
	for b.Loop() {
		Joinable(list)
	}
}
