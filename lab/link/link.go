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

import "github.com/pathwise-net/pathwise/lab/packet"

// Out is where packets leave a Direction; both functions take the packet over. At both calls p.Came says when it came
// to the link.
//
// Deliver may call any Direction, this one too. Drop must not; its time may lie ahead of Step's by as long as the
// packet was on the wire, for what becomes of it there is settled when it starts.
type Out struct {
	Deliver func(t int64, p *packet.Packet)
	Drop    func(t int64, p *packet.Packet, c packet.Cause)
}
