package probe

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"sync/atomic"

	"github.com/pathwise-net/pathwise/proto/icmp"
	"github.com/pathwise-net/pathwise/sock"
)

// traceFlow is what all probes of a trace have in common, so that routers which spread flows over equal ways send them the same way
// (Paris traceroute, Augustin et al., IMC 2006), and what tells them apart. It is pure. id is the number of a probe:
//
//	          constant                                 tells probes apart
//	udp       addresses, ports                         payload: token, id; so the checksum, which the least quote has
//	icmp      addresses, identifier, checksum          sequence = base + id; the payload makes up for it in the checksum, and for the token
//	tcp       addresses, ports                         sequence number = base + id
//
// Whoever would pass off an answer for one of a router has to know the token or the base, which are random; for one of the target by UDP the port of from, which is
// random or follows from hostKey.
type traceFlow struct {
	protocol string
	from, to netip.AddrPort // the port of from is the identifier of icmp
	target   netip.Addr     // that of to, with its zone
	token    [tokenSize]byte
	strayed  bool        // it is not the one that all traces to the target are of, as it should: its ports are taken
	crafted  *craftedSYN // the SYNs of a trace that looks for middleboxes; nil: it does not
	// ports are, of each probe that was sent, where those of a trace are of many flows, what makes its flow: see flowMark. nil: they are of one flow.
	ports  []atomic.Uint32
	idents bool // of many flows of ICMP each has an identifier of its own, not a checksum alone
}

// own is the address that packets leave with, as quotes have it: without the zone in which a socket is bound to it.
func (f *traceFlow) own() netip.Addr { return f.from.Addr().WithZone("") }

// base is the first sequence number.
func (f *traceFlow) base() uint32 { return binary.BigEndian.Uint32(f.token[:]) }

// traceAnswer is something that came back for a probe.
type traceAnswer struct {
	id       int
	from     netip.Addr
	at       sock.Stamp
	ttl      int  // of the answer, on arrival; 0: not known
	expired  bool // a router says that the TTL ran out
	reached  bool // the target answered
	nameless bool // it is about a probe of ours, but nothing in it says which

	reply      string // what it says: a sock.Reason, or how the target answered
	annotation string
	told       *icmp.Quote // the IP header as it was there; nil: not known
	translated string      // see traceFlow.translated
	shift      uint16      // see traceFlow.shift
	extensions icmp.Extensions
	ecn        int // that the packet left with
}

// distance is how far the one who answered a probe of a TTL is: exactly, by the TTL that was left where it quotes that, else as far as its
// answer came from.
func (a *traceAnswer) distance(ttl int) int {
	if a.told != nil && a.told.TTL > 0 && int(a.told.TTL) <= ttl {
		return ttl - int(a.told.TTL) + 1
	}
	return min(hopsOf(a.ttl), ttl)
}

// distinctPort is the destination port of a probe that has one of its own: from the flow's port up, and from there on down again.
func (f *traceFlow) distinctPort(id int) uint16 {
	const ports = 1 << 16
	if port := int(f.to.Port()) + 1 + id; port < ports {
		return uint16(port)
	}
	return uint16(int(f.to.Port()) - 1 - id)
}

// itsPort says that a destination port is one that a probe may have gone to.
func (f *traceFlow) itsPort(port uint16, id int) bool {
	if f.ports != nil {
		return id < len(f.ports) && f.ports[id].Load() == uint32(port)
	}
	return port == f.to.Port() || port == f.distinctPort(id)
}

// request is the packet of a probe, from where the caller of its socket writes it: UDP's payload, the ICMP message, the TCP segment.
func (f *traceFlow) request(id int) []byte {
	switch f.protocol {
	case traceTCP:
		if f.crafted != nil {
			return f.crafted.marshal(f, id)
		}
		return segment{from: f.source(id), to: f.to.Port(), seq: f.base() + uint32(id), flags: flagSYN}.marshal(f.from.Addr(), f.to.Addr())
	case traceICMP:
		sequence := uint16(f.base()) + uint16(id)
		payload := make([]byte, tracePayload)
		copy(payload, f.token[:])
		binary.BigEndian.PutUint16(payload[tokenSize:], ^sequence) // their sum is the same for all
		binary.BigEndian.PutUint16(payload[tokenSize+4:], icmp.Checksum(f.token[:]))
		if f.ports != nil {
			binary.BigEndian.PutUint16(payload[tokenSize+2:], uint16(f.ports[id].Load())) // another checksum for another flow
		}
		return echo{ident: f.source(id), sequence: sequence, payload: payload}.marshal(f.to.Addr().Is6())
	}
	payload := make([]byte, tracePayload)
	copy(payload, f.token[:])
	binary.BigEndian.PutUint16(payload[tokenSize:], uint16(id))
	return payload
}

