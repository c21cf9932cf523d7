package link

import (
	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/stat"
)

// Counts say what became of each packet, and what is under way now. The segments of a super-packet count one by one. At
// all times
//
//	Packets + Duplicated = Delivered + the sum of Dropped + Waiting + Flying
type Counts struct {
	Packets    uint64 // that came
	Delivered  uint64 // copies among them
	Bytes      uint64 // of IP, delivered
	Dropped    [packet.Causes]uint64
	Duplicated uint64
	// Reordered counts deliveries after that of a packet that left the same wire later. What queues do (a class goes
	// before another) and packets of different pipes do not count.
	Reordered uint64
	Corrupted uint64 // one bit turned
	Marked    uint64 // with congestion experienced, by the queue

	Waiting, WaitingMax           int64 // packets between arrival and wire
	WaitingBytes, WaitingBytesMax int64
	Flying                        int64 // packets on the wire and in propagation

	Took    stat.Histogram // nanoseconds from arrival to due, of packets delivered
	Adapter Adapter        // of the node that sends on this direction
}

// Adapter is what an Ethernet adapter counts that sends on a Direction, and receives on its opposite (the names are
// those of IEEE 802.3 clause 30.3 in short, as drivers show them). All is zero in full duplex.
type Adapter struct {
	Collisions          uint64 `json:"collisions"`           // in the first 512 bit times of a frame of its own
	LateCollisions      uint64 `json:"late_collisions"`      // after them
	ExcessiveCollisions uint64 `json:"excessive_collisions"` // frames given up after 16
	Deferred            uint64 `json:"deferred"`             // frames that found the wire in use at first
	FCSErrors           uint64 `json:"fcs_errors"`           // frames received with a bad checksum
	Runts               uint64 `json:"runts"`                // fragments received of fewer than 64 bytes
}
