package lab

import "github.com/pathwise-net/pathwise/lab/link"

// defaultMTU is Ethernet's.
const defaultMTU = 1500

// MTU returns what an interface is set to: its link's MTU where that is known, as on a router, and Ethernet's where the
// link is a black hole, which nobody knows of. It is never below what Linux needs.
func (p *Plan) MTU(iface int) int {
	m := p.Directions[p.Interfaces[iface].Leaves].Shape.MTU
	switch {
	case m == nil:
		return defaultMTU
	case m.Excess == link.Discard:
		return max(defaultMTU, int(m.Size))
	}
	return int(m.Size)
}

// deviceMTU is what a host's interface takes: what it may send and what its link may bring. Where it may send less than
// that, its routes say so.
func (p *Plan) deviceMTU(iface int) int { return max(p.MTU(iface), p.MTU(p.Interfaces[iface].Peer)) }

// largestMTU is that of the hosts' interfaces.
func (p *Plan) largestMTU() int {
	largest := defaultMTU
	for _, id := range p.HostInterfaces() {
		largest = max(largest, p.deviceMTU(id))
	}
	return largest
}

// Receive rings take at most 48 MiB in all; one takes no more than 100 ms of 1.5 Gbit/s needs, and no less than 256 packets,
// a window of 384 kB at once. A lab of more than 96 interfaces has none.
const (
	ringsTotal  = 48 << 20
	ringMost    = 12288
	ringFewest  = 256
	ringDivisor = ringBlock / ringFrame // frames come in blocks
)

// ringFrames is how many frames each host interface's receive ring has; 0: there is none, as packets may be too large or
// interfaces too many.
func (p *Plan) ringFrames() int {
	if p.Offload || p.largestMTU() > ringMTU {
		return 0
	}
	frames := ringsTotal / ringFrame / max(1, len(p.HostInterfaces()))
	if frames < ringFewest {
		return 0
	}
	return min(frames, ringMost) / ringDivisor * ringDivisor
}
