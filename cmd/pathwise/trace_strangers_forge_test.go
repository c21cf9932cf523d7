package main

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/proto/icmp"
)

// probed is a packet of host a's that strangers answer.
type probed struct {
	ipv6      bool
	ttl       byte
	protocol  byte
	header    int // bytes of the IP header
	from, to  netip.Addr
	packet    []byte
	transport []byte
}

// readProbed reads a packet; ok is false of one that is no probe of host a's: of other hosts, of a connection's end, and of answers.
func readProbed(b []byte) (p probed, ok bool) {
	if len(b) < 28 {
		return p, false
	}
	p = probed{ttl: b[8], protocol: b[9], header: 20, packet: b}
	if b[0]>>4 == 6 {
		if len(b) < 48 {
			return p, false
		}
		p = probed{ipv6: true, ttl: b[7], protocol: b[6], header: 40, packet: b, from: netip.AddrFrom16([16]byte(b[8:])), to: netip.AddrFrom16([16]byte(b[24:]))}
	} else {
		p.from, p.to = netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
	}
	p.transport = b[p.header:]
	switch p.protocol {
	case unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6:
		ok = p.transport[0] == 8 || p.transport[0] == 128
	case unix.IPPROTO_TCP:
		const reset = 4
		ok = len(p.transport) >= 20 && p.transport[13]&reset == 0
	case unix.IPPROTO_UDP:
		ok = true
	}
	return p, ok && (p.from == hostA || p.from == hostA6)
}

// strangerOf is a stranger's address in the family of a packet.
func (p probed) stranger() netip.Addr {
	if p.ipv6 {
		return stranger6
	}
	return stranger
}

// mostQuoted is how much of a packet a router quotes at most (RFC 1812, 4.3.2.3).
const mostQuoted = 548

// typeExpired, typeRefused and typeTooBig are types and codes of ICMP errors, over IPv4 and IPv6.
var (
	typeExpired = [2][2]byte{{icmp.Exceeded4, 0}, {icmp.Exceeded6, 0}}
	typeRefused = [2][2]byte{{icmp.Unreachable4, 3}, {icmp.Unreachable6, 4}}
	typeTooBig  = [2][2]byte{{icmp.Unreachable4, 4}, {icmp.TooBig6, 0}}
)

// says is an ICMP error of a stranger's about a packet that may never have been.
func (p probed) says(kind [2][2]byte, from netip.Addr, quote, extensions []byte) []byte {
	of := kind[0]
	if p.ipv6 {
		of = kind[1]
	}
	message := []byte{of[0], of[1], 0, 0, 0, 0, 0x03, 0xe8} // too large for 1000 bytes
	if len(extensions) > 0 {
		quote = append(slices.Clone(quote), make([]byte, 128)...)[:128]
		message[4], message[5] = 128/8, 0
		if !p.ipv6 {
			message[4], message[5] = 0, 128/4
		}
	}
	protocol := byte(unix.IPPROTO_ICMP)
	if p.ipv6 {
		protocol = unix.IPPROTO_ICMPV6
	}
	return p.back(from, protocol, append(append(message, quote...), extensions...), 2)
}

// back is a packet to who sent p, with the checksum of its transport header at some place.
func (p probed) back(from netip.Addr, protocol byte, data []byte, sumAt int) []byte {
	data = slices.Clone(data)
	data[sumAt], data[sumAt+1] = 0, 0
	covered := data
	if protocol != unix.IPPROTO_ICMP {
		covered = append(append(from.AsSlice(), p.from.AsSlice()...), 0, protocol)
		covered = append(binary.BigEndian.AppendUint16(covered, uint16(len(data))), data...)
	}
	binary.BigEndian.PutUint16(data[sumAt:], icmp.Checksum(covered))
	if !p.ipv6 {
		return ipPacket(from, protocol, data)
	}
	b := append([]byte{0x60, 0, 0, 0, byte(len(data) >> 8), byte(len(data)), protocol, 64}, from.AsSlice()...)
	return append(append(b, p.from.AsSlice()...), data...)
}

