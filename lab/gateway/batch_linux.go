package gateway

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// batchSize frames go through one system call. More would save little and make the first wait for the last.
const batchSize = 16

// batch is the memory of one system call for several frames; one serves both ports in turn, for reading or for writing. A
// message is in three pieces, so that the packet begins where its buffer does:
//
//	| virtio_net_hdr | Ethernet header | packet |
//	     virtio[k]       Packet.Frame    Packet.Data
type batch struct {
	pool     *packet.Pool              // for reading
	packets  [batchSize]*packet.Packet // to read into
	virtio   [batchSize]packet.VirtioHeader
	vectors  [batchSize][3]unix.Iovec
	messages [batchSize]message
	controls [batchSize]control
}

// message is struct mmsghdr.
type message struct {
	header unix.Msghdr
	length uint32
	_      [4]byte
}

// control holds what comes beside a frame: a time stamp, and the auxiliary data that has the VLAN tag.
type control [128]byte

// empty returns the k-th packet to read into.
func (b *batch) empty(k int) *packet.Packet {
	if b.packets[k] == nil {
		b.packets[k] = b.pool.Get(packet.LargeBuffer)
	}
	return b.packets[k]
}

// filled returns the packet that was read into the k-th, with a buffer no larger than it needs.
func (b *batch) filled(k, length int) *packet.Packet {
	p := b.packets[k]
	p.FrameLength = plainHeader
	if length > packet.SmallBuffer {
		b.packets[k] = nil
		p.Data = p.Data[:length]
		return p
	}
	small := b.pool.Get(length)
	small.Frame, small.FrameLength = p.Frame, p.FrameLength
	copy(small.Data, p.Data)
	return small
}

// prepare points the k-th message at a frame.
func (b *batch) prepare(k int, frame, data []byte) *unix.Msghdr {
	v := &b.vectors[k]
	v[0].Base, v[1].Base, v[2].Base = (*byte)(unsafe.Pointer(&b.virtio[k])), unsafe.SliceData(frame), unsafe.SliceData(data)
	v[0].SetLen(packet.VirtioLength)
	v[1].SetLen(len(frame))
	v[2].SetLen(len(data))
	h := &b.messages[k].header
	*h = unix.Msghdr{Iov: &v[0]}
	h.SetIovlen(len(v))
	return h
}

// heed reads what came beside the k-th frame: it puts the VLAN tag back, and returns the time stamp, 0 if there is none.
func (b *batch) heed(k int, p *packet.Packet) (wall int64) {
	rest := b.controls[k][:min(int(b.messages[k].header.Controllen), len(control{}))]
	for len(rest) > unix.CmsgLen(0) {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&rest[0]))
		body, length := unsafe.Pointer(&rest[unix.CmsgLen(0)]), int(h.Len)-unix.CmsgLen(0)
		if length <= 0 || unix.CmsgLen(length) > len(rest) {
			return wall
		}
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && length >= int(unsafe.Sizeof(unix.Timespec{})):
			wall = (*unix.Timespec)(body).Nano()
		case h.Level == unix.SOL_PACKET && h.Type == unix.PACKET_AUXDATA && length >= int(unsafe.Sizeof(auxiliary{})):
			(*auxiliary)(body).heed(p)
		}
		rest = rest[min(unix.CmsgSpace(length), len(rest)):]
	}
	return wall
}

// auxiliary is struct tpacket_auxdata.
type auxiliary unix.TpacketAuxdata

func (a *auxiliary) heed(p *packet.Packet) {
	if a.Status&unix.TP_STATUS_VLAN_VALID == 0 {
		return
	}
	tpid := uint16(typeVLAN)
	if a.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
		tpid = a.Vlan_tpid
	}
	setTag(p, tpid, a.Vlan_tci)
}
