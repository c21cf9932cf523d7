// Package link is one direction of a link as an event machine in virtual time: all that happens to a packet between two
// nodes. Shape says what that is, and reads from a lab file; Direction does it. The package touches no clock and no
// socket, and knows neither routes nor hosts: whoever drives it says what time it is and takes what comes out.
//
//	Accept -> down, outage? --------------------------------------------> Drop LinkDown, Reset
//	             |
//	          rule? -> a pipe: this one, or one of a rule's own
//	             |
//	          police (token bucket) ------------------------------------> Drop Policed
//	             |
//	          [ queue ] ------------------------------------------------> Drop QueueFull, AQM
//	             |
//	          wire: rate and overhead | shaper | trace | shared medium -> Drop Collision, FrameError
//	             |
//	          loss, corrupt, duplicate ---------------------------------> Drop Loss
//	             |
//	          [ flight: delay + drift + creep + jitter, reorder ] ------> Deliver
//
// What has neither rate nor shaper nor trace has no queue either: packets go straight to the effects of the wire.
//
// The same seed, shapes and calls give the same fates, byte for byte. Every process (loss, jitter, ...) has a random
// stream of its own, and is asked about each packet that comes to it whatever the others said, so that switching one on
// does not change what another does to the same packets.
package link

import (
	"math/rand/v2"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/stat"
)

// Out is where packets leave a Direction; both functions take the packet over. At both calls p.Came says when it came
// to the link.
//
// Deliver may call any Direction, this one too. Drop must not; its time may lie ahead of Step's by as long as the
// packet was on the wire, for what becomes of it there is settled when it starts.
type Out struct {
	Deliver func(t int64, p *packet.Packet)
	Drop    func(t int64, p *packet.Packet, c packet.Cause)
}

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
	Remarked  uint64 // got another DSCP, by a policer

	Waiting, WaitingMax           int64 // packets between arrival and wire
	WaitingBytes, WaitingBytesMax int64
	Flying                        int64 // packets on the wire and in propagation

	Took    stat.Histogram // nanoseconds from arrival to due, of packets delivered
	Adapter Adapter        // of the node that sends on this direction
}

// Adapter is what an Ethernet adapter counts that sends on a Direction, and receives on its opposite (the names are
// those of IEEE 802.3 clause 30.3 in short, as drivers show them). All but pauses is zero in full duplex.
type Adapter struct {
	Collisions          uint64 `json:"collisions"`           // in the first 512 bit times of a frame of its own
	LateCollisions      uint64 `json:"late_collisions"`      // after them
	ExcessiveCollisions uint64 `json:"excessive_collisions"` // frames given up after 16
	Deferred            uint64 `json:"deferred"`             // frames that found the wire in use at first
	FCSErrors           uint64 `json:"fcs_errors"`           // frames received with a bad checksum
	Runts               uint64 `json:"runts"`                // fragments received of fewer than 64 bytes
	PausesReceived      uint64 `json:"pauses_received"`      // pause frames by which the other end had this one send nothing
	PausesSent          uint64 `json:"pauses_sent"`          // and by which this end had the other one; see Direction.Adapter
}

// purpose tells the random streams of a pipe apart.
type purpose uint64

const (
	forLoss purpose = iota
	forJitter
	forReorder
	forDuplicate
	forCorrupt
	forBit // which bit of a corrupted packet
	forQueue
	forOutage
	forBackoff
	purposes
)

// identity is what a pipe's streams are made from: of one seed, no two pipes of a lab have the same.
type identity struct {
	seed   uint64
	number uint64 // the direction's
	pipe   uint64 // 0: the direction's own; else the rule's, and what of the packets chose it
}

// stream starts the random stream for a purpose. Directions are numbered 0, 1, 2 and purposes too, so the words are
// mixed before they seed the generator.
func (i identity) stream(what purpose) *rand.Rand {
	return rand.New(rand.NewPCG(i.seed, mix(mix(mix(i.number)+i.pipe)+uint64(what))))
}

// mix is SplitMix64's step (G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
// 2014): a bijection in which each bit of the input changes half of the output's.
func mix(v uint64) uint64 {
	v += 0x9E3779B97F4A7C15
	v = (v ^ v>>30) * 0xBF58476D1CE4E5B9
	v = (v ^ v>>27) * 0x94D049BB133111EB
	return v ^ v>>31
}
