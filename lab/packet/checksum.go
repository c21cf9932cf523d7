package packet

import (
	"encoding/binary"
	"math/bits"
)

// sum is the one's complement sum of b's 16-bit words (RFC 1071), not complemented; an odd last byte counts as the
// upper half of a word. It adds 8 bytes at a time in little-endian order, which costs no swap on most machines: the
// sum of swapped words is the swapped sum (RFC 1071 section 2(B)).
func sum(b []byte) uint16 {
	var total, carry uint64
	for ; len(b) >= 64; b = b[64:] {
		chunk := b[:64]
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(chunk[0:]), carry)
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(chunk[8:]), carry)
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(chunk[16:]), carry)
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(chunk[24:]), carry)
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(chunk[32:]), carry)
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(chunk[40:]), carry)
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(chunk[48:]), carry)
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(chunk[56:]), carry)
		total, carry = bits.Add64(total, 0, carry)
	}
	for ; len(b) >= 8; b = b[8:] {
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(b), carry)
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		total, carry = bits.Add64(total, binary.LittleEndian.Uint64(last[:]), carry)
	}
	total, carry = bits.Add64(total, 0, carry)
	total += carry
	return bits.ReverseBytes16(fold(total))
}

// fold adds a sum's carries back until 16 bits hold it.
func fold(total uint64) uint16 {
	total = total>>32 + total&0xffffffff
	total = total>>16 + total&0xffff
	total = total>>16 + total&0xffff
	return uint16(total>>16 + total)
}

// add is the one's complement sum of two sums.
func add(a, b uint16) uint16 { return fold(uint64(a) + uint64(b)) }

// mend corrects the checksum at the start of field for a change of covered bytes from those that sum up to old to those
// that sum up to new (RFC 1624 equation 3: HC' = ~(~HC + ~m + m')).
func mend(field []byte, old, new uint16) {
	check := ^be.Uint16(field)
	be.PutUint16(field, ^fold(uint64(check)+uint64(^old)+uint64(new)))
}

// pseudo is the sum of the pseudo-header (RFC 9293 section 3.1, RFC 8200 section 8.1) of a transport header and payload
// of the given length. A routing header that has hops left is not looked into.
func pseudo(b []byte, protocol byte, length int) uint16 {
	var addresses []byte
	if b[0]>>4 == 4 {
		addresses = b[v4Source:v4MinHeader]
	} else {
		addresses = b[v6Source:v6Header]
	}
	return fold(uint64(sum(addresses)) + uint64(protocol) + uint64(length))
}

// checksumField returns where the checksum is in a transport header, and whether it covers the pseudo-header; the place
// is -1 for protocols that this package does not know.
func checksumField(protocol byte) (offset int, withPseudo bool) {
	switch protocol {
	case ProtocolTCP:
		return tcpChecksum, true
	case ProtocolUDP:
		return udpChecksum, true
	case ProtocolICMPv6:
		return icmpChecksum, true
	case ProtocolICMP:
		return icmpChecksum, false
	}
	return -1, false
}

// seal writes the checksum of the transport header at at, over it and all that follows.
func seal(b []byte, protocol byte, at int) {
	offset, withPseudo := checksumField(protocol)
	field := b[at+offset:]
	be.PutUint16(field, 0)
	total := sum(b[at:])
	if withPseudo {
		total = add(total, pseudo(b, protocol, len(b)-at))
	}
	putChecksum(field, ^total, protocol == ProtocolUDP)
}

// putChecksum writes a checksum. In UDP 0 means that there is none, and the equal 0xffff stands for it (RFC 768).
func putChecksum(field []byte, check uint16, udp bool) {
	if udp && check == 0 {
		check = 0xffff
	}
	be.PutUint16(field, check)
}

// Finish does the checksum that VNet left to the adapter, and makes VNet zero. It does nothing to a super-packet of
// several segments; those need Split or Cut. A place in the IP header, where no transport checksum can be, is left
// alone.
func (p *Packet) Finish() {
	if p.VNet == (VNet{}) || p.Segments() > 1 {
		return
	}
	start, offset := int(p.VNet.ChecksumStart), int(p.VNet.ChecksumOffset)
	if p.VNet.NeedsChecksum && start >= networkHeader(p.Data) && start+offset+2 <= len(p.Data) {
		putChecksum(p.Data[start+offset:], ^sum(p.Data[start:]), offset == udpChecksum)
	}
	p.VNet = VNet{}
}

// mendTransport corrects the transport checksum for a change of covered bytes, in the pseudo-header or behind it. A
// checksum left to the adapter holds the pseudo-header's sum alone, as it is; a UDP checksum of 0 means none.
func (p *Packet) mendTransport(protocol byte, at int, old, new uint16, inPseudo bool) {
	mendTransport(p.Data, protocol, at, old, new, inPseudo, p.VNet.NeedsChecksum)
}

func mendTransport(b []byte, protocol byte, at int, old, new uint16, inPseudo, partial bool) {
	offset, withPseudo := checksumField(protocol)
	if offset < 0 || at < 0 || at+offset+2 > len(b) || inPseudo && !withPseudo {
		return
	}
	field := b[at+offset:]
	switch check := be.Uint16(field); {
	case partial && inPseudo:
		be.PutUint16(field, fold(uint64(check)+uint64(^old)+uint64(new)))
	case partial:
	case protocol == ProtocolUDP && check == 0:
	default:
		mend(field, old, new)
		putChecksum(field, be.Uint16(field), protocol == ProtocolUDP)
	}
}
