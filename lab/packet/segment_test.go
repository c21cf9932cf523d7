package packet

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// super is a super-packet of a kind with the given payload, in the state in which Linux hands it over.
func super(o *Pool, kind uint8, v6 bool, payload []byte, size int, flags byte) *Packet {
	source, target, header := left4, right4, 20
	if v6 {
		source, target, header = left6, right6, 40
	}
	protocol, transport := byte(6), tcp(flags, timestamps, payload)
	if kind == GSOUDP {
		protocol, transport = 17, udp(payload)
	}
	b := ip(source, target, protocol, nil, 0, transport)
	p := packetOf(o, b)
	p.Number, p.Flow, p.Sent = 100, 3, 77
	leftUndone(p, header)
	p.VNet.Kind, p.VNet.SegmentSize = kind, uint16(size)
	p.VNet.HeaderLength = uint16(len(b) - len(payload))
	return p
}

var kinds = []struct {
	name string
	kind uint8
	v6   bool
	head int
}{
	{"tcp4", GSOTCP4, false, 52}, {"tcp6", GSOTCP6, true, 72}, {"udp4", GSOUDP, false, 28}, {"udp6", GSOUDP, true, 48},
}

// header is what a receiver reads of one segment.
type header struct {
	Length, ID         int
	Sequence           uint32
	FIN, PSH, CWR, ACK bool
	UDPLength          int
	Number             uint64
}

func readHeader(p *Packet) header {
	h := header{Length: len(p.Data), Number: p.Number}
	at := 40
	if p.Data[0]>>4 == 4 {
		at, h.ID = 20, int(p.Data[4])<<8|int(p.Data[5])
	}
	if len(p.Data) > at+20 && (p.Data[9] == 6 && at == 20 || p.Data[6] == 6 && at == 40) {
		t := p.Data[at:]
		h.Sequence = uint32(t[4])<<24 | uint32(t[5])<<16 | uint32(t[6])<<8 | uint32(t[7])
		h.FIN, h.PSH, h.ACK, h.CWR = t[13]&1 != 0, t[13]&8 != 0, t[13]&16 != 0, t[13]&128 != 0
	} else {
		h.UDPLength = int(p.Data[at+4])<<8 | int(p.Data[at+5])
	}
	return h
}

func TestSplit(t *testing.T) {
	var pool Pool
	for _, k := range kinds {
		payload := random(newRand(), 3*1000+500)
		p := super(&pool, k.kind, k.v6, payload, 1000, FlagACK|FlagFIN|FlagPSH|FlagCWR)
		if got, want := p.WireBytes(), int64(4*k.head+3500); p.Segments() != 4 || got != want {
			t.Fatalf("%s: %d segments of %d bytes, want 4 of %d", k.name, p.Segments(), got, want)
		}
		var got, want []header
		var joined []byte
		pool.Split(p, func(s *Packet) {
			got = append(got, readHeader(s))
			joined = append(joined, s.Data[k.head:]...)
			if !verifies(s.Data) || s.VNet != (VNet{}) || s.Flow != 3 || s.Sent != 77 {
				t.Errorf("%s: segment %d: verifies %v, %+v, flow %d", k.name, len(got), verifies(s.Data), s.VNet, s.Flow)
			}
			pool.Put(s)
		})
		for i, size := range []int{1000, 1000, 1000, 500} {
			h := header{Length: k.head + size, Number: 100 + uint64(i)}
			if !k.v6 {
				h.ID = 0x1234 + i
			}
			if k.kind == GSOUDP {
				h.UDPLength = 8 + size
			} else { // the sequence number wraps
				h.Sequence, h.ACK, h.CWR = 0xffffff00+uint32(i*1000), true, i == 0
				h.FIN, h.PSH = i == 3, i == 3
			}
			want = append(want, h)
		}
		if d := cmp.Diff(want, got); d != "" || !bytes.Equal(joined, payload) {
			t.Errorf("%s: payload the same: %v; headers (-want +got)\n%s", k.name, bytes.Equal(joined, payload), d)
		}
	}
}

