package gateway

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

var (
	west, east   = address{2, 0, 0, 0, 0, 1}, address{2, 0, 0, 0, 0, 2} // stations
	ports2       = [2]address{{2, 0, 0, 0, 1, 1}, {2, 0, 0, 0, 1, 2}}   // the gateway's own
	westIP       = netip.MustParseAddrPort("10.9.0.1:1000")
	eastIP       = netip.MustParseAddrPort("10.9.0.2:2000")
	westIP6      = netip.MustParseAddrPort("[fd09::1]:1000")
	eastIP6      = netip.MustParseAddrPort("[fd09::2]:2000")
	plainHead    = head(east, west, 0x0800)
	taggedHead   = head(east, west, 0x8100, 0x6007, 0x0800)
	plainHead6   = head(east, west, 0x86dd)
	spanningTree = address{1, 0x80, 0xc2, 0, 0, 0}
	lldp         = address{1, 0x80, 0xc2, 0, 0, 0x0e}
)

// head is an Ethernet header.
func head(target, source address, words ...uint16) []byte {
	b := append(append([]byte{}, target[:]...), source[:]...)
	for _, w := range words {
		b = binary.BigEndian.AppendUint16(b, w)
	}
	return b
}

// udp is a UDP packet of so many bytes, payload counting from seed.
func udp(source, target netip.AddrPort, length int, seed byte) []byte {
	b := make([]byte, length, packet.SmallBuffer+2*length)
	for i := range b {
		b[i] = seed + byte(i)
	}
	packet.UDP(b, source, target, 0, 64)
	return b
}

// solicitation is an IPv6 neighbour solicitation, or what looks like one but for its hop limit.
func solicitation(hopLimit byte) []byte {
	b := udp(westIP6, eastIP6, 72, 0)
	b[6], b[7], b[40] = packet.ProtocolICMPv6, hopLimit, 135
	return b
}

// left is a frame that came out of a path.
type left struct {
	Iface   int
	Due     int64
	Frame   string // header and packet
	Counted bool
}

// bench is a path whose output is kept.
type bench struct {
	*path
	got []left
}

func newBench(t testing.TB, settings ...string) *bench {
	t.Helper()
	c, err := Config{Seed: 1}.With(settings...)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{}
	b.path = newPath(c, ports2, func(iface int, due int64, p *packet.Packet, counted bool) {
		b.got = append(b.got, left{iface, due, string(p.Frame[:p.FrameLength]) + string(p.Data), counted})
		b.pool.Put(p)
	})
	return b
}

// frame makes a packet with a header.
func (b *bench) frame(header, data []byte) *packet.Packet {
	p := b.pool.Get(len(data))
	copy(p.Data, data)
	p.FrameLength = uint8(copy(p.Frame[:], header))
	return p
}

// finish brings the path to its end, and returns what came out.
func (b *bench) finish() []left {
	for at, ok := b.due(); ok; at, ok = b.due() {
		b.advance(at)
	}
	return b.got
}

const ms = int64(1e6)

