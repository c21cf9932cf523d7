package lab

import (
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
		add((*byte)(unsafe.Pointer(&o.prefixes[k])), virtioHeaderSize+before)
		if n == 1 {
			o.prefixes[k].virtio.store(list[0].VNet, uint16(before))
			add(&list[0].Data[0], len(list[0].Data))
		} else {
			head, v := packet.JoinHead(o.heads[k][:], list[:n])
			o.prefixes[k].virtio.store(v, uint16(before))
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
