package middlebox

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// The router of these tests, with a host inside and one outside, in both families:
//
//	a 10.0.0.1 ---[1] router [2]--- 10.0.5.2 z 10.0.9.2
//	a2 10.0.0.3 --'       10.0.5.1
const (
	insideNumber  = 1
	outsideNumber = 2
)

var (
	hostA   = netip.MustParseAddr("10.0.0.1")
	hostA2  = netip.MustParseAddr("10.0.0.3")
	hostZ   = netip.MustParseAddr("10.0.9.2")
	router  = netip.MustParseAddr("10.0.5.1")
	hostA6  = netip.MustParseAddr("fd00::a")
	hostZ6  = netip.MustParseAddr("fd00::9:2")
	router6 = netip.MustParseAddr("fd00::5:1")

	place = Place{
		Outside:  []Interface{{outsideNumber, Addresses{router, router6}}},
		Inside:   []int{insideNumber},
		Forwards: []Addresses{{hostA2, hostA6}},
	}
)

// ap joins an address and a port.
func ap(a netip.Addr, port uint16) netip.AddrPort { return netip.AddrPortFrom(a, port) }

// naiveSum is the Internet checksum's sum, as RFC 1071 section 4.1 writes it.
func naiveSum(total uint32, b []byte) uint32 {
	for i, v := range b {
		total += uint32(v) << (8 * (1 - i%2))
	}
	for total > 0xffff {
		total = total>>16 + total&0xffff
	}
	return total
}

// transportSum is the sum that is 0xffff if the transport checksum is right.
func transportSum(b []byte, protocol byte, at int) uint32 {
	if protocol == packet.ProtocolICMP {
		return naiveSum(0, b[at:])
	}
	source, target := packet.Source(b).AsSlice(), packet.Target(b).AsSlice()
	return naiveSum(naiveSum(naiveSum(uint32(protocol)+uint32(len(b)-at), source), target), b[at:])
}

var checksumAt = map[byte]int{packet.ProtocolTCP: 16, packet.ProtocolUDP: 6, packet.ProtocolICMP: 2, packet.ProtocolICMPv6: 2}

// verify checks every checksum of a whole packet from scratch, and of the header that an ICMP error quotes.
func verify(b []byte) error {
	if packet.Version(b) == 4 && naiveSum(0, b[:int(b[0]&15)*4]) != 0xffff {
		return errors.New("bad IPv4 header checksum")
	}
	protocol, at := packet.Transport(b)
	field, known := checksumAt[protocol]
	if at < 0 || !known || packet.IsFragment(b) {
		return nil
	}
	if protocol == packet.ProtocolUDP && be.Uint16(b[at+field:]) == 0 {
		return nil
	}
	if at+field+2 <= len(b) && transportSum(b, protocol, at) != 0xffff {
		return fmt.Errorf("bad transport checksum of protocol %d", protocol)
	}
	inner, ok := packet.Quoted(b)
	if ok && packet.Version(inner) == 4 && naiveSum(0, inner[:int(inner[0]&15)*4]) != 0xffff {
		return errors.New("bad IPv4 header checksum in the quotation")
	}
	return nil
}

// wrap puts an IP header before a transport header and payload, and seals both.
func wrap(source, target netip.Addr, protocol byte, transport []byte) []byte {
	head := make([]byte, 20, 40+len(transport))
	if source.Is4() {
		copy(head, []byte{0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, protocol})
		be.PutUint16(head[2:], uint16(20+len(transport)))
		copy(head[12:], source.AsSlice())
		copy(head[16:], target.AsSlice())
		be.PutUint16(head[10:], ^uint16(naiveSum(0, head)))
	} else {
		head = head[:40]
		copy(head, []byte{0x60, 0, 0, 0, 0, 0, protocol, 64})
		be.PutUint16(head[4:], uint16(len(transport)))
		copy(head[8:], source.AsSlice())
		copy(head[24:], target.AsSlice())
	}
	b := append(head, transport...)
	at := len(b) - len(transport)
	if field, known := checksumAt[protocol]; known {
		be.PutUint16(b[at+field:], ^uint16(transportSum(b, protocol, at)))
	}
	return b
}