// TestAnyCutsJoinToTheSame cuts super-packets at random, some cuts again, and looks at every wire packet that comes
// out.
func TestAnyCutsJoinToTheSame(t *testing.T) {
	var pool Pool
	r := newRand()
	for round := range 400 {
		k := kinds[r.IntN(len(kinds))]
		size := 1 + r.IntN(2000)
		payload := random(r, 1+r.IntN(min(65000, 60*size)))
		flags := byte(FlagACK | r.IntN(2)*FlagFIN | r.IntN(2)*FlagPSH | r.IntN(2)*FlagCWR)
		p := super(&pool, k.kind, k.v6, payload, size, flags)
		p.VNet.HeaderLength = uint16(r.IntN(200)) // not to be trusted
		before, number := sha256.Sum256(p.Data), p.Number
		whole, segments, bytesOnWire := pool.Clone(p), p.Segments(), p.WireBytes()
		var want, got [][]byte
		pool.Split(whole, func(s *Packet) { want = append(want, bytes.Clone(s.Data)); pool.Put(s) })
		cutUp(t, r, &pool, p, func(s *Packet) {
			if s.Number != number+uint64(len(got)) {
				t.Fatalf("%s: segment %d has number %d, want %d", k.name, len(got), s.Number, number+uint64(len(got)))
			}
			got = append(got, bytes.Clone(s.Data))
			pool.Put(s)
		})
		if before != sha256.Sum256(p.Data) {
			t.Fatal("Cut changed the packet that it cut from")
		}
		pool.Put(p)
		if !slices.EqualFunc(want, got, bytes.Equal) || len(got) != segments {
			t.Fatalf("round %d, %s: %d bytes by %d: %d wire packets of %d differ",
				round, k.name, len(payload), size, len(got), segments)
		}
		checkJoined(t, fmt.Sprintf("round %d, %s", round, k.name), got, k.head, bytesOnWire, payload)
	}
}

// cutUp cuts p at random places, and what comes out again, down to wire packets in their order.
func cutUp(t *testing.T, r *rand.Rand, pool *Pool, p *Packet, emit func(*Packet)) {
	for from := 0; from < p.Segments(); {
		to := from + 1 + r.IntN(p.Segments()-from)
		c := pool.Cut(p, from, to)
		if c.Segments() != to-from {
			t.Fatalf("a cut from %d to %d has %d segments", from, to, c.Segments())
		}
		switch {
		case c.Segments() > 1 && to-from < p.Segments() && r.IntN(2) == 0:
			checkPartial(t, c)
			cutUp(t, r, pool, c, emit)
			pool.Put(c)
		case c.Segments() > 1:
			checkPartial(t, c)
			pool.Split(c, emit)
		default:
			emit(c)
		}
		from = to
	}
}

// checkPartial looks at a super-packet as the kernel does that is handed it.
func checkPartial(t *testing.T, p *Packet) {
	t.Helper()
	protocol, at := Transport(p.Data)
	field, pseudo, _ := transportParts(p.Data, at)
	want := VNet{NeedsChecksum: true, ChecksumStart: uint16(at), ChecksumOffset: uint16(field),
		Kind: p.VNet.Kind, SegmentSize: p.VNet.SegmentSize, HeaderLength: uint16(at + 8)}
	if protocol == 6 {
		want.HeaderLength = uint16(at + 32)
	}
	if got := be.Uint16(p.Data[at+field:]); got != plainSum(pseudo) || p.VNet != want {
		t.Fatalf("pseudo-header sum %#x, want %#x; %+v, want %+v", got, plainSum(pseudo), p.VNet, want)
	}
	if p.Data[0]>>4 == 4 && (plainSum(p.Data[:20]) != 0xffff || int(be.Uint16(p.Data[2:])) != len(p.Data)) {
		t.Fatal("the IPv4 header is wrong")
	}
	if p.Data[0]>>4 == 6 && int(be.Uint16(p.Data[4:]))+40 != len(p.Data) {
		t.Fatal("the IPv6 header is wrong")
	}
}

