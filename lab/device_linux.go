package lab

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// device is the engine's end of one host interface. It speaks IPv4 packets. Reads and writes do not block; they are
// raw system calls, since the pump's thread must not wait for the Go scheduler.
type device interface {
	fd() int
	// read fills b with one packet; wall is the kernel's stamp of its arrival on CLOCK_REALTIME in nanoseconds, 0 if
	// there is none. The error is EAGAIN when there is nothing to read.
	read(b []byte) (n int, wall int64, err unix.Errno)
	write(packet []byte) unix.Errno
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
	return specErrorf("device: %q: want veth or tun", string(k))
}

// linkMTU is that of every host interface; the link's own MTU is for later.
const linkMTU = 1500

// packetDevice reads and writes through an AF_PACKET socket on the engine's end of a veth pair. The socket is of type
// SOCK_DGRAM, so the kernel takes off and puts on the Ethernet header.
type packetDevice struct {
	socket  int
	to      unix.RawSockaddrLinklayer
	control [64]byte // one SCM_TIMESTAMPNS
	vector  unix.Iovec
	message unix.Msghdr
}

// receiveBuffer is what the kernel may hold while the engine's thread is not running: some 2,000 full packets, 20 ms
// of a gigabit. Without privilege the kernel grants up to net.core.rmem_max.
const receiveBuffer = 8 << 20

// newPacketDevice opens the socket in the caller's network namespace.
func newPacketDevice(ifindex int, hostMAC [6]byte) (*packetDevice, error) {
	const protocol = uint16(unix.ETH_P_IP&0xff<<8 | unix.ETH_P_IP>>8) // network byte order
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open packet socket: %w", err)
	}
	if unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		err = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
	}
	err = errors.Join(err,
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1),
		unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.Bind(s, &unix.SockaddrLinklayer{Protocol: protocol, Ifindex: ifindex}))
	if err != nil {
		unix.Close(s)
		return nil, fmt.Errorf("set up packet socket: %w", err)
	}
	d := &packetDevice{socket: s, to: unix.RawSockaddrLinklayer{
		Family: unix.AF_PACKET, Protocol: protocol, Ifindex: int32(ifindex), Halen: 6}}
	copy(d.to.Addr[:], hostMAC[:])
	d.message.Iov, d.message.Iovlen = &d.vector, 1
	return d, nil
}

func (d *packetDevice) fd() int { return d.socket }

func (d *packetDevice) read(b []byte) (int, int64, unix.Errno) {
	d.vector.Base = &b[0]
	d.vector.SetLen(len(b))
	d.message.Control = &d.control[0]
	d.message.SetControllen(len(d.control))
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(d.socket), uintptr(unsafe.Pointer(&d.message)), 0)
	if errno != 0 {
		return 0, 0, errno
	}
	return int(n), d.stamp(), 0
}

// stamp reads the control message that SO_TIMESTAMPNS adds: header, then a timespec.
func (d *packetDevice) stamp() int64 {
	if d.message.Controllen < unix.SizeofCmsghdr {
		return 0
	}
	header := (*unix.Cmsghdr)(unsafe.Pointer(&d.control[0]))
	if header.Level != unix.SOL_SOCKET || header.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	return (*unix.Timespec)(unsafe.Pointer(&d.control[unix.CmsgLen(0)])).Nano()
}

func (d *packetDevice) write(packet []byte) unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(d.socket), uintptr(unsafe.Pointer(&packet[0])),
		uintptr(len(packet)), 0, uintptr(unsafe.Pointer(&d.to)), unsafe.Sizeof(d.to))
	return errno
}

// tunDevice reads and writes a TUN device. The kernel cuts super-packets and fills in checksums before it hands
// packets over, since the device announces no offload.
type tunDevice struct{ file int }

// newTUNDevice makes the interface in the caller's network namespace.
func newTUNDevice(name string) (*tunDevice, error) {
	f, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(f, unix.TUNSETIFF, request)
	}
	if err != nil {
		unix.Close(f)
		return nil, fmt.Errorf("create TUN device: %w", err)
	}
	return &tunDevice{file: f}, nil
}

func (d *tunDevice) fd() int { return d.file }

func (d *tunDevice) read(b []byte) (int, int64, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(d.file), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return int(n), 0, errno
}

func (d *tunDevice) write(packet []byte) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(d.file), uintptr(unsafe.Pointer(&packet[0])), uintptr(len(packet)))
	return errno
}
