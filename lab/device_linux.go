package lab

import (
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// device is the engine's end of one host interface. It speaks IP packets. Reads and writes do not block; they are raw
// system calls, since the pump's thread must not wait for the Go scheduler.
type device interface {
	fd() int
	// read hands over the packets that have come, a batch at most; wall is the kernel's stamp of each one's arrival on
	// CLOCK_REALTIME in nanoseconds, 0 if there is none. It returns how many there were: less than a batch means that
	// nothing is left.
	read(b *batch, take func(p *packet.Packet, wall int64)) int
	// write sends the first packets of a list, and returns how many the kernel took. Less than all: it refused the next.
	write(b *batch, list []*packet.Packet) int
	// overflowed returns how many packets the kernel had to drop since the lab stood because this process did not read
	// them in time. It may take a system call.
	overflowed() uint64
}

// DeviceKind says what host interfaces are made of.
type DeviceKind string

const (
	// DeviceAuto takes veth, whose kernel arrival stamps make the emulation independent of how late the engine wakes.
	DeviceAuto DeviceKind = ""
	// DeviceVeth is a veth pair and an AF_PACKET socket: needs nothing but a user namespace.
	DeviceVeth DeviceKind = "veth"
	// DeviceTUN is a TUN device: needs /dev/net/tun, and root where only root may open it.
	DeviceTUN DeviceKind = "tun"
)

// Validate reports a kind that does not exist.
func (k DeviceKind) Validate() error {
	switch k {
	case DeviceAuto, DeviceVeth, DeviceTUN:
		return nil
	}
	return specErrorf("%q: want veth or tun", string(k))
}

// batchSize packets go through one system call: more than moderation gathers at 1.5 Gbit/s. Twice as many would save little
// and make the first wait for the last.
const batchSize = 32

// batch is the memory of one system call for several packets; one serves all devices of a pump in turn.
type batch struct {
	pool     *packet.Pool
	length   int // of a read buffer
	packets  [batchSize]*packet.Packet
	prefixes [batchSize]prefix
	vectors  [batchSize][2]unix.Iovec
	messages [batchSize]message
	controls [batchSize][64]byte // one SCM_TIMESTAMPNS each
	out      outgoing
	join     bool // whether what is written may be joined (see packet.Joinable)
}

// message is struct mmsghdr.
type message struct {
	header unix.Msghdr
	length uint32
	_      [4]byte
}

// newBatch makes a batch for packets of at most mtu bytes, or for super-packets.
func newBatch(pool *packet.Pool, mtu int, offload bool) *batch {
	b := &batch{pool: pool, length: packet.SmallBuffer}
	if offload || mtu > packet.SmallBuffer {
		b.length = packet.LargeBuffer
	}
	return b
}

// buffer returns the k-th read buffer.
func (b *batch) buffer(k int) []byte {
	if b.packets[k] == nil {
		b.packets[k] = b.pool.Get(b.length)
	}
	return b.packets[k].Data
}

// filled returns the k-th packet, n bytes long, with a buffer no larger than it needs.
func (b *batch) filled(k, n int) *packet.Packet {
	p := b.packets[k]
	if b.length > packet.SmallBuffer && n <= packet.SmallBuffer {
		small := b.pool.Get(n)
		copy(small.Data, p.Data)
		return small
	}
	b.packets[k] = nil
	p.Data = p.Data[:n]
	return p
}