// quoted is which of the probes sent so far an ICMP error quotes. What it does not have to quote by RFC 792, payload, counts where it does.
func (f *traceFlow) quoted(q icmp.Quote, sent int) (id int, ok bool) {
	if f.crafted != nil {
		return f.crafted.quoted(f, q, sent)
	}
	if id, ok = f.proven(q, sent); ok {
		return id, true
	}
	if q.From != f.own() || q.To != f.to.Addr() {
		return 0, false
	}
	switch f.protocol {
	case traceTCP:
		from, to, _ := q.Ports()
		sequence, ok := q.Sequence()
		id, ok = within(int(sequence-f.base()), sent, ok && to == f.to.Port())
		return id, ok && from == f.source(id)
	case traceICMP:
		ident, sequence, _, ok := q.Echo()
		id, ok = within(int(sequence-uint16(f.base())), sent, ok)
		return id, ok && ident == f.source(id)
	}
	from, to, _ := q.Ports()
	_, checksum, payload, ok := q.UDP()
	if !ok || from != f.from.Port() || len(payload) >= tokenSize+2 { // a payload would have proven it
		return 0, false
	}
	id = f.byChecksum(checksum, to)
	return within(id, sent, id >= 0 && id < sent && f.itsPort(to, id))
}

// byPayload is which probe to an address and a port has a payload of UDP, or the beginning of one. Where the address is not the target's, a translator
// has changed it, and may have changed the port.
func (f *traceFlow) byPayload(payload []byte, sent int, to netip.AddrPort) (id int, ok bool) {
	if len(payload) < tokenSize+2 || !bytes.Equal(payload[:tokenSize], f.token[:]) {
		return 0, false
	}
	id = int(binary.BigEndian.Uint16(payload[tokenSize:]))
	return within(id, sent, id < sent && (to.Addr() != f.to.Addr() || f.itsPort(to.Port(), id)))
}

// byChecksum is which probe to a port has a UDP checksum; -1: none. The number of a probe is one word of what is summed, so that the sum tells it, but for numbers
// 0 and 65535, which are one to it.
func (f *traceFlow) byChecksum(checksum, port uint16) int {
	const most = 1<<16 - 1
	id := (int(f.checksum(0, port)) - int(checksum) + most) % most
	if f.checksum(id, port) != checksum {
		return -1
	}
	return id
}

// proven is which probe an error quotes that was about a packet whose addresses or ports a translator had changed, and whose quote nothing changed
// back. The random token of its payload tells that it is ours, of TCP the sequence number of 32 bits, all but one in a hundred million of which are not.
func (f *traceFlow) proven(q icmp.Quote, sent int) (id int, ok bool) {
	from, to, _ := q.Ports()
	switch f.protocol {
	case traceTCP:
		sequence, whole := q.Sequence()
		id, whole = within(int(sequence-f.base()), sent, whole)
		if q.To != f.to.Addr() { // the source tells then
			return id, whole && q.From == f.own() && from == f.source(id)
		}
		return id, whole && to == f.to.Port()
	case traceICMP:
		_, sequence, _, whole := q.Echo()
		return within(int(sequence-uint16(f.base())), sent, whole && tokenOf(q) == f.token)
	}
	_, _, payload, whole := q.UDP()
	if !whole {
		return 0, false
	}
	return f.byPayload(payload, sent, netip.AddrPortFrom(q.To, to))
}

// tokenOf is what stands in the payload of a quoted packet where probes of UDP and ICMP have their token; zeros: nothing does.
func tokenOf(q icmp.Quote) (token [tokenSize]byte) {
	_, _, payload, ok := q.UDP()
	if _, _, _, echo := q.Echo(); echo {
		payload, ok = q.Transport[echoHeader:], true
	}
	if ok && len(payload) >= tokenSize {
		copy(token[:], payload)
	}
	return token
}

func within(id, sent int, ok bool) (int, bool) { return id, ok && id >= 0 && id < sent }

