package middlebox

import "github.com/pathwise-net/pathwise/lab/packet"

// Offsets in the TCP header (RFC 9293 section 3.1).
const (
	tcpSequence        = 4
	tcpAcknowledgement = 8
	tcpFlags           = 13
	tcpChecksum        = 16
	icmpChecksum       = 2 // in ICMP's (RFC 792)
)

// shift is what firewalls do that hide how predictably hosts choose their first sequence number: all sequence numbers of
// one direction of a connection are shifted by one secret amount, and the acknowledgements that come back are shifted
// back. Like the well-known fault of such firewalls it forgets the blocks of the SACK option, which then name bytes that
// the sender never sent, so that SACK does harm or nothing. What the peer's ICMP errors quote is shifted back.
//
// The amount is a hash of the flow, so that nothing has to be remembered; both directions must pass the same router. It
// reports whether the packet was changed.
func shift(p *packet.Packet, seed uint64) bool {
	b := p.Data
	if inner, ok := packet.Quoted(b); ok {
		return shiftQuoted(p, inner, seed)
	}
	protocol, at := packet.Transport(b)
	if protocol != packet.ProtocolTCP || at < 0 || at+tcpMinHeader > len(b) {
		return false
	}
	k := packet.KeyOf(b)
	var check []byte
	if !p.VNet.NeedsChecksum { // else it covers no number yet
		check = b[at+tcpChecksum:]
	}
	bump(b[at+tcpSequence:], secret(k, seed), check)
	if flags, _ := packet.TCPFlags(b); flags&packet.FlagACK != 0 {
		bump(b[at+tcpAcknowledgement:], -secret(k.Reverse(), seed), check)
	}
	return true
}

// shiftQuoted gives a quoted TCP packet the numbers back that its sender knows. Where the quotation has the TCP
// checksum, that makes up for the change in the error's checksum, too.
func shiftQuoted(p *packet.Packet, inner []byte, seed uint64) bool {
	protocol, at := packet.Transport(inner)
	if protocol != packet.ProtocolTCP || at < 0 {
		return false
	}
	_, outer := packet.Transport(p.Data)
	check := p.Data[outer+icmpChecksum:]
	if at+tcpChecksum+2 <= len(inner) {
		check = inner[at+tcpChecksum:]
	}
	k := packet.KeyOf(inner)
	bump(inner[at+tcpSequence:], -secret(k, seed), check)
	if at+tcpFlags < len(inner) && inner[at+tcpFlags]&packet.FlagACK != 0 {
		bump(inner[at+tcpAcknowledgement:], secret(k.Reverse(), seed), check)
	}
	return true
}

// bump adds to a number in a packet, and mends the checksum that covers it, if there is one to mend (RFC 1624).
func bump(number []byte, amount uint32, check []byte) {
	old := be.Uint32(number)
	new := old + amount
	be.PutUint32(number, new)
	if check == nil {
		return
	}
	sum := uint32(^be.Uint16(check)) + ^old>>16 + ^old&0xffff + new>>16 + new&0xffff
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	be.PutUint16(check, ^uint16(sum))
}

// secret is the amount for one direction of a connection.
func secret(k packet.Key, seed uint64) uint32 { return uint32(k.Hash(seed)) }
