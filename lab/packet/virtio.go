package packet

// VirtioHeader is a VNet as the kernel has it before a packet, or before the link's header of one: struct virtio_net_hdr.
//
//	 0       1        2         4          6            8             10
//	+-------+--------+---------+----------+------------+-------------+
//	| flags | kind   | headers | segment  | checksum   | checksum    |
//	|       |        | length  | size     | start      | offset      |
//	+-------+--------+---------+----------+------------+-------------+
//
// Its offsets count from the byte behind it, those of a VNet from the packet's first.
type VirtioHeader struct {
	flags, kind                                          uint8
	headerLength, segmentSize, checksumStart, checksumAt uint16
}

const (
	// VirtioLength is how many bytes the header takes.
	VirtioLength        = 10
	virtioNeedsChecksum = 1 // VIRTIO_NET_HDR_F_NEEDS_CSUM
)

// VNet returns what the header says of a packet; before bytes stood between the two.
func (h *VirtioHeader) VNet(before uint16) (v VNet) {
	if h.flags&virtioNeedsChecksum != 0 && h.checksumStart >= before {
		v.NeedsChecksum, v.ChecksumStart, v.ChecksumOffset = true, h.checksumStart-before, h.checksumAt
	}
	if h.kind != GSONone {
		v.Kind, v.SegmentSize, v.HeaderLength = h.kind, h.segmentSize, max(before, h.headerLength)-before
	}
	return v
}

// Store writes the header of a packet with before bytes between the two.
func (h *VirtioHeader) Store(v VNet, before uint16) {
	*h = VirtioHeader{}
	if v.NeedsChecksum {
		h.flags, h.checksumStart, h.checksumAt = virtioNeedsChecksum, v.ChecksumStart+before, v.ChecksumOffset
	}
	if v.Kind != GSONone {
		h.kind, h.segmentSize, h.headerLength = v.Kind, v.SegmentSize, v.HeaderLength+before
	}
}