// checksum is that of the UDP packet of a probe to a port (RFC 768).
func (f *traceFlow) checksum(id int, port uint16) uint16 {
	payload := f.request(id)
	length := uint16(udpHeader + len(payload))
	b := append(f.from.Addr().AsSlice(), f.to.Addr().AsSlice()...)
	for _, word := range []uint16{icmp.ProtocolUDP, length, f.from.Port(), port, length} {
		b = binary.BigEndian.AppendUint16(b, word)
	}
	if sum := icmp.Checksum(append(b, payload...)); sum != 0 {
		return sum
	}
	return 0xffff
}

// queued is which probe an entry of a socket's error queue is about: the kernel has seen to it that it is one of this socket's, and leaves
// its payload, or, of ICMP and TCP, its header too. nameless says that it is one, but that nothing says which.
func (f *traceFlow) queued(e sock.ICMPError, sent int) (id int, nameless, ok bool) {
	if f.protocol == traceICMP {
		id, ok = f.quoted(echoQueued(e, f.own()), sent)
		return id, false, ok
	}
	if quotes(e.Quoted, tokenSize+2) {
		id, ok = f.byPayload(e.Quoted, sent, e.To)
		return id, false, ok
	}
	if e.To.Addr() != f.to.Addr() {
		return 0, false, false
	}
	if f.ports != nil { // several probes of a flow have its port
		return 0, true, false
	}
	for id := range sent {
		if e.To.Port() == f.distinctPort(id) {
			return id, false, true
		}
	}
	return 0, e.To.Port() == f.to.Port(), false
}

// echoQueued is the quote of an echo request in an entry of the error queue, which left with an address of this host's.
func echoQueued(e sock.ICMPError, from netip.Addr) icmp.Quote {
	q := icmp.Quote{IPv6: e.To.Addr().Is6(), From: from, To: e.To.Addr(), Protocol: icmp.ProtocolICMP, Transport: e.Quoted}
	if q.IPv6 {
		q.Protocol = icmp.ProtocolICMPv6
	}
	return q
}

// extensionsOf are those of an entry of the error queue, which holds the quote from UDP's payload on, or from the header of ICMP or TCP.
func (f *traceFlow) extensionsOf(e sock.ICMPError) icmp.Extensions {
	if len(e.Extensions) > 0 {
		return icmp.ParseExtensions(e.Extensions)
	}
	before := ipHeader(f.to.Addr())
	if f.protocol == traceUDP {
		before += udpHeader
	}
	return icmp.OldExtensions(e.Quoted, before)
}

// answered is which probe the target itself answered, and how. id is -1 of a UDP packet from the port that was asked which has none of our
// payload: it is an answer, but nothing says to which probe.
func (f *traceFlow) answered(packet []byte, from netip.AddrPort, sent int) (id int, how string, ok bool) {
	if from.Addr().WithZone("") != f.to.Addr() {
		return 0, "", false
	}
	switch f.protocol {
	case traceTCP:
		a, ok := parseSegment(packet)
		if !ok || a.from != f.to.Port() || a.flags&flagACK == 0 || a.flags&(flagSYN|flagRST) == 0 {
			return 0, "", false
		}
		if how = "RST"; a.flags&flagSYN != 0 {
			how = "SYN ACK"
		}
		id, ok = within(int(a.ack-1-f.base()), sent, true)
		return id, how, ok && a.to == f.source(id)
	case traceICMP:
		a, ok := parseEcho(packet, f.to.Addr().Is6())
		if !ok || !a.reply || len(a.payload) < tokenSize || !bytes.Equal(a.payload[:tokenSize], f.token[:]) {
			return 0, "", false
		}
		id, ok = within(int(a.sequence-uint16(f.base())), sent, true)
		return id, "echo reply", ok && a.ident == f.source(id)
	}
	if id, ok = f.byPayload(packet, sent, netip.AddrPortFrom(f.to.Addr(), from.Port())); ok {
		return id, "UDP reply", true
	}
	return -1, "UDP reply", from.Port() == f.to.Port()
}

// answerOf makes an answer of an ICMP error. Its id is the caller's to set.
func (f *traceFlow) answerOf(e icmp.Error, from netip.Addr, ttl int, at sock.Stamp) traceAnswer {
	reason := sock.ICMPError{IPv6: e.IPv6, Type: e.Type, Code: e.Code}.Reason()
	return traceAnswer{from: from, at: at, ttl: ttl, expired: e.Expired(), reply: string(reason), annotation: e.Annotation(), extensions: e.Extensions,
		reached: !e.Expired() && from == f.to.Addr() || e.PortClosed()}
}
