package gateway

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// port is one interface, read and written through an AF_PACKET socket. Its calls are raw system calls that do not block,
// since the thread that makes them must not wait for Go's scheduler.
type port struct {
	name    string
	index   int
	own     address
	socket  int  // -1: closed
	down    bool // Linux said so; see Gateway.lookForPorts
	dropped uint64
}

const (
	// receiveBuffer is what the kernel may hold while the gateway's thread is not running: some 4,000 full packets, 30 ms of
	// 1.5 Gbit/s. Without CAP_NET_ADMIN it grants up to net.core.rmem_max.
	receiveBuffer = 16 << 20
	// sendBuffer is what an adapter's queue may hold: sixteen super-packets of 64 KiB are a batch, and one more waits.
	sendBuffer = 4 << 20
)

// openPort opens the socket in the caller's network namespace. PACKET_QDISC_BYPASS stays off: an adapter's ring is short,
// and the queue in front of it takes the bursts.
func openPort(name string, index int, own address) (*port, error) {
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return nil, fmt.Errorf("open packet socket: %w; a gateway needs CAP_NET_RAW: run it as root, "+
			"or once: setcap cap_net_raw,cap_net_admin+ep on the pathwise binary", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	err = errors.Join(
		setBuffer(s, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, receiveBuffer),
		setBuffer(s, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, sendBuffer),
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1),
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptPacketMreq(s, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
			&unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}),
		unix.Bind(s, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: index}))
	if err != nil {
		unix.Close(s)
		return nil, fmt.Errorf("set up packet socket on %s: %w", name, err)
	}
	return &port{name: name, index: index, own: own, socket: s}, nil
}

// setBuffer sets a buffer's size, by force if that is allowed.
func setBuffer(s, force, ask, size int) error {
	if unix.SetsockoptInt(s, unix.SOL_SOCKET, force, size) == nil {
		return nil
	}
	return unix.SetsockoptInt(s, unix.SOL_SOCKET, ask, size)
}

func networkOrder(protocol uint16) uint16 { return protocol<<8 | protocol>>8 }

func (d *port) close() {
	if d.socket >= 0 {
		d.overflowed()
		unix.Close(d.socket)
		d.socket = -1
	}
}

// overflowed returns how many frames the kernel had to drop because nobody read them in time. It adds up
// PACKET_STATISTICS, which the kernel sets back at each look.
func (d *port) overflowed() uint64 {
	if d.socket >= 0 {
		if s, err := unix.GetsockoptTpacketStats(d.socket, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
			d.dropped += uint64(s.Drops)
		}
	}
	return d.dropped
}

// read hands over the frames that have come, a batch at most, with the kernel's stamp of each one's arrival on
// CLOCK_REALTIME in nanoseconds, 0 if there is none. It returns how many there were: less than a batch means that nothing
// is left.
func (d *port) read(b *batch, take func(p *packet.Packet, wall int64)) (int, error) {
	for k := range batchSize {
		p := b.empty(k)
		h := b.prepare(k, p.Frame[:plainHeader], p.Data)
		h.Control = &b.controls[k][0]
		h.SetControllen(len(b.controls[k]))
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(d.socket), uintptr(unsafe.Pointer(&b.messages[0])),
		batchSize, unix.MSG_DONTWAIT, 0, 0)
	switch errno {
	case 0:
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	case unix.EINVAL:
		d.dropped++ // a super-packet of a kind that struct virtio_net_hdr has no word for
		return 0, nil
	default:
		return 0, errno
	}
	for k := range int(n) {
		m := &b.messages[k]
		length := int(m.length) - packet.VirtioLength - plainHeader
		if length < 0 || m.header.Flags&unix.MSG_TRUNC != 0 {
			d.dropped++ // no frame, or one longer than any IP packet
			continue
		}
		p := b.filled(k, length)
		p.VNet = b.virtio[k].VNet(plainHeader)
		take(p, b.heed(k, p))
	}
	return int(n), nil
}

// write sends the first frames of a list, and returns how many the kernel took. Less than all: it refused the next.
func (d *port) write(b *batch, list []*packet.Packet) int {
	list = list[:min(len(list), batchSize)]
	for k, p := range list {
		b.virtio[k].Store(p.VNet, uint16(p.FrameLength))
		b.prepare(k, p.Frame[:p.FrameLength], p.Data)
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(d.socket), uintptr(unsafe.Pointer(&b.messages[0])),
		uintptr(len(list)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}
