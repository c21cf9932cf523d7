package sock

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ipv4 and ipv6 are packets between two addresses with what follows the header.
func ipv4(protocol byte, from, to string, ttl byte, rest ...byte) []byte {
	b := make([]byte, ipv4Least)
	b[0], b[8], b[9] = 0x45, ttl, protocol
	copy(b[12:], netip.MustParseAddr(from).AsSlice())
	copy(b[16:], netip.MustParseAddr(to).AsSlice())
	return append(b, rest...)
}

func ipv6(protocol byte, from, to string, hops byte, rest ...byte) []byte {
	b := make([]byte, ipv6Header)
	b[0], b[6], b[7] = 0x60, protocol, hops
	copy(b[8:], netip.MustParseAddr(from).AsSlice())
	copy(b[24:], netip.MustParseAddr(to).AsSlice())
	return append(b, rest...)
}

// tcp is the header of a segment.
func tcp(from, to uint16, flags byte) []byte {
	b := make([]byte, 20)
	binary.BigEndian.PutUint16(b, from)
	binary.BigEndian.PutUint16(b[2:], to)
	b[flagsAt] = flags
	return b
}

// Segments are told by their ends, and ICMP errors by those of the segment that they quote, of which eight bytes are enough (RFC 792). What is
// neither is passed over.
func TestParseTapped(t *testing.T) {
	const bob, carol, router = "10.0.0.1", "10.0.2.2", "10.0.1.1"
	const bob6, carol6, router6 = "2001:db8::1", "2001:db8:2::2", "2001:db8:1::1"
	ends := func(from, to string) (netip.AddrPort, netip.AddrPort) {
		return netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	}
	from, to := ends("10.0.0.1:4000", "10.0.2.2:22")
	from6, to6 := ends("[2001:db8::1]:4000", "[2001:db8:2::2]:22")
	syn := ipv4(protocolTCP, bob, carol, 64, tcp(4000, 22, FlagSYN)...)
	syn6 := ipv6(protocolTCP, bob6, carol6, 64, tcp(4000, 22, FlagSYN)...)
	later := ipv4(protocolTCP, bob, carol, 64, tcp(4000, 22, FlagSYN)...)
	later[7] = 1 // a fragment that is not the first
	for name, c := range map[string]struct {
		packet []byte
		want   *Tapped // nil: it is passed over
	}{
		"SYN":       {syn, &Tapped{Sender: netip.MustParseAddr(bob), TTL: 64, From: from, To: to, Flags: FlagSYN}},
		"SYN, IPv6": {syn6, &Tapped{Sender: netip.MustParseAddr(bob6), TTL: 64, From: from6, To: to6, Flags: FlagSYN}},
		"RST": {ipv4(protocolTCP, carol, bob, 62, tcp(22, 4000, FlagRST|FlagACK)...),
			&Tapped{Sender: netip.MustParseAddr(carol), TTL: 62, From: to, To: from, Flags: FlagRST | FlagACK}},
		"prohibited": {ipv4(protocolICMP, router, bob, 63, append([]byte{3, 13, 0, 0, 0, 0, 0, 0}, syn[:28]...)...),
			&Tapped{Sender: netip.MustParseAddr(router), TTL: 63, From: from, To: to,
				Error: &ICMPError{Type: 3, Code: 13, Offender: netip.MustParseAddr(router), TTL: 63, To: to}}},
		"prohibited, IPv6": {ipv6(protocolICMPv6, router6, bob6, 63, append([]byte{1, 1, 0, 0, 0, 0, 0, 0}, syn6[:48]...)...),
			&Tapped{Sender: netip.MustParseAddr(router6), TTL: 63, From: from6, To: to6,
				Error: &ICMPError{IPv6: true, Type: 1, Code: 1, Offender: netip.MustParseAddr(router6), TTL: 63, To: to6}}},
		"echo":                     {ipv4(protocolICMP, router, bob, 63, append([]byte{8, 0, 0, 0, 0, 0, 0, 0}, syn...)...), nil},
		"echo, IPv6":               {ipv6(protocolICMPv6, router6, bob6, 63, append([]byte{128, 0, 0, 0, 0, 0, 0, 0}, syn6...)...), nil},
		"error about UDP":          {ipv4(protocolICMP, router, bob, 63, append([]byte{3, 3, 0, 0, 0, 0, 0, 0}, ipv4(17, bob, carol, 64, tcp(1, 2, 0)...)...)...), nil},
		"error without its packet": {ipv4(protocolICMP, router, bob, 63, 3, 3, 0, 0, 0, 0, 0, 0), nil},
		"ICMP of the other family": {ipv6(protocolICMP, router6, bob6, 63, append([]byte{3, 13, 0, 0, 0, 0, 0, 0}, syn6...)...), nil},
		"a later fragment":         {later, nil},
		"UDP":                      {ipv4(17, bob, carol, 64, tcp(4000, 22, 0)...), nil},
		"a segment cut short":      {syn[:30], nil},
		"a header cut short":       {syn6[:39], nil},
		"ARP":                      {make([]byte, 28), nil},
		"nothing":                  {nil, nil},
	} {
		got, ok := parseTapped(c.packet)
		if c.want == nil {
			if ok {
				t.Errorf("%s: %+v, want it passed over", name, got)
			}
			continue
		}
		if diff := cmp.Diff(*c.want, got, cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{})); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got):\n%s", name, ok, diff)
		}
	}
}

func FuzzParseTapped(f *testing.F) {
	syn := ipv4(protocolTCP, "10.0.0.1", "10.0.2.2", 64, tcp(4000, 22, FlagSYN)...)
	f.Add(syn)
	f.Add(ipv6(protocolTCP, "2001:db8::1", "2001:db8::2", 64, tcp(4000, 22, FlagSYN)...))
	f.Add(ipv4(protocolICMP, "10.0.1.1", "10.0.0.1", 63, append([]byte{3, 13, 0, 0, 0, 0, 0, 0}, syn...)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		seen, ok := parseTapped(b)
		if ok && (!seen.From.IsValid() || !seen.To.IsValid() || !seen.Sender.IsValid()) {
			t.Errorf("%x: %+v lacks an end", b, seen)
		}
	})
}
