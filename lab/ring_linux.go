package lab

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// receiveRing is memory that the kernel writes received frames to (TPACKET_V2, Documentation/networking/packet_mmap.rst),
// so that reading one costs a copy and no system call. Each frame is whose its status says:
//
//	        next
//	         v
//	+------+------+------+------+------+------+
//	|kernel| user | user |kernel|kernel|kernel|      kernel: it may write there; user: we may read
//	+------+------+------+------+------+------+
//	        header (status, lengths, stamp) | room | Ethernet header | packet
type receiveRing struct {
	memory []byte
	frames int
	next   int
}

const (
	// ringFrame holds a frame of the usual MTU, and the kernel's header of less than 100 bytes.
	ringFrame = 2048
	// ringBlock is what the kernel allocates at a time: small enough to be had on a machine whose memory is in pieces.
	ringBlock = 1 << 16
	// ringMTU is the largest MTU that fits a frame with room to spare.
	ringMTU = 1900
)

// openRing gives a packet socket a ring of that many frames, in the order that the kernel wants it.
func openRing(socket, frames int) (*receiveRing, error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2); err != nil {
		return nil, fmt.Errorf("set packet version: %w", err)
	}
	request := unix.TpacketReq{Block_size: ringBlock, Block_nr: uint32(frames * ringFrame / ringBlock),
		Frame_size: ringFrame, Frame_nr: uint32(frames)}
	if err := unix.SetsockoptTpacketReq(socket, unix.SOL_PACKET, unix.PACKET_RX_RING, &request); err != nil {
		return nil, fmt.Errorf("set up receive ring: %w", err)
	}
	memory, err := unix.Mmap(socket, 0, frames*ringFrame, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map receive ring: %w", err)
	}
	return &receiveRing{memory: memory, frames: frames}, nil
}

// read hands over what the ring holds, a batch at most.
func (r *receiveRing) read(b *batch, take func(*packet.Packet, int64)) int {
	for n := range batchSize {
		frame := r.memory[r.next*ringFrame : (r.next+1)*ringFrame]
		header := (*unix.Tpacket2Hdr)(unsafe.Pointer(&frame[0]))
		if atomic.LoadUint32(&header.Status)&unix.TP_STATUS_USER == 0 {
			return n
		}
		start, end := int(header.Mac)+ethernetHeader, int(header.Mac)+int(header.Snaplen)
		stamp := int64(header.Sec)*1e9 + int64(header.Nsec)
		var p *packet.Packet
		if start < end && end <= ringFrame {
			p = b.pool.Get(end - start)
			copy(p.Data, frame[start:end])
		}
		atomic.StoreUint32(&header.Status, unix.TP_STATUS_KERNEL)
		r.next = (r.next + 1) % r.frames
		if p != nil {
			take(p, stamp)
		}
	}
	return batchSize
}
