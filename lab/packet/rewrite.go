package packet

import "net/netip"

// Rewrite changes the packet's source (or else its target) to an address and port, as a translator does, and mends
// every checksum (RFC 3022 section 4.2; UDP's 0, "none", stays). An ICMP echo's identifier is the port of the host
// that asks: a request's source, a reply's target (RFC 5508 section 3.1). A later fragment and a protocol other than
// TCP, UDP and echo get the address alone. Nothing happens if the address is not of the packet's family.
func (p *Packet) Rewrite(source bool, to netip.AddrPort) {
	rewrite(p.Data, source, to, p.VNet.NeedsChecksum)
}

// RewriteQuoted does to the packet that an ICMP error quotes what Rewrite does to a packet, as far as the quotation
// reaches, and mends the error's checksum (RFC 5508 section 4.2).
func (p *Packet) RewriteQuoted(source bool, to netip.AddrPort) { p.rewriteQuoted(source, to, false) }

// RewriteQuotedAddresses writes addresses and ports into the packet that an ICMP error quotes, as RewriteQuoted does, but leaves the
// transport checksum of the quoted packet as it is: as the translator made it on the way there. Many translators do that.
func (p *Packet) RewriteQuotedAddresses(source bool, to netip.AddrPort) {
	p.rewriteQuoted(source, to, true)
}

func (p *Packet) rewriteQuoted(source bool, to netip.AddrPort, leaveChecksum bool) {
	inner, ok := Quoted(p.Data)
	if !ok {
		return
	}
	protocol, at := Transport(p.Data)
	old := sum(inner)
	var checksum []byte
	if kind, start := Transport(inner); leaveChecksum && start >= 0 {
		if offset, _ := checksumField(kind); offset >= 0 && start+offset+2 <= len(inner) {
			checksum = inner[start+offset:][:2]
		}
	}
	kept := [2]byte{}
	copy(kept[:], checksum)
	rewrite(inner, source, to, false)
	copy(checksum, kept[:])
	p.mendTransport(protocol, at, old, sum(inner), false)
}

func rewrite(b []byte, source bool, to netip.AddrPort, partial bool) {
	address := to.Addr().Unmap()
	if !address.IsValid() || address.Is4() != (b[0]>>4 == 4) {
		return
	}
	protocol, at := Transport(b)
	field := addressField(b, source)
	old := sum(field)
	if source {
		setSource(b, address)
	} else {
		setTarget(b, address)
	}
	if address.Is4() {
		mend(b[v4Checksum:], old, sum(field))
	}
	mendTransport(b, protocol, at, old, sum(field), true, partial)
	if port := portField(b, source); port > 0 {
		old := be.Uint16(b[port:])
		be.PutUint16(b[port:], to.Port())
		mendTransport(b, protocol, at, old, to.Port(), false, partial)
	}
}

func addressField(b []byte, source bool) []byte {
	switch {
	case b[0]>>4 == 4 && source:
		return b[v4Source:v4Target]
	case b[0]>>4 == 4:
		return b[v4Target:v4MinHeader]
	case source:
		return b[v6Source:v6Target]
	}
	return b[v6Target:v6Header]
}

// portField returns where the port, or what stands for it, of one end is; 0 if nowhere.
func portField(b []byte, source bool) int {
	protocol, at := Transport(b)
	if at < 0 {
		return 0
	}
	if protocol == ProtocolTCP || protocol == ProtocolUDP {
		if source {
			return at
		}
		return at + 2
	}
	if request, reply, _ := echo(b); request && source || reply && !source {
		return at + icmpID
	}
	return 0
}

// FlipBit flips one bit, which random chooses, of the payload behind the transport header; of the transport header if
// there is no payload. To hide it the transport checksum is mended, so that it still verifies; else a checksum that was
// left to the adapter is done first, so that it shows. It always shows in a later fragment, and never where there is no
// checksum. A super-packet must be cut first. It reports false if there is no bit to flip.
func (p *Packet) FlipBit(random uint64, hide bool) bool {
	if !hide {
		p.Finish()
	}
	b := p.Data
	protocol, at := Transport(b)
	start := behind(b)
	if start == len(b) && at >= 0 {
		start = at
	}
	bits := uint64(len(b)-start) * 8
	if bits == 0 {
		return false
	}
	place := start + int(random%bits/8)
	if hide && protocol == ProtocolUDP && at >= 0 && place-at >= udpLength && place-at < udpHeader {
		place = at + (place-at)&1 // to the source port: a wrong length shows, and the checksum is next to it
	}
	if hide && at >= 0 && inChecksum(protocol, place-at) {
		place -= 2 // a checksum cannot make up for itself
	}
	if at < 0 {
		b[place] ^= 1 << (random % 8)
		p.Spoilt = true
		return true
	}
	even := at + (place-at)&^1
	word := b[even:min(even+2, len(b))]
	old := sum(word)
	b[place] ^= 1 << (random % 8)
	if hide {
		p.mendTransport(protocol, at, old, sum(word), false)
	}
	p.Spoilt = true
	return true
}

// inChecksum reports whether a byte of the transport header belongs to its checksum.
func inChecksum(protocol byte, i int) bool {
	offset, _ := checksumField(protocol)
	return offset >= 0 && i&^1 == offset
}

// UDP writes the headers of a UDP packet of len(b) bytes, with checksums over the payload as it lies in b. Source and
// target are of one family; b is at least as long as the headers (28 bytes, IPv6: 48).
func UDP(b []byte, source, target netip.AddrPort, dscp byte, hopLimit byte) {
	from, to := source.Addr().Unmap(), target.Addr().Unmap()
	writeHeader(b, from, to, ProtocolUDP, dscp<<2, hopLimit)
	at := minHeader(to)
	udp := b[at:]
	be.PutUint16(udp, source.Port())
	be.PutUint16(udp[2:], target.Port())
	be.PutUint16(udp[udpLength:], uint16(len(udp)))
	seal(b, ProtocolUDP, at)
}
