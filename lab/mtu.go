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

// largestMTU is that of the hosts' interfaces.
func (p *Plan) largestMTU() int {
	largest := defaultMTU
	for _, id := range p.HostInterfaces() {
		largest = max(largest, p.MTU(id))
	}
	return largest
}
