package lab

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// tunDevice reads and writes a TUN device. Without offload the kernel cuts super-packets and fills in checksums before
// it hands packets over.
type tunDevice struct {
	file    int
	offload bool
	alone   bool // the kernel does not take joined packets
	dropped func() uint64
}

// newTUNDevice makes the interface in the caller's network namespace. Dropped returns its tx_dropped.
func newTUNDevice(name string, offload bool, dropped func() uint64) (*tunDevice, error) {
	f, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
		err = unix.IoctlIfreq(f, unix.TUNSETIFF, request)
	}
	if err == nil && offload {
		err = unix.IoctlSetInt(f, unix.TUNSETOFFLOAD, tunOffloads)
	}
	if err != nil {
		unix.Close(f)
		return nil, fmt.Errorf("create TUN device: %w", err)
	}
	return &tunDevice{file: f, offload: offload, dropped: dropped}, nil
}

// tunOffloads are what a TUN device with offload leaves to us: checksums, TCP and UDP segments, IPv4 and IPv6.
const tunOffloads = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO6 | unix.TUN_F_TSO_ECN | unix.TUN_F_USO4 | unix.TUN_F_USO6

func (d *tunDevice) fd() int            { return d.file }
func (d *tunDevice) overflowed() uint64 { return d.dropped() }

func (d *tunDevice) read(b *batch, take func(*packet.Packet, int64)) int {
	for k := range batchSize {
		n, errno := d.receive(b, b.buffer(k))
		if errno != 0 {
			return k
		}
		p := b.filled(k, n)
		if d.offload {
			p.VNet = b.prefixes[0].virtio.VNet(0)
		}
		take(p, 0)
	}
	return batchSize
}

func (d *tunDevice) write(b *batch, list []*packet.Packet) (taken int) {
	o := &b.out
	o.gather(list, b.join && !d.alone, 0)
	for k := range o.count {
		h := &o.messages[k].header
		_, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(d.file), uintptr(unsafe.Pointer(h.Iov)), uintptr(h.Iovlen))
		if errno == unix.EINVAL && o.holds[k] > 1 {
			d.alone = true
			return taken + d.write(b, list[taken:])
		}
		if errno != 0 {
			return taken
		}
		taken += o.holds[k]
	}
	return taken
}

// receive reads one packet, behind its virtio header, and returns the packet's length.
func (d *tunDevice) receive(b *batch, data []byte) (int, unix.Errno) {
	v := &b.vectors[0]
	v[0].Base, v[1].Base = (*byte)(unsafe.Pointer(&b.prefixes[0])), &data[0]
	v[0].SetLen(packet.VirtioLength)
	v[1].SetLen(len(data))
	n, _, errno := unix.RawSyscall(unix.SYS_READV, uintptr(d.file), uintptr(unsafe.Pointer(v)), 2)
	return int(n) - packet.VirtioLength, errno
}
