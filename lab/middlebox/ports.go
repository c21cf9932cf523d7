package middlebox

import "github.com/pathwise-net/pathwise/lab/packet"

// firstUserPort is where ports begin that any program may use. A port below it is mapped below it, and the others above
// (RFC 4787 REQ-3).
const firstUserPort = 1024

// portRange is a range of ports outside, of one protocol: low <= port < high.
type portRange struct {
	low, high int
	taken     int    // how many are
	last      uint16 // that was
}

// rangeOf returns the range that a port of an endpoint's protocol is in. Identifiers are all in one.
func (m *table) rangeOf(e endpoint, port uint16) *portRange {
	low, high := firstUserPort, 1<<16
	if e.protocol != packet.ProtocolTCP && e.protocol != packet.ProtocolUDP {
		low = 0
	} else if port < firstUserPort {
		low, high = 1, firstUserPort
	}
	k := outsidePortOf(e.version, e.protocol, uint16(low))
	if m.ranges[k] == nil {
		m.ranges[k] = &portRange{low: low, high: high}
	}
	return m.ranges[k]
}

// freePort returns the endpoint's own port if it is free outside, else the next that is after the one given last, in its
// range. It is false at once if none is.
func (m *table) freePort(e endpoint) (uint16, bool) {
	r := m.rangeOf(e, e.port)
	if r.taken >= r.high-r.low {
		return 0, false
	}
	taken := func(port int) bool {
		_, taken := m.byOutside[outsidePortOf(e.version, e.protocol, uint16(port))]
		return taken
	}
	port := max(int(e.port), r.low)
	if taken(port) {
		port = int(r.last)
	}
	for taken(port) {
		if port++; port == r.high {
			port = r.low
		}
	}
	return uint16(port), true
}
