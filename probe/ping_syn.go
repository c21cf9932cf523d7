package probe

import "net/netip"

// synPackets are SYN segments to a port, which a host answers without delay: with SYN and ACK if a program listens, else with RST.
// Both come from the far kernel. What is opened by halves is ended at once by this host's kernel, which knows of no connection.
//
//	this host                        target
//	    | ---- SYN, seq = base + i --->  |
//	    | <--- SYN ACK, ack = seq + 1 -- |   somebody listens
//	    | ---- RST ------------------->  |   by the kernel
//	    or
//	    | <--- RST ACK, ack = seq + 1 -- |   nobody does
type synPackets struct {
	from, to netip.AddrPort
	base     uint32 // the sequence number of the first
}

func (s *synPackets) request(index, _ int) []byte {
	syn := segment{from: s.from.Port(), to: s.to.Port(), seq: s.base + uint32(index), flags: flagSYN}
	return syn.marshal(s.from.Addr(), s.to.Addr())
}

func (s *synPackets) answered(packet []byte, from netip.Addr, sent int) (index int, ok bool) {
	a, ok := parseSegment(packet)
	if !ok || from != s.to.Addr().WithZone("") || a.from != s.to.Port() || a.to != s.from.Port() || a.flags&flagACK == 0 ||
		a.flags&(flagSYN|flagRST) == 0 {
		return 0, false
	}
	return s.index(a.ack-1, sent)
}

func (s *synPackets) quoted(packet []byte, sent int) (index int, ok bool) {
	q, ok := parseSegment(packet)
	if !ok || q.from != s.from.Port() || q.to != s.to.Port() {
		return 0, false
	}
	return s.index(q.seq, sent)
}

// index is which request has a sequence number.
func (s *synPackets) index(seq uint32, sent int) (index int, ok bool) {
	index = int(seq - s.base)
	return index, index < sent
}