// wrongErrors are ICMP errors about packets that look like p, but for one thing each.
func (p probed) wrongErrors() (all [][]byte) {
	t := p.header
	least, whole := p.packet[:t+8], p.packet[:min(len(p.packet), mostQuoted)]
	quotes := [][]byte{p.packet[:t], p.packet[:t+4], changed(changed(changed(least, t-5), t+3), t+4)} // too short; the source, or part of the target, a port, and what follows
	switch p.protocol {
	case unix.IPPROTO_UDP:
		const payload, id = 8, 16
		quotes = append(quotes, changed(whole, t+payload), changed(whole, t+id), changed(least, t+1), changed(least, t-1)) // the token, the number, the port, the target
	case unix.IPPROTO_TCP:
		quotes = append(quotes, changed(p.packet[:t+20], t+4), changed(least, t+4), changed(least, t+6)) // the sequence number
	default:
		quotes = append(quotes, changed(least, t+4), changed(whole, t+6)) // the identifier, the sequence number
	}
	for i, quote := range quotes {
		kinds := [][2][2]byte{typeExpired, typeRefused}
		all = append(all, p.says(kinds[i%2], p.stranger(), quote, nil), p.says(kinds[(i+1)%2], p.to, quote, nil))
	}
	labels := []byte{0x20, 0, 0xd2, 0xf7, 0, 8, 1, 1, 0, 1, 0x11, 1} // MPLS, with a checksum that is wrong
	long := []byte{0x20, 0, 0, 0, 0xff, 0, 1, 1}                     // an object longer than the message
	return append(all, p.says(typeExpired, p.stranger(), quotes[3], labels), p.says(typeExpired, p.stranger(), quotes[3], long))
}

// wrongAnswers look as if the target had sent them, but for one thing each.
func (p probed) wrongAnswers() (all [][]byte) {
	t := p.transport
	ports := append(slices.Clone(t[2:4]), t[:2]...)
	switch p.protocol {
	case unix.IPPROTO_UDP:
		datagram := append(append(ports, 0, byte(len(t)), 0, 0), t[8:min(len(t), 200)]...)
		datagram[5] = byte(len(datagram))
		all = append(all, p.back(p.to, unix.IPPROTO_UDP, changed(datagram, 1), 6), p.back(p.stranger(), unix.IPPROTO_UDP, changed(datagram, 9), 6))
	case unix.IPPROTO_TCP:
		segment := func(seq, ack []byte, flags byte, data string) {
			header := append(append(append(slices.Clone(ports), seq...), ack...), 5<<4, flags, 0xff, 0xff, 0, 0, 0, 0)
			all = append(all, p.back(p.to, unix.IPPROTO_TCP, append(header, data...), 16))
		}
		next := binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(t[4:])+1)
		unknown := changed(next, 0)
		segment([]byte{1, 2, 3, 4}, unknown, 0x12, "")         // SYN ACK
		segment([]byte{0, 0, 0, 0}, unknown, 0x14, "")         // RST ACK
		segment([]byte{5, 6, 7, 8}, []byte{0, 0, 0, 0}, 4, "") // RST
		segment(changed(t[8:12], 0), next, 0x19, "{}\n")       // data, and the end
	case unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6:
		reply := slices.Clone(t)
		reply[0] = map[bool]byte{false: 0, true: 129}[p.ipv6]
		all = append(all, p.back(p.to, p.protocol, changed(reply, 8), 2), p.back(p.to, p.protocol, changed(reply, 4), 2))
	}
	return all
}

// everything is what strangers answer: wrong errors and answers, and, of packets that expire at the router, right ones that come after the router's own.
func everything(b []byte) (all []forged) {
	p, ok := readProbed(b)
	if !ok {
		return nil
	}
	for _, packet := range append(p.wrongErrors(), p.wrongAnswers()...) {
		all = append(all, forged{packet: packet})
	}
	if p.ttl == 1 {
		for _, after := range []time.Duration{30 * time.Millisecond, 60 * time.Millisecond} {
			all = append(all, forged{after, p.says(typeExpired, p.stranger(), p.packet[:min(len(p.packet), mostQuoted)], nil)}, forged{after, p.says(typeRefused, p.to, p.packet[:min(len(p.packet), mostQuoted)], nil)})
		}
	}
	return all
}