// TestFates: what crosses, what passes at once, what stays; the link loses all that is IP.
func TestFates(t *testing.T) {
	ip, ip6 := udp(westIP, eastIP, 60, 1), udp(westIP6, eastIP6, 80, 1)
	arp := bytes.Repeat([]byte{7}, 46)
	for _, c := range []struct {
		name         string
		header, data []byte
		delay        []int64 // when it comes out, on a link of 5 ms
		lost         bool    // on a link that loses all
	}{
		{"IPv4", plainHead, ip, []int64{5 * ms}, true},
		{"IPv6", plainHead6, ip6, []int64{5 * ms}, true},
		{"IPv4 in a VLAN", taggedHead, ip, []int64{5 * ms}, true},
		{"IPv6 in a provider's VLAN", head(east, west, 0x88a8, 9, 0x86dd), ip6, []int64{5 * ms}, true},
		{"neighbour discovery", plainHead6, solicitation(255), []int64{5 * ms}, false},
		{"forwarded neighbour discovery", plainHead6, solicitation(254), []int64{5 * ms}, true},
		{"ARP", head(east, west, 0x0806), arp, []int64{0}, false},
		{"two tags", taggedHead[:16:16], nil, []int64{0}, false},
		{"broken IP", plainHead, ip[:30], []int64{0}, false},
		{"IPv4 said to be empty", plainHead, nil, []int64{0}, false},
		{"spanning tree", head(spanningTree, west, 39), arp, []int64{0}, false},
		{"LLDP", head(lldp, west, 0x88cc), arp, nil, false},
		{"LLDP to the nearest bridge", head(spanningTree, west, 0x88cc), arp, nil, false},
		{"for the gateway's host", head(ports2[0], west, 0x0800), ip, nil, false},
		{"for the other interface's", head(ports2[1], west, 0x0800), ip, []int64{5 * ms}, true},
	} {
		if c.name == "two tags" {
			c.header = append(c.header, 0x81, 0x00)
			c.data = append([]byte{0, 8, 8, 0}, ip...)
		}
		for _, settings := range [][]string{{"delay=5ms"}, {"delay=5ms", "loss=100%"}} {
			b := newBench(t, settings...)
			b.arrive(0, 0, b.frame(c.header, c.data))
			var want []left
			if all := len(settings) == 2; !all || !c.lost {
				for _, at := range c.delay {
					want = append(want, left{1, at, string(c.header) + string(c.data), c.lost})
				}
			}
			if diff := cmp.Diff(want, b.finish()); diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", c.name, settings, diff)
			}
			if n := b.ways[0].link.Counts().Packets; n > 0 != c.lost {
				t.Errorf("%s: the truth counts %d", c.name, n)
			}
		}
	}
}

// Padding, which Ethernet adds to short frames, does not count as the packet's.
func TestPaddingIsCut(t *testing.T) {
	b := newBench(t)
	ip := udp(westIP, eastIP, 30, 1)
	b.arrive(0, 1, b.frame(plainHead, append(bytes.Clone(ip), make([]byte, 16)...)))
	if diff := cmp.Diff([]left{{0, 0, string(plainHead) + string(ip), true}}, b.finish()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := b.ways[1].link.Counts().Bytes; n != 30 {
		t.Errorf("the truth has %d bytes; want 30", n)
	}
}

// Copies, fragments and segments have the header of what they are made of.
func TestHeaderTravels(t *testing.T) {
	for _, c := range []struct {
		settings []string
		vnet     packet.VNet
		length   int
		frames   int
	}{
		{[]string{"duplicate=100%"}, packet.VNet{}, 500, 2},
		{[]string{"mtu={size: 576B, excess: fragment}"}, packet.VNet{}, 1500, 3},
		{[]string{"rate=10mbit"}, packet.VNet{Kind: packet.GSOUDP, SegmentSize: 1000}, 3000, 3},
		{[]string{"forward.loss={every: 2}"}, packet.VNet{Kind: packet.GSOUDP, SegmentSize: 1000}, 28 + 4000, 2},
	} {
		b := newBench(t, c.settings...)
		p := b.frame(taggedHead, udp(westIP, eastIP, c.length, 0))
		p.VNet = c.vnet
		b.arrive(0, 0, p)
		got := b.finish()
		for _, f := range got {
			if !strings.HasPrefix(f.Frame, string(taggedHead)) {
				t.Errorf("%v: header % x", c.settings, f.Frame[:taggedHeader])
			}
		}
		if len(got) != c.frames {
			t.Errorf("%v: %d frames; want %d", c.settings, len(got), c.frames)
		}
	}
}

// The ICMP error about what is too big goes back where the packet came from, in its VLAN, at once.
func TestComplaintGoesBack(t *testing.T) {
	b := newBench(t, "mtu=1000B", "delay=9ms")
	p := udp(westIP, eastIP, 1001, 0)
	binary.BigEndian.PutUint16(p[6:], 0x4000) // don't fragment
	b.arrive(3, 0, b.frame(taggedHead, p))
	got := b.finish()
	want := head(west, east, 0x8100, 0x6007, 0x0800)
	if len(got) != 1 || got[0].Iface != 0 || got[0].Due != 3 || !strings.HasPrefix(got[0].Frame, string(want)) {
		t.Fatalf("%+v; want one frame back, at once, that begins with % x", got, want)
	}
	reply := []byte(got[0].Frame[taggedHeader:])
	if packet.Source(reply) != eastIP.Addr() || packet.Target(reply) != westIP.Addr() || !packet.IsICMPError(reply) {
		t.Errorf("reply % x", reply)
	}
	if n := b.ways[0].tooBig; n != 1 {
		t.Errorf("%d too big; want 1", n)
	}
}

// The same seed and frames: the same fates. Another seed: others.
func TestSeedDecides(t *testing.T) {
	run := func(seed uint64) string {
		c, err := Config{Seed: seed}.With("loss=30%", "delay=5ms", "jitter=1ms")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		var p *path
		p = newPath(c, ports2, func(iface int, due int64, k *packet.Packet, _ bool) {
			fmt.Fprintln(&out, iface, due, k.Data[40])
			p.pool.Put(k)
		})
		b := &bench{path: p}
		for i := range 200 {
			p.arrive(int64(i)*ms, i%2, b.frame(plainHead, udp(westIP, eastIP, 100, byte(i))))
			p.advance(int64(i) * ms)
		}
		b.finish()
		return out.String()
	}
	first, again, other := run(1), run(1), run(2)
	if first != again {
		t.Error("the same seed: other fates")
	}
	if first == other {
		t.Error("another seed: the same fates")
	}
}

// Half duplex is one wire for both ways, switched on while running.
func TestSharedMedium(t *testing.T) {
	b := newBench(t)
	half, err := Config{}.With("rate=10mbit", "duplex=half")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.set(0, half.Forward, half.Reverse); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		b.arrive(0, i, b.frame(plainHead, udp(westIP, eastIP, 1500, 0)))
	}
	got := b.finish()
	// 1538 bytes at 10 Mbit/s are 1.23 ms: two at once collide, and the second to get through ends after the first.
	if len(got) != 2 || got[1].Due-got[0].Due < 1230_000 {
		t.Errorf("left at %+v; want one after the other", got)
	}
	if n := b.ways[0].link.Counts().Adapter.Collisions; n == 0 {
		t.Error("no collision")
	}
}

