package lab

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// packetDevice reads and writes through an AF_PACKET socket on the engine's end of a veth pair. What goes over the socket
// before each packet:
//
//	+------------------+--------+--------+-----------+----------
//	| virtio header 10 | to 6   | from 6 | ethertype | packet …
//	+------------------+--------+--------+-----------+----------
type packetDevice struct {
	socket  int
	hostMAC [6]byte
	offload bool
	alone   bool         // the kernel does not take joined packets
	ring    *receiveRing // nil: packets are read by system calls
	dropped uint64
}

// prefix is what goes before a packet.
type prefix struct {
	virtio   packet.VirtioHeader
	ethernet [ethernetHeader]byte
}

const ethernetHeader = 14

// receiveBuffer is what the kernel may hold while the engine's thread is not running: some 4,000 full packets, 30 ms of
// 1.5 Gbit/s; with offload, 50 ms of 10 Gbit/s. Without privilege the kernel grants up to net.core.rmem_max.
const (
	receiveBuffer        = 16 << 20
	receiveBufferOffload = 64 << 20
)

// newPacketDevice opens the socket in the caller's network namespace.
//
// Frames is how many the kernel may keep for us in a ring; 0: it keeps receiveBuffer bytes.
func newPacketDevice(ifindex int, hostMAC [6]byte, offload bool, frames int) (*packetDevice, error) {
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	size := receiveBuffer
	if offload {
		size = receiveBufferOffload
	}
	if unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, size) != nil {
		err = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, size)
	}
	err = errors.Join(err,
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1),
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1),
		unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1))
	if err == nil {
		err = unix.Bind(s, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: ifindex})
	}
	if err != nil {
		unix.Close(s)
		return nil, fmt.Errorf("set up packet socket: %w", err)
	}
	d := &packetDevice{socket: s, hostMAC: hostMAC, offload: offload}
	if frames > 0 {
		if d.ring, err = openRing(s, frames); err != nil {
			unix.Close(s)
			return nil, err
		}
	}
	return d, nil
}

func networkOrder(protocol uint16) uint16 { return protocol<<8 | protocol>>8 }

func (d *packetDevice) fd() int { return d.socket }

// prepare points the k-th message at a packet's bytes, and at what goes before them.
func (d *packetDevice) prepare(b *batch, k int, data []byte) *unix.Msghdr {
	v, before := &b.vectors[k], &b.prefixes[k]
	v[0].Base = (*byte)(unsafe.Pointer(before))
	v[0].SetLen(beforePacket)
	v[1].Base = &data[0]
	v[1].SetLen(len(data))
	h := &b.messages[k].header
	*h = unix.Msghdr{Iov: &v[0], Iovlen: 2}
	return h
}

// beforePacket is how many bytes go before a packet.
const beforePacket = packet.VirtioLength + ethernetHeader

func (d *packetDevice) read(b *batch, take func(*packet.Packet, int64)) int {
	if d.ring != nil {
		return d.ring.read(b, take)
	}
	for k := range batchSize {
		h := d.prepare(b, k, b.buffer(k))
		h.Control = &b.controls[k][0]
		h.SetControllen(len(b.controls[k]))
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(d.socket), uintptr(unsafe.Pointer(&b.messages[0])),
		batchSize, unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	for k := range int(n) {
		length := int(b.messages[k].length) - beforePacket
		if length <= 0 {
			continue // not even an Ethernet header's worth
		}
		p := b.filled(k, length)
		if d.offload {
			p.VNet = b.prefixes[k].virtio.VNet(ethernetHeader)
		}
		take(p, b.stamp(k))
	}
	return int(n)
}

// stamp reads the control message that SO_TIMESTAMPNS adds: header, then a timespec.
func (b *batch) stamp(k int) int64 {
	if b.messages[k].header.Controllen < unix.SizeofCmsghdr {
		return 0
	}
	header := (*unix.Cmsghdr)(unsafe.Pointer(&b.controls[k][0]))
	if header.Level != unix.SOL_SOCKET || header.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	return (*unix.Timespec)(unsafe.Pointer(&b.controls[k][unix.CmsgLen(0)])).Nano()
}

func (d *packetDevice) write(b *batch, list []*packet.Packet) (taken int) {
	o := &b.out
	o.gather(list, b.join && !d.alone, ethernetHeader)
	for k, first := 0, 0; k < o.count; k++ {
		d.address(&o.prefixes[k], list[first].Data)
		first += o.holds[k]
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(d.socket), uintptr(unsafe.Pointer(&o.messages[0])),
		uintptr(o.count), unix.MSG_DONTWAIT, 0, 0)
	if errno == unix.EINVAL && o.holds[0] > 1 {
		d.alone = true
		return d.write(b, list)
	}
	if errno != 0 {
		return 0
	}
	for _, holds := range o.holds[:n] {
		taken += holds
	}
	return taken
}

// address writes the Ethernet header of a packet to the host.
func (d *packetDevice) address(before *prefix, data []byte) {
	copy(before.ethernet[:6], d.hostMAC[:])
	before.ethernet[12], before.ethernet[13] = unix.ETH_P_IP>>8, unix.ETH_P_IP&0xff
	if packet.Version(data) == 6 {
		before.ethernet[12], before.ethernet[13] = unix.ETH_P_IPV6>>8, unix.ETH_P_IPV6&0xff
	}
}

// overflowed adds up PACKET_STATISTICS, which the kernel sets back at each look.
func (d *packetDevice) overflowed() uint64 {
	if s, err := unix.GetsockoptTpacketStats(d.socket, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		d.dropped += uint64(s.Drops)
	}
	return d.dropped
}
