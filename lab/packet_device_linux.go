package lab

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// packetDevice reads and writes through an AF_PACKET socket on the engine's end of a veth pair. The socket is of type
// SOCK_DGRAM, so the kernel takes off and puts on the Ethernet header.
type packetDevice struct {
	socket  int
	to      unix.RawSockaddrLinklayer
	offload bool
	dropped uint64
}

// receiveBuffer is what the kernel may hold while the engine's thread is not running: some 4,000 full packets, 30 ms of
// 1.5 Gbit/s. Without privilege the kernel grants up to net.core.rmem_max.
const receiveBuffer = 16 << 20

// newPacketDevice opens the socket in the caller's network namespace.
func newPacketDevice(ifindex int, hostMAC [6]byte, offload bool) (*packetDevice, error) {
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	if unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		err = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
	}
	if offload {
		err = errors.Join(err, unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1))
	}
	err = errors.Join(err,
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1),
		unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.Bind(s, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: ifindex}))
	if err != nil {
		unix.Close(s)
		return nil, fmt.Errorf("set up packet socket: %w", err)
	}
	d := &packetDevice{socket: s, offload: offload,
		to: unix.RawSockaddrLinklayer{Family: unix.AF_PACKET, Ifindex: int32(ifindex), Halen: 6}}
	copy(d.to.Addr[:], hostMAC[:])
	return d, nil
}

func networkOrder(protocol uint16) uint16 { return protocol<<8 | protocol>>8 }

func (d *packetDevice) fd() int { return d.socket }

// prepare points the k-th message at a packet's bytes, with the header before them where there is offload.
func (d *packetDevice) prepare(b *batch, k int, data []byte) *unix.Msghdr {
	v := &b.vectors[k]
	v[0].Base, v[1].Base = (*byte)(unsafe.Pointer(&b.headers[k])), &data[0]
	v[0].SetLen(virtioHeaderSize)
	v[1].SetLen(len(data))
	h := &b.messages[k].header
	*h = unix.Msghdr{Iov: &v[1], Iovlen: 1}
	if d.offload {
		h.Iov, h.Iovlen = &v[0], 2
	}
	return h
}

func (d *packetDevice) read(b *batch, take func(*packet.Packet, int64)) int {
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
	before := 0
	if d.offload {
		before = virtioHeaderSize
	}
	for k := range int(n) {
		p := b.filled(k, int(b.messages[k].length)-before)
		if d.offload {
			b.headers[k].load(p)
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

// ethernetHeader is what the kernel puts before a packet, and counts offsets from, when it sends.
const ethernetHeader = 14

func (d *packetDevice) write(b *batch, list []*packet.Packet) int {
	list = list[:min(len(list), batchSize)]
	for k, p := range list {
		if d.offload {
			b.headers[k].store(p, ethernetHeader)
		}
		h := d.prepare(b, k, p.Data)
		b.names[k] = d.to
		b.names[k].Protocol = networkOrder(unix.ETH_P_IP)
		if packet.Version(p.Data) == 6 {
			b.names[k].Protocol = networkOrder(unix.ETH_P_IPV6)
		}
		h.Name, h.Namelen = (*byte)(unsafe.Pointer(&b.names[k])), uint32(unsafe.Sizeof(d.to))
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(d.socket), uintptr(unsafe.Pointer(&b.messages[0])),
		uintptr(len(list)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// overflowed adds up PACKET_STATISTICS, which the kernel sets back at each look.
func (d *packetDevice) overflowed() uint64 {
	if s, err := unix.GetsockoptTpacketStats(d.socket, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		d.dropped += uint64(s.Drops)
	}
	return d.dropped
}
