package gateway

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vishvananda/netlink"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// tap sends and receives whole frames on a station's eth0, by the gateway's own port.
type tap struct {
	*port
	batch
}

func newTap(t testing.TB, s *station) *tap {
	t.Helper()
	d := &tap{batch: batch{pool: &packet.Pool{}}}
	s.do(t, func() error {
		l, err := netlink.LinkByName("eth0")
		if err == nil {
			d.port, err = openPort("eth0", l.Attrs().Index, address(l.Attrs().HardwareAddr))
		}
		return err
	})
	t.Cleanup(d.close)
	return d
}

// send sends one frame.
func (d *tap) send(t testing.TB, header, data []byte, v packet.VNet) {
	t.Helper()
	p := d.pool.Get(len(data))
	copy(p.Data, data)
	p.FrameLength, p.VNet = uint8(copy(p.Frame[:], header)), v
	if n := d.write(&d.batch, []*packet.Packet{p}); n != 1 {
		t.Fatalf("the kernel does not take % x", header)
	}
}

// received is a frame, and when it came.
type received struct {
	frame []byte
	wall  int64
}

// receive waits for so many frames of the west station. Others are the chatter of the machine's own IPv6.
func (d *tap) receive(t testing.TB, count int, limit time.Duration) (all []received) {
	t.Helper()
	for deadline := time.Now().Add(limit); len(all) < count; {
		polls := []unix.PollFd{{Fd: int32(d.socket), Events: unix.POLLIN}}
		left := time.Until(deadline)
		if left <= 0 {
			break
		}
		_, _ = unix.Poll(polls, int(left.Milliseconds())+1)
		_, err := d.read(&d.batch, func(p *packet.Packet, wall int64) {
			if address(p.Frame[addressLength:]) == west {
				all = append(all, received{slices.Concat(p.Frame[:p.FrameLength], p.Data), wall})
			}
			d.pool.Put(p)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Every kind of frame comes out on the other side as it went in, its tag too, IP after the delay and all else before.
func TestFramesPass(t *testing.T) {
	_, a, b := between(t, "delay=100ms")
	in, out := newTap(t, a), newTap(t, b)
	ip, arp := udp(westIP, eastIP, 60, 1), bytes.Repeat([]byte{7}, 46)
	type sent struct {
		header, data []byte
		slow         bool
	}
	all := []sent{
		{plainHead, ip, true},
		{taggedHead, ip, true},
		{head(east, west, 0x88a8, 9, 0x86dd), udp(westIP6, eastIP6, 80, 1), true},
		{head(east, west, 0x0806), arp, false},
		{head(east, west, 0x8100, 5, 0x0806), arp, false},
		{head(east, west, 0x88a8, 5, 0x8100), append([]byte{0, 6, 8, 0}, ip...), false}, // two tags
		{head(spanningTree, west, 46), arp, false},
	}
	in.send(t, head(lldp, west, 0x88cc), arp, packet.VNet{}) // stays
	began := time.Now().UnixNano()
	for _, s := range all {
		in.send(t, s.header, s.data, packet.VNet{})
	}
	got := out.receive(t, len(all), 2*time.Second)
	for _, s := range all {
		want := slices.Concat(s.header, s.data)
		k := slices.IndexFunc(got, func(r received) bool { return bytes.Equal(r.frame, want) })
		if k < 0 {
			t.Errorf("% x did not come out", s.header)
			continue
		}
		took := time.Duration(got[k].wall - began) // on the wall clock, which may be set meanwhile
		if slow := took > 99*time.Millisecond; slow != s.slow || took > time.Second {
			t.Errorf("% x took %v", s.header, took)
		}
	}
	if len(got) != len(all) {
		t.Errorf("%d frames came out; want %d", len(got), len(all))
	}
}

// A super-packet in a VLAN is cut where it must be, and its segments are in the VLAN too.
func TestSuperPacketInVLAN(t *testing.T) {
	for _, settings := range [][]string{{"delay=1ms"}, {"rate=100mbit"}, {"forward.loss={every: 4}"}} {
		t.Run(fmt.Sprint(settings), func(t *testing.T) {
			g, a, b := between(t, settings...)
			in, out := newTap(t, a), newTap(t, b)
			const segment, count = 1000, 10
			data := udp(westIP, eastIP, 28+segment*count, 0)
			in.send(t, taggedHead, data, packet.VNet{NeedsChecksum: true, ChecksumStart: 20, ChecksumOffset: 6,
				Kind: packet.GSOUDP, SegmentSize: segment, HeaderLength: 28})
			payload := 0
			for _, r := range out.receive(t, count, 300*time.Millisecond) {
				if !bytes.HasPrefix(r.frame, taggedHead) {
					t.Errorf("header % x", r.frame[:taggedHeader])
				}
				payload += len(r.frame) - taggedHeader - 28
			}
			truth := g.Snapshot().Links[0]
			if truth.Packets != count || payload != segment*int(truth.Delivered) {
				t.Errorf("%d bytes came; the truth: %+v", payload, truth)
			}
		})
	}
}
