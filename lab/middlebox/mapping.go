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
	moves     bool // no mapping keeps the port inside
	ages      ages
	mappings  []mapping // of each life in ages
	forwards  []mapping
	byInside  map[endpoint]int32
	byOutside map[outsidePort]int32
	ranges    map[outsidePort]*portRange // by its lowest port
	serial    uint32
	remotes   map[remote]struct{}
	sweepIn   int // after how many more new remotes those of mappings that have gone are looked for
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
	m.tie(-int32(len(m.forwards)))
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
	m.tie(i)
	return i, true
}

// tie makes the maps lead to a mapping, and takes its port.
func (m *table) tie(i int32) {
	k := m.at(i)
	m.byInside[k.key] = i
	m.byOutside[outsidePortOf(k.key.version, k.key.protocol, k.outside)] = i
	r := m.rangeOf(k.key, k.outside)
	r.taken, r.last = r.taken+1, k.outside
}

func (m *table) forget(i int32) {
	gone := &m.mappings[i]
	delete(m.byInside, gone.key)
	delete(m.byOutside, outsidePortOf(gone.key.version, gone.key.protocol, gone.outside))
	m.rangeOf(gone.key, gone.outside).taken--
	gone.serial = 0
	m.ages.remove(i)
}

// minSweep is how many remotes are worth a sweep.
const minSweep = 1024

// meet remembers that a mapping was used to send to a remote, unless maxEntries are remembered. Sweeps are as far apart as
// what they leave is long, so that each remote pays for a few steps of them.
func (m *table) meet(r remote) {
	if _, known := m.remotes[r]; known {
		return
	}
	if m.sweepIn == 0 {
		m.sweep()
		m.sweepIn = max(len(m.remotes), minSweep-len(m.remotes))
	}
	m.sweepIn--
	if len(m.remotes) >= maxEntries {
		return
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
	switch {
	case m.moves:
		port = max(int(r.last)+1, r.low)
		if port >= r.high {
			port = r.low
		}
	case taken(port):
		port = int(r.last)
	}
	for taken(port) {
		if port++; port == r.high {
			port = r.low
		}
	}
	return uint16(port), true
}