// tcp makes a TCP packet with options, which are padded with NOPs, and a payload.
func tcp(source, target netip.AddrPort, flags byte, options []byte, payload string) []byte {
	for len(options)%4 != 0 {
		options = append(options, 1)
	}
	h := make([]byte, 20, 60+len(payload))
	be.PutUint16(h, source.Port())
	be.PutUint16(h[2:], target.Port())
	be.PutUint32(h[4:], 1000)
	be.PutUint32(h[8:], 2000)
	h[12], h[13] = byte(5+len(options)/4)<<4, flags
	h = append(append(h, options...), payload...)
	return wrap(source.Addr(), target.Addr(), packet.ProtocolTCP, h)
}

func udpPacket(source, target netip.AddrPort, payload string) []byte {
	h := make([]byte, 8, 8+len(payload))
	be.PutUint16(h, source.Port())
	be.PutUint16(h[2:], target.Port())
	be.PutUint16(h[4:], uint16(8+len(payload)))
	return wrap(source.Addr(), target.Addr(), packet.ProtocolUDP, append(h, payload...))
}

// echoPacket makes an echo request, or a reply.
func echoPacket(source, target netip.Addr, reply bool, id uint16) []byte {
	kind, protocol := byte(8), byte(packet.ProtocolICMP)
	switch {
	case source.Is6() && reply:
		kind, protocol = 129, packet.ProtocolICMPv6
	case source.Is6():
		kind, protocol = 128, packet.ProtocolICMPv6
	case reply:
		kind = 0
	}
	h := []byte{kind, 0, 0, 0, byte(id >> 8), byte(id), 0, 1, 'h', 'e', 'l', 'l', 'o'}
	return wrap(source, target, protocol, h)
}

// errorAbout makes the ICMP error that a node sends about a packet.
func errorAbout(t testing.TB, from netip.Addr, about []byte, what packet.Trouble) []byte {
	t.Helper()
	p := packet.Complaint(&packet.Pool{}, from, &packet.Packet{Data: about}, what, 1400)
	if p == nil {
		t.Fatal("no complaint")
	}
	return p.Data
}

// through sends a copy of a packet through a box, and returns what comes out, nil if it was dropped, and the cause. To
// below 0 means that it is for the router itself.
func through(t testing.TB, b *Box, at int64, data []byte, from, to int) ([]byte, packet.Cause) {
	t.Helper()
	p := &packet.Packet{Data: append([]byte(nil), data...)}
	v := b.Arrive(at, p, from)
	if v.Cause == packet.Kept && to >= 0 {
		v = b.Leave(at, p, from, to)
	}
	if v.Cause != packet.Kept {
		return nil, v.Cause
	}
	if err := verify(p.Data); err != nil && verify(data) == nil {
		t.Errorf("%s became %s: %v", packet.KeyOf(data), packet.KeyOf(p.Data), err)
	}
	return p.Data, packet.Kept
}

// out and in send a packet from inside to outside and back, and name the flow that comes out, or the cause of a drop.
func out(t testing.TB, b *Box, at int64, data []byte) string {
	t.Helper()
	return named(through(t, b, at, data, insideNumber, outsideNumber))
}

func in(t testing.TB, b *Box, at int64, data []byte) string {
	t.Helper()
	return named(through(t, b, at, data, outsideNumber, insideNumber))
}

func named(data []byte, cause packet.Cause) string {
	if data == nil {
		return cause.String()
	}
	return packet.KeyOf(data).String()
}

// read reads a configuration as it stands in a lab file.
func read(t testing.TB, text string) *Config {
	t.Helper()
	c, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const second = int64(1e9)
