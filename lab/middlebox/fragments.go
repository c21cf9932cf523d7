package middlebox

import "github.com/pathwise-net/pathwise/lab/packet"

// datagram tells apart the packets that were fragmented (RFC 791 section 3.2, RFC 8200 section 4.5).
type datagram struct {
	source, target words
	id             uint32
	protocol       byte
}

// words is an address as two numbers, IPv4 in the second.
type words struct{ high, low uint64 }

// addresses returns both of a packet's.
func addresses(b []byte) (source, target words) {
	if b[0]>>4 == 4 {
		return words{0, uint64(be.Uint32(b[12:]))}, words{0, uint64(be.Uint32(b[16:]))}
	}
	return words{be.Uint64(b[8:]), be.Uint64(b[16:])}, words{be.Uint64(b[24:]), be.Uint64(b[32:])}
}

// datagramOf returns what fragment b is of; later if it is not the first, and so shows no ports. In IPv6 the fragment
// header is looked for right behind the IP header, which is where senders put it. It is false for whole packets.
func datagramOf(b []byte) (d datagram, later, ok bool) {
	if !packet.IsFragment(b) {
		return d, false, false
	}
	d.source, d.target = addresses(b)
	if b[0]>>4 == 4 {
		d.id, d.protocol = uint32(be.Uint16(b[4:])), b[9]
		return d, be.Uint16(b[6:])&0x1fff != 0, true
	}
	const fragmentHeader, behindHeader = 44, 40
	if b[6] != fragmentHeader || len(b) < behindHeader+8 {
		return d, false, false
	}
	d.id, d.protocol = be.Uint32(b[behindHeader+4:]), b[behindHeader]
	return d, be.Uint16(b[behindHeader+2:])&^7 != 0, true
}

// remembered is how many fragmented datagrams a box knows what it did to. Their fragments follow each other closely.
const remembered = 64

// memory says what was done to the first fragment of a datagram, so that the same is done to the later ones. Those that
// overtake the first are not known; real boxes, too, want them in order (RFC 4787 REQ-14).
type memory struct {
	known [remembered]struct {
		datagram
		mapping int32
		used    bool
	}
	next int
}

func (m *memory) put(d datagram, mapping int32) {
	k := &m.known[m.next]
	k.datagram, k.mapping, k.used = d, mapping, true
	m.next = (m.next + 1) % remembered
}

// get looks from the newest backwards.
func (m *memory) get(d datagram) (mapping int32, ok bool) {
	for n := range remembered {
		k := &m.known[(m.next-1-n+2*remembered)%remembered]
		if k.used && k.datagram == d {
			return k.mapping, true
		}
	}
	return 0, false
}
