package link

import (
	"encoding/binary"
	"math"
	"net/netip"
	"testing"

	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

const (
	microsecond int64 = 1e3
	millisecond int64 = 1e6
	second      int64 = 1e9
)

var (
	bob   = netip.MustParseAddrPort("10.0.0.1:4000")
	carol = netip.MustParseAddrPort("10.0.2.2:5201")
)

// fate is what a direction did to one packet.
type fate struct {
	number uint64
	came   int64
	t      int64
	cause  packet.Cause // packet.Kept: delivered
}

// rig drives one direction and notes what comes out.
type rig struct {
	t     testing.TB
	pool  packet.Pool
	d     *Direction
	fates []fate
	sent  uint64
}

func newRig(t testing.TB, seed uint64, text string) *rig {
	r := &rig{t: t}
	r.d = New(0, seed, 0, shapeOf(t, text), &r.pool, r.out())
	return r
}

func (r *rig) out() Out {
	note := func(at int64, k *packet.Packet, c packet.Cause) {
		r.fates = append(r.fates, fate{k.Number, k.Came, at, c})
		r.pool.Put(k)
	}
	return Out{Deliver: func(at int64, k *packet.Packet) { note(at, k, packet.Kept) }, Drop: note}
}

// shapeOf reads a complete shape.
func shapeOf(t testing.TB, text string) Shape {
	t.Helper()
	var s Shape
	if err := notation.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if err := s.Complete(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// datagram makes a UDP packet of so many bytes in all.
func (r *rig) datagram(size int) *packet.Packet {
	k := r.pool.Get(size)
	clear(k.Data)
	packet.UDP(k.Data, bob, carol, 0, 64)
	r.sent++
	k.Number = r.sent
	return k
}

func (r *rig) send(at int64, size int) {
	r.d.Step(at)
	r.d.Accept(at, r.datagram(size))
}

func (r *rig) sendClass(at int64, size int, dscp byte) {
	r.d.Step(at)
	k := r.datagram(size)
	packet.UDP(k.Data, bob, carol, dscp, 64)
	r.d.Accept(at, k)
}

// finish lets everything out, and checks that all is accounted for.
func (r *rig) finish() []fate {
	r.t.Helper()
	r.d.Step(math.MaxInt64)
	r.balance()
	if c := r.d.Counts(); c.Waiting != 0 || c.WaitingBytes != 0 || c.Flying != 0 {
		r.t.Errorf("at the end %d packets (%d bytes) wait and %d fly", c.Waiting, c.WaitingBytes, c.Flying)
	}
	return r.fates
}

// balance checks that no packet got lost without being counted.
func (r *rig) balance() {
	r.t.Helper()
	c := r.d.Counts()
	if in, out := c.Packets+c.Duplicated, c.Delivered+dropped(c)+uint64(c.Waiting+c.Flying); in != out {
		r.t.Fatalf("%d packets and %d copies came; %d delivered, %d dropped, %d wait, %d fly",
			c.Packets, c.Duplicated, c.Delivered, dropped(c), c.Waiting, c.Flying)
	}
}

// read reads a shape, complete or not.
func read(text string) (s Shape, err error) {
	if text == "" {
		return s, nil
	}
	err = notation.Unmarshal([]byte(text), &s)
	return s, err
}

func dropped(c *Counts) (n uint64) {
	for _, v := range c.Dropped {
		n += v
	}
	return n
}

// times returns when packets were delivered.
func (r *rig) times() (times []int64) {
	for _, f := range r.fates {
		if f.cause == packet.Kept {
			times = append(times, f.t)
		}
	}
	return times
}

// numbers returns which packets were delivered, in order.
func (r *rig) numbers() (numbers []uint64) {
	for _, f := range r.fates {
		if f.cause == packet.Kept {
			numbers = append(numbers, f.number)
		}
	}
	return numbers
}

// superPacket makes a TCP super-packet over IPv4 of n segments of 1448 payload bytes.
func (r *rig) superPacket(n int) *packet.Packet {
	const network, transport, segment = 20, 32, 1448
	k := r.pool.Get(network + transport + n*segment)
	clear(k.Data)
	b := k.Data
	b[0], b[8], b[9] = 0x45, 64, packet.ProtocolTCP
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[12:], bob.Addr().AsSlice())
	copy(b[16:], carol.Addr().AsSlice())
	binary.BigEndian.PutUint16(b[20:], bob.Port())
	binary.BigEndian.PutUint16(b[22:], carol.Port())
	b[32] = transport / 4 << 4
	k.VNet = packet.VNet{NeedsChecksum: true, ChecksumStart: network, ChecksumOffset: 16, Kind: packet.GSOTCP4,
		SegmentSize: segment, HeaderLength: network + transport}
	k.Number = r.sent + 1
	r.sent += uint64(n)
	return k
}
