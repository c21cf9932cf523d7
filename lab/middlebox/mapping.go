package middlebox

import (
	"net/netip"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// endpoint is an address and port inside, as the key of a map.
type endpoint struct {
	address           words
	port              uint16
	protocol, version byte
}

// outsidePort is a port of the outside address: version<<24 | protocol<<16 | port.
type outsidePort uint32

func outsidePortOf(version, protocol byte, port uint16) outsidePort {
	return outsidePort(version)<<24 | outsidePort(protocol)<<16 | outsidePort(port)
}

// mapping ties an endpoint inside to a port outside.
type mapping struct {
	key     endpoint
	inside  netip.AddrPort
	outside uint16
	serial  uint32 // tells it from others that were at its place in the table
}

// remote is an end outside that a mapping was used to send to; the port is 0 where only the address counts.
type remote struct {
	serial  uint32
	address words
	port    uint16
}

// table holds a translator's mappings. Port forwards lie behind the rest, at -1, -2 and so on.
type table struct {
	ages      ages
	mappings  []mapping // of each life in ages
	forwards  []mapping
	byInside  map[endpoint]int32
	byOutside map[outsidePort]int32
	serial    uint32
	remotes   map[remote]struct{}
	sweepAt   int // how many remotes there must be for those of mappings that have gone to be looked for
}

func (m *table) at(i int32) *mapping {
	if i < 0 {
		return &m.forwards[-1-i]
	}
	return &m.mappings[i]
}

// live returns the mapping that a map led to, unless it was idle for too long.
func (m *table) live(t int64, i int32, ok bool) (int32, bool) {
	if !ok || i < 0 || !m.ages.expired(t, i) {
		return i, ok
	}
	m.forget(i)
	return 0, false
}

func (m *table) findInside(t int64, e endpoint) (int32, bool) {
	i, ok := m.byInside[e]
	return m.live(t, i, ok)
}

func (m *table) findOutside(t int64, p outsidePort) (int32, bool) {
	i, ok := m.byOutside[p]
	return m.live(t, i, ok)
}

// forward adds a port forward.
func (m *table) forward(e endpoint, inside netip.AddrPort, port uint16) {
	m.serial++
	m.forwards = append(m.forwards, mapping{key: e, inside: inside, outside: port, serial: m.serial})
	i := -int32(len(m.forwards))
	m.byInside[e] = i
	m.byOutside[outsidePortOf(e.version, e.protocol, port)] = i
}

// add makes a mapping; it is false if the table is full or no port is free.
func (m *table) add(t int64, e endpoint, inside netip.AddrPort) (int32, bool) {
	for i, ok := m.ages.oldest(t); ok; i, ok = m.ages.oldest(t) {
		m.forget(i)
	}
	if m.ages.used >= m.ages.most {
		return 0, false
	}
	port, ok := m.freePort(e)
	if !ok {
		return 0, false
	}
	i := m.ages.add(t, e.protocol)
	if int(i) == len(m.mappings) {
		m.mappings = append(m.mappings, mapping{})
	}
	m.serial++
	m.mappings[i] = mapping{key: e, inside: inside, outside: port, serial: m.serial}
	m.byInside[e] = i
	m.byOutside[outsidePortOf(e.version, e.protocol, port)] = i
	return i, true
}

func (m *table) forget(i int32) {
	gone := &m.mappings[i]
	delete(m.byInside, gone.key)
	delete(m.byOutside, outsidePortOf(gone.key.version, gone.key.protocol, gone.outside))
	gone.serial = 0
	m.ages.remove(i)
}

// firstUserPort is where ports begin that any program may use. A port below it is mapped below it, and the others above
// (RFC 4787 REQ-3).
const firstUserPort = 1024

// freePort returns the endpoint's own port if it is free outside, else the next that is, in its range.
func (m *table) freePort(e endpoint) (uint16, bool) {
	low, high := firstUserPort, 1<<16
	if e.protocol != packet.ProtocolTCP && e.protocol != packet.ProtocolUDP {
		low = 0 // identifiers know no ranges
	} else if e.port < firstUserPort {
		low, high = 1, firstUserPort
	}
	port := max(int(e.port), low)
	for range high - low {
		if _, taken := m.byOutside[outsidePortOf(e.version, e.protocol, uint16(port))]; !taken {
			return uint16(port), true
		}
		if port++; port == high {
			port = low
		}
	}
	return 0, false
}

// minSweep is how many remotes are worth a sweep.
const minSweep = 1024

// meet remembers that a mapping was used to send to a remote.
func (m *table) meet(r remote) {
	if _, known := m.remotes[r]; known {
		return
	}
	if len(m.remotes) >= max(m.sweepAt, minSweep) {
		m.sweep()
		m.sweepAt = 2 * len(m.remotes)
	}
	m.remotes[r] = struct{}{}
}

// sweep forgets the remotes of mappings that have gone. The order does not matter.
func (m *table) sweep() {
	alive := make(map[uint32]struct{}, len(m.mappings))
	for i := range m.mappings {
		alive[m.mappings[i].serial] = struct{}{}
	}
	for r := range m.remotes {
		if _, ok := alive[r.serial]; !ok {
			delete(m.remotes, r)
		}
	}
}
