package packet

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
)

// Key tells flows apart: the five-tuple. Addresses of IPv4 are in the first four bytes. The identifier of an ICMP echo
// is the port of the host that asks, so that a reply's key is the reverse of its request's. Ports are 0 where they
// cannot be seen, as in later fragments. Keys can be compared, and be keys of a map.
type Key struct {
	Source, Target         [16]byte
	SourcePort, TargetPort uint16
	Protocol, Version      byte
}

// KeyOf returns the key of a packet's flow.
func KeyOf(b []byte) (k Key) {
	protocol, at := Transport(b)
	k.Protocol = protocol
	if b[0]>>4 == 4 {
		k.Version = 4
		copy(k.Source[:4], b[v4Source:v4Target])
		copy(k.Target[:4], b[v4Target:v4MinHeader])
	} else {
		k.Version = 6
		k.Source = [16]byte(b[v6Source:])
		k.Target = [16]byte(b[v6Target:])
	}
	switch {
	case at < 0:
	case hasPorts(protocol):
		k.SourcePort, k.TargetPort = be.Uint16(b[at:]), be.Uint16(b[at+2:])
	case isICMP(b, protocol):
		if request, reply, _ := echo(b); request {
			k.SourcePort = be.Uint16(b[at+icmpID:])
		} else if reply {
			k.TargetPort = be.Uint16(b[at+icmpID:])
		}
	}
	return k
}

// To is the key of the same packets, were they for another address of their family.
func (k Key) To(target netip.Addr) Key {
	k.Target = [16]byte{}
	copy(k.Target[:], target.AsSlice())
	return k
}

// Reverse is the key of the packets that go back.
func (k Key) Reverse() Key {
	k.Source, k.Target = k.Target, k.Source
	k.SourcePort, k.TargetPort = k.TargetPort, k.SourcePort
	return k
}

// Odd 64-bit numbers without pattern: the fractional parts of the square roots of 2, 3 and 5, made odd.
const (
	mixer2 = 0x6a09e667f3bcc909
	mixer3 = 0xbb67ae8584caa73b
	mixer5 = 0x3c6ef372fe94f82b
)

// Hash spreads keys evenly over 64 bits, in another way for another seed. The same key and seed always give the same.
func (k Key) Hash(seed uint64) uint64 {
	word := binary.LittleEndian
	h := mix(seed^mixer2, word.Uint64(k.Source[:8])^mixer3)
	h = mix(h^word.Uint64(k.Source[8:]), word.Uint64(k.Target[:8])^mixer5)
	rest := uint64(k.SourcePort) | uint64(k.TargetPort)<<16 | uint64(k.Protocol)<<32 | uint64(k.Version)<<40
	h = mix(h^word.Uint64(k.Target[8:])^mixer3, rest^mixer2)
	return mix(h^seed, mixer5)
}

// mix folds the 128-bit product, of which every bit depends on many bits of both factors.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// Addresses returns both ends' addresses.
func (k Key) Addresses() (source, target netip.Addr) {
	if k.Version == 4 {
		return netip.AddrFrom4([4]byte(k.Source[:4])), netip.AddrFrom4([4]byte(k.Target[:4]))
	}
	return netip.AddrFrom16(k.Source), netip.AddrFrom16(k.Target)
}

// String is for people: "tcp 10.0.0.1:5201 > 10.0.2.2:40000", "icmp 10.0.0.1 > 10.0.2.2 id 7".
func (k Key) String() string {
	source, target := k.Addresses()
	name := Protocol(k.Protocol).String()
	switch {
	case hasPorts(k.Protocol) && k.SourcePort|k.TargetPort != 0:
		from, to := netip.AddrPortFrom(source, k.SourcePort), netip.AddrPortFrom(target, k.TargetPort)
		return fmt.Sprintf("%s %v > %v", name, from, to)
	case k.SourcePort|k.TargetPort != 0:
		return fmt.Sprintf("%s %v > %v id %d", name, source, target, k.SourcePort|k.TargetPort)
	}
	return fmt.Sprintf("%s %v > %v", name, source, target)
}