func FuzzArrive(f *testing.F) {
	f.Add(plainHead, udp(westIP, eastIP, 100, 1), uint8(0), uint16(0), false)
	f.Add(taggedHead, udp(westIP, eastIP, 2000, 1), uint8(packet.GSOUDP), uint16(700), true)
	f.Add(plainHead6, solicitation(255), uint8(packet.GSOTCP6), uint16(1), true)
	f.Fuzz(func(t *testing.T, header, data []byte, kind uint8, segment uint16, needs bool) {
		if len(header) != plainHeader && len(header) != taggedHeader || len(data) > packet.LargeBuffer {
			return
		}
		b := newBench(t, "rate=1gbit", "loss=10%", "duplicate=10%", "corrupt=10%", "mtu={size: 576B, excess: fragment}")
		p := b.frame(header, data)
		p.VNet = packet.VNet{Kind: kind, SegmentSize: segment, NeedsChecksum: needs, ChecksumStart: 20, ChecksumOffset: 6}
		b.arrive(0, 0, p)
		b.finish()
		c := b.ways[0].link.Counts()
		ends := c.Delivered
		for _, n := range c.Dropped {
			ends += n
		}
		if c.Packets+c.Duplicated != ends {
			t.Errorf("%d came, %d copied, %d ended", c.Packets, c.Duplicated, ends)
		}
	})
}

// Nothing that is done to every frame takes memory.
func TestNoAllocation(t *testing.T) {
	p, frames := crossing(t)
	if n := testing.AllocsPerRun(100, func() { frames(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if p.ways[0].link.Counts().Delivered == 0 {
		t.Error("nothing came through")
	}
}

// crossing returns a path with delay and loss, and what sends frames across it.
func crossing(t testing.TB) (*path, func(n int)) {
	c, err := Config{}.With("delay=1ms", "loss=0.1%")
	if err != nil {
		t.Fatal(err)
	}
	var p *path
	p = newPath(c, ports2, func(_ int, _ int64, k *packet.Packet, _ bool) { p.pool.Put(k) })
	data, b, now := udp(westIP, eastIP, 1500, 0), &bench{path: p}, int64(0)
	frames := func(n int) {
		for range n {
			now += 8000 // 125,000 packets/s
			p.arrive(now, 0, b.frame(plainHead, data))
			p.advance(now)
		}
	}
	frames(1000)
	return p, frames
}

func BenchmarkCrossing(b *testing.B) {
	_, frames := crossing(b)
	b.ReportAllocs()
	for b.Loop() {
		frames(1)
	}
}
