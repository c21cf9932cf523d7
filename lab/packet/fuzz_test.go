package packet

import (
	"bytes"
	"net/netip"
	"testing"
)

// FuzzPacket does everything that can be done to a packet to any bytes that Whole takes for one.
func FuzzPacket(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.data, uint64(5), uint16(0), uint8(0))
	}
	for _, k := range kinds {
		p := super(new(Pool), k.kind, k.v6, random(newRand(), 300), 100, FlagACK)
		f.Add(p.Data, uint64(77), uint16(100), k.kind)
	}
	f.Add([]byte{0x60, 0, 0, 0, 0, 16, fragment, 64}, uint64(1), uint16(0), uint8(0))
	f.Fuzz(func(t *testing.T, raw []byte, n uint64, size uint16, kind uint8) {
		b, ok := Whole(raw)
		if !ok {
			return
		}
		var pool Pool
		fresh := func() *Packet {
			p := packetOf(&pool, b)
			p.VNet = VNet{NeedsChecksum: n&1 != 0, ChecksumStart: uint16(n >> 8), ChecksumOffset: uint16(n >> 24), Kind: kind,
				SegmentSize: size, HeaderLength: uint16(n >> 40)}
			return p
		}
		look(b)
		doInPlace(fresh, n)
		p := fresh()
		for what := HopsUsedUp; what <= Prohibited; what++ {
			for _, from := range []netip.Addr{left4, left6} {
				if c := Complaint(&pool, from, p, what, int(size)); c != nil {
					look(c.Data)
				}
			}
		}
		if !bytes.Equal(p.Data, b) {
			t.Error("a complaint changed what it is about")
		}
		total := p.WireBytes()
		if segments := p.Segments(); segments > 1 && segments < 2000 {
			half := int(n>>32%uint64(segments-1)) + 1
			sum := pool.Cut(p, 0, half).WireBytes() + pool.Cut(p, half, segments).WireBytes()
			if sum != total {
				t.Errorf("cut into %d and %d bytes, together %d", half, sum, total)
			}
			pool.Split(pool.Clone(p), func(s *Packet) { look(s.Data); total -= int64(len(s.Data)) })
			if total != 0 {
				t.Errorf("the segments differ from WireBytes by %d", -total)
			}
		}
		if p.Segments() == 1 {
			Fragment(&pool, p, int(size), func(f *Packet) { look(f.Data) })
		}
	})
}

// look calls all that only reads.
func look(b []byte) {
	describe(b)
	KeyOf(b).Reverse().Hash(1)
	Ports(b)
	TCPFlags(b)
	IsEchoRequest(b)
	(&Match{Port: 1, Protocol: ProtocolTCP, Source: prefix("::/0"), DSCP: Codepoints{1}}).Matches(b)
	if inner, ok := Quoted(b); ok && len(inner) < len(b) {
		look(inner)
	}
}

// doInPlace calls all that changes a packet.
func doInPlace(fresh func() *Packet, n uint64) {
	for _, change := range changes {
		change(fresh(), ends(left4, uint16(n)), n)
		change(fresh(), ends(left6, uint16(n)), n)
	}
	p := fresh()
	p.FlipBit(n, false)
	p = fresh()
	SetDSCP(p.Data, byte(n))
	SetECN(p.Data, byte(n))
	Hop(p.Data)
	if IsEchoRequest(p.Data) {
		EchoReply(p.Data)
	}
	p.Finish()
}
