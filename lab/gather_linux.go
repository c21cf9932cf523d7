package lab

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// outgoing is what one system call hands over: messages of a packet each, or of several that were joined.
//
//	single   | prefix | packet                    |
//	joined   | prefix | head | payload | payload … |
type outgoing struct {
	messages [batchSize]message
	prefixes [batchSize]prefix
	heads    [batchSize][packet.MaxJoinHead]byte
	vectors  [3 * batchSize]unix.Iovec // two of a single, two and one more for each payload of what is joined
	holds    [batchSize]int            // packets in each message
	count    int
}

// gather makes messages of the first packets of a list, a batch at most. A device that needs more than the virtio header
// before a packet, so many bytes, fills that in itself.
func (o *outgoing) gather(list []*packet.Packet, join bool, before int) {
	list = list[:min(len(list), batchSize)]
	o.count = 0
	used := 0
	add := func(base *byte, length int) {
		o.vectors[used].Base = base
		o.vectors[used].SetLen(length)
		used++
	}
	for len(list) > 0 {
		n := 1
		if join {
			n = packet.Joinable(list)
		}
		k, first := o.count, used
		add((*byte)(unsafe.Pointer(&o.prefixes[k])), packet.VirtioLength+before)
		if n == 1 {
			o.prefixes[k].virtio.Store(list[0].VNet, uint16(before))
			add(&list[0].Data[0], len(list[0].Data))
		} else {
			head, v := packet.JoinHead(o.heads[k][:], list[:n])
			o.prefixes[k].virtio.Store(v, uint16(before))
			add(&o.heads[k][0], head)
			for _, p := range list[:n] {
				add(&p.Data[head], len(p.Data)-head)
			}
		}
		o.messages[k].header = unix.Msghdr{Iov: &o.vectors[first], Iovlen: uint64(used - first)}
		o.holds[k] = n
		o.count++
		list = list[n:]
	}
}

// ethtool commands (linux/ethtool.h) that switch off what hands over half-made packets.
var offloads = []struct {
	name    string
	command uint32
}{
	{"transmit checksum", 0x17}, // ETHTOOL_STXCSUM
	{"TCP segmentation", 0x1f},  // ETHTOOL_STSO
	{"generic receive", 0x2c},   // ETHTOOL_SGRO
	{"scatter and gather", 0x19},
}

// wholePackets makes an interface in the calling thread's network namespace send whole packets, no larger than its
// MTU and with their checksums, as a wire would carry them.
func wholePackets(name string) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	defer unix.Close(s)
	for _, o := range offloads {
		value := struct{ command, data uint32 }{o.command, 0}
		request := struct { // struct ifreq with ifr_data
			name [unix.IFNAMSIZ]byte
			data unsafe.Pointer
			_    [16]byte
		}{data: unsafe.Pointer(&value)}
		copy(request.name[:unix.IFNAMSIZ-1], name)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
		if errno != 0 {
			return fmt.Errorf("switch off %s offload of %s: %w", o.name, name, errno)
		}
	}
	return nil
}
