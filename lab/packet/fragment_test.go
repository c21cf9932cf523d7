package packet

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// together puts fragments back together as RFC 791 section 3.2 has it, and checks each on the way.
func together(t *testing.T, pieces []*Packet, mtu int) []byte {
	t.Helper()
	var header, data []byte
	for i, f := range pieces {
		b := f.Data
		n := int(b[0]&15) * 4
		place := int(b[6])<<8 | int(b[7])
		if len(b) > mtu || plainSum(b[:n]) != 0xffff || int(be.Uint16(b[2:])) != len(b) || place&0x1fff*8 != len(data) {
			t.Fatalf("piece %d: %d bytes, place %#x", i, len(b), place)
		}
		if last := i == len(pieces)-1; (place&0x2000 == 0) != last {
			t.Fatalf("piece %d of %d: place %#x", i, len(pieces), place)
		}
		if i == 0 {
			header = bytes.Clone(b[:n])
		}
		data = append(data, b[n:]...)
	}
	be.PutUint16(header[2:], uint16(len(header)+len(data)))
	header[6] = 0
	sealV4(header)
	return append(header, data...)
}

// fragmentable is a sample without "don't fragment".
func fragmentable(t *testing.T, name string) []byte {
	b := find(t, name)
	b[6] = 0
	sealV4(b)
	return b
}

func TestFragment(t *testing.T) {
	var pool Pool
	for _, name := range []string{"tcp4", "udp4", "echo4", "gre4", "options4"} {
		for mtu := 68; mtu < 200; mtu++ {
			want := fragmentable(t, name)
			p := packetOf(&pool, want)
			if _, at := Transport(want); name != "gre4" {
				leftUndone(p, at)
			}
			if len(want) <= mtu {
				p.Finish()
			}
			var pieces []*Packet
			if !Fragment(&pool, p, mtu, func(f *Packet) { pieces = append(pieces, f) }) {
				t.Fatalf("%s, MTU %d: refused", name, mtu)
			}
			if got := together(t, pieces, mtu); !bytes.Equal(got, want) {
				t.Fatalf("%s, MTU %d: not the packet that it was: %s", name, mtu, cmp.Diff(want, got))
			}
		}
	}
}

// TestFragmentAgain: fragments of fragments are fragments of the whole.
func TestFragmentAgain(t *testing.T) {
	var pool Pool
	want := fragmentable(t, "udp4")
	var pieces []*Packet
	Fragment(&pool, packetOf(&pool, want), 100, func(f *Packet) {
		Fragment(&pool, f, 68, func(f *Packet) { pieces = append(pieces, f) })
	})
	if got := together(t, pieces, 68); !bytes.Equal(got, want) || len(pieces) != 3 {
		t.Errorf("%d pieces (-want +got)\n%s", len(pieces), cmp.Diff(want, got))
	}
	wantText := []string{"udp 10.0.0.1:5201 > 10.0.2.2:40000 first fragment 40 bytes",
		"udp 10.0.0.1 > 10.0.2.2 fragment at 48 32 bytes"}
	if d := cmp.Diff(wantText, []string{describe(pieces[0].Data), describe(pieces[1].Data)}); d != "" {
		t.Error(d)
	}
}

// TestFragmentOptions: record route (7) goes with the first alone, loose source route (131) with all.
func TestFragmentOptions(t *testing.T) {
	list := []byte{7, 7, 4, 0, 0, 0, 0, 131, 3, 4, 1, 0}
	b := ip(left4, right4, 47, list, 0, random(newRand(), 100))
	b[6] = 0
	var got [][]byte
	Fragment(new(Pool), packetOf(new(Pool), b), 80, func(f *Packet) { got = append(got, f.Data[20:32]) })
	want := [][]byte{list, {1, 1, 1, 1, 1, 1, 1, 131, 3, 4, 1, 0}, {1, 1, 1, 1, 1, 1, 1, 131, 3, 4, 1, 0}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFragmentRefuses(t *testing.T) {
	var pool Pool
	for name, c := range map[string]struct {
		data []byte
		mtu  int
	}{"don't fragment": {find(t, "udp4"), 100}, "IPv6": {find(t, "udp6"), 100}, "MTU": {fragmentable(t, "udp4"), 67}} {
		p := packetOf(&pool, c.data)
		if Fragment(&pool, p, c.mtu, func(*Packet) { t.Error(name, "emitted") }) || !bytes.Equal(p.Data, c.data) {
			t.Errorf("%s: fragmented, or changed", name)
		}
	}
}

// TestFragmentSuper: each segment is a packet of its own, in fragments.
func TestFragmentSuper(t *testing.T) {
	var pool Pool
	payload := random(newRand(), 2500)
	p := super(&pool, GSOUDP, false, payload, 1000, 0)
	p.Data[6] = 0
	var pieces, joined = map[uint16][]*Packet{}, []byte{}
	Fragment(&pool, p, 600, func(f *Packet) {
		pieces[be.Uint16(f.Data[4:])] = append(pieces[be.Uint16(f.Data[4:])], f)
	})
	for id := uint16(0x1234); id < 0x1237; id++ {
		b := together(t, pieces[id], 600)
		if !verifies(b) {
			t.Errorf("segment %#x does not verify", id)
		}
		joined = append(joined, b[28:]...)
	}
	if !bytes.Equal(joined, payload) {
		t.Error("the payload changed")
	}
}

func BenchmarkFragment1500To576(b *testing.B) {
	var pool Pool
	data := ip(left4, right4, 17, nil, 0, udp(random(newRand(), 1472)))
	data[6] = 0
	b.ReportAllocs()
	for b.Loop() {
		Fragment(&pool, packetOf(&pool, data), 576, pool.Put)
	}
}