func checkJoined(t *testing.T, name string, packets [][]byte, head int, bytesOnWire int64, payload []byte) {
	t.Helper()
	hash := sha256.New()
	for i, b := range packets {
		if !verifies(b) {
			t.Fatalf("%s: segment %d does not verify", name, i)
		}
		hash.Write(b[head:])
		bytesOnWire -= int64(len(b))
	}
	if [32]byte(hash.Sum(nil)) != sha256.Sum256(payload) || bytesOnWire != 0 {
		t.Fatalf("%s: the payload changed, or WireBytes is off by %d", name, bytesOnWire)
	}
}

// TestNoSuperPacket: what claims to be one and is none counts once, and is only finished.
func TestNoSuperPacket(t *testing.T) {
	var pool Pool
	payload := random(newRand(), 3000)
	for name, spoil := range map[string]func(p *Packet){
		"segment size 0":   func(p *Packet) { p.VNet.SegmentSize = 0 },
		"kind of another":  func(p *Packet) { p.VNet.Kind = GSOUDP },
		"other IP version": func(p *Packet) { p.VNet.Kind = GSOTCP6 },
		"kind unknown":     func(p *Packet) { p.VNet.Kind = 3 },
		"one segment":      func(p *Packet) { p.VNet.SegmentSize = 3000 },
		"a fragment":       func(p *Packet) { p.Data[6] = 0x20; sealV4(p.Data) },
	} {
		p := super(&pool, GSOTCP4, false, payload, 1000, FlagACK)
		spoil(p)
		if p.Segments() != 1 || p.WireBytes() != int64(len(p.Data)) {
			t.Errorf("%s: %d segments of %d bytes", name, p.Segments(), p.WireBytes())
		}
		c := pool.Cut(p, 0, 1)
		if !verifies(c.Data) || c.VNet != (VNet{}) || len(c.Data) != len(p.Data) || p.VNet == (VNet{}) {
			t.Errorf("%s: cut %+v, from %+v; verifies: %v", name, c.VNet, p.VNet, verifies(c.Data))
		}
		pool.Split(p, func(s *Packet) {
			if s != p || !verifies(s.Data) {
				t.Errorf("%s: not finished", name)
			}
		})
	}
}

func TestECNOfTheFirstSegmentOnly(t *testing.T) {
	var pool Pool
	p := super(&pool, GSOTCP4|gsoECN, false, random(newRand(), 4000), 1000, FlagACK|FlagCWR)
	first, second := pool.Cut(p, 0, 2), pool.Cut(p, 2, 4)
	cwr := [2]bool{readHeader(first).CWR, readHeader(second).CWR}
	if first.VNet.Kind != GSOTCP4|gsoECN || second.VNet.Kind != GSOTCP4 || cwr != [2]bool{true, false} {
		t.Errorf("kinds %#x and %#x, CWR %v", first.VNet.Kind, second.VNet.Kind, cwr)
	}
}

func BenchmarkSplit45(b *testing.B) {
	var pool Pool
	p := super(&pool, GSOTCP4, false, random(newRand(), 45*1448), 1448, FlagACK)
	b.SetBytes(45 * 1448)
	b.ReportAllocs()
	for b.Loop() {
		pool.Split(pool.Clone(p), pool.Put)
	}
}

func BenchmarkCutOne(b *testing.B) {
	var pool Pool
	p := super(&pool, GSOTCP4, false, random(newRand(), 45*1448), 1448, FlagACK)
	b.ReportAllocs()
	for b.Loop() {
		pool.Put(pool.Cut(p, 7, 8))
	}
}

func BenchmarkSegmentsAndWireBytes(b *testing.B) {
	p := super(new(Pool), GSOTCP4, false, random(newRand(), 45*1448), 1448, FlagACK)
	b.ReportAllocs()
	for b.Loop() {
		if p.Segments() != 45 || p.WireBytes() == 0 {
			b.Fatal("miscounted")
		}
	}
}
