package packet

import (
	"bytes"
	"testing"
)

func TestSumIsThePlainSum(t *testing.T) {
	r := newRand()
	b := random(r, 4096)
	for range 20000 {
		from := r.IntN(100)
		part := b[from : from+r.IntN(1600)]
		if got, want := sum(part), plainSum(part); got != want {
			t.Fatalf("sum of %d bytes from %d: %#x, want %#x", len(part), from, got, want)
		}
	}
	for _, full := range []byte{0, 0xff} { // carries at their worst
		part := bytes.Repeat([]byte{full}, 65535)
		if got, want := sum(part), plainSum(part); got != want {
			t.Errorf("sum of 65535 bytes %#x: %#x, want %#x", full, got, want)
		}
	}
}

// TestFieldsKeepTheHeaderRight changes DSCP, ECN and hop limit of every value, and compares with a header made anew.
func TestFieldsKeepTheHeaderRight(t *testing.T) {
	for _, s := range samples() {
		b := bytes.Clone(s.data)
		for v := range 256 {
			dscp, ecn := byte(v>>2), byte(v&3)
			SetDSCP(b, dscp)
			SetECN(b, ecn)
			hops := HopLimit(b)
			Hop(b)
			if DSCP(b) != dscp || ECN(b) != ecn || HopLimit(b) != hops-min(hops, 1) || !verifies(b) {
				t.Fatalf("%s: DSCP %d, ECN %d, hop limit %d became %d, %d, %d; verifies: %v",
					s.name, dscp, ecn, hops, DSCP(b), ECN(b), HopLimit(b), verifies(b))
			}
			if b[0]>>4 == 4 {
				whole := bytes.Clone(b)
				sealV4(whole)
				if !bytes.Equal(whole, b) {
					t.Fatalf("%s: header checksum %x, made anew %x", s.name, b[10:12], whole[10:12])
				}
			} else if b[1]&0x0f != s.data[1]&0x0f || !bytes.Equal(b[2:4], s.data[2:4]) {
				t.Fatalf("%s: the flow label changed", s.name)
			}
		}
	}
}

// TestHopWhereEquation2Fails: the header checksum 0xfeff must become 0, not 0xffff (RFC 1624 section 3).
func TestHopWhereEquation2Fails(t *testing.T) {
	b := bytes.Clone(samples()[0].data)
	be.PutUint16(b[v4ID:], 0)
	sealV4(b)
	be.PutUint16(b[v4ID:], add(be.Uint16(b[v4Checksum:]), 0x0100)) // ~0xfeff is 0x0100
	sealV4(b)
	if got := be.Uint16(b[v4Checksum:]); got != 0xfeff {
		t.Fatalf("the test's header has checksum %#x, want 0xfeff", got)
	}
	Hop(b)
	if got := be.Uint16(b[v4Checksum:]); got != 0 || !verifies(b) {
		t.Errorf("checksum %#x, want 0", got)
	}
}

func TestFinish(t *testing.T) {
	var pool Pool
	for _, s := range samples() {
		if field, _, _ := transportParts(s.data, s.at); field < 0 {
			continue
		}
		p := packetOf(&pool, s.data)
		leftUndone(p, s.at)
		p.Finish()
		if !bytes.Equal(p.Data, s.data) || p.VNet != (VNet{}) {
			t.Errorf("%s: not what a host without offload sends; VNet %+v", s.name, p.VNet)
		}
	}
}

func TestFinishKeepsTheIPHeader(t *testing.T) {
	for _, s := range samples() {
		p := packetOf(new(Pool), s.data)
		p.VNet.NeedsChecksum = true // at 0, where the version is
		p.Finish()
		if !bytes.Equal(p.Data, s.data) || p.VNet != (VNet{}) {
			t.Errorf("%s: the IP header was overwritten", s.name)
		}
	}
}

// TestUDPZero: a UDP checksum that comes to 0 is sent as 0xffff, and one of 0 stays whatever changes.
func TestUDPZero(t *testing.T) {
	b := sealed(ip(left4, right4, 17, nil, 0, udp([]byte{0, 0})), 20)
	copy(b[28:], b[26:28]) // the payload takes up what was missing
	for _, how := range []func(p *Packet){
		func(p *Packet) { seal(p.Data, ProtocolUDP, 20) },
		func(p *Packet) { leftUndone(p, 20); p.Finish() },
	} {
		p := packetOf(new(Pool), b)
		be.PutUint16(p.Data[26:], 0)
		how(p)
		if got := be.Uint16(p.Data[26:]); got != 0xffff || !verifies(p.Data) {
			t.Errorf("checksum %#x, want 0xffff", got)
		}
	}
	p := packetOf(new(Pool), b)
	be.PutUint16(p.Data[26:], 0)
	p.Rewrite(true, ends(left4.Next(), 7))
	p.FlipBit(3, true)
	if got := be.Uint16(p.Data[26:]); got != 0 {
		t.Errorf("a packet without checksum got %#x", got)
	}
}

func BenchmarkSum1500(b *testing.B) {
	data := random(newRand(), 1500)
	b.SetBytes(1500)
	b.ReportAllocs()
	for b.Loop() {
		sum(data)
	}
}

func BenchmarkHop(b *testing.B) {
	data := samples()[0].data
	b.ReportAllocs()
	for b.Loop() {
		Hop(data)
		data[v4HopLimit] = 64
	}
}
