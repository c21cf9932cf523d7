package packet

import "net/netip"

// Told is what a router says in its ICMP errors beyond the RFCs that every router keeps. The zero value says nothing more.
type Told struct {
	Labels     []uint32 // the MPLS label stack that the packet came with, outermost first (RFC 4950)
	LabelTTL   byte     // of all Labels; 0: 1, as of a label whose TTL ran out
	LabelClass byte     // traffic class of all Labels, 0 to 7
	Interfaces []Interface
	Quote      int   // bytes of the transport header and what follows that it quotes at most, as of RFC 792 8; 0: as many as fit
	HopLimit   *byte // that it says the quoted packet came with; nil: the one that it came with
	Spoil      Spoil
}

// Spoil is what is wrong with an ICMP error. The zero value: nothing.
type Spoil string

// What can be wrong with one.
const (
	SpoilChecksum   Spoil = "checksum"   // its own checksum
	SpoilExtensions Spoil = "extensions" // the checksum of its extensions
)

// Interface is one of a router's, or of the next router's, as RFC 5837 tells of it. What is zero is not told.
type Interface struct {
	Role    Role
	Index   uint32
	Address netip.Addr
	Name    string // at most 63 bytes
	MTU     uint32
}

// Role is what an interface has to do with the packet (RFC 5837 section 4.2).
type Role byte

// The roles of an interface.
const (
	Incoming Role = iota // the packet came in by it
	SubIP                // the packet came in by this part of it
	Outgoing             // the packet would have left by it
	NextHop              // the packet would have gone to it
)

// extendedQuote is how long the quote of an error with extensions is: programs from before RFC 4884 expect it so (its section 5.4).
const extendedQuote = 128

// lengths are where an ICMP error says how long its quote is, and in what unit (RFC 4884, 4). Of other types the unit is 0: they have no
// extensions.
func lengths(kind byte, v4 bool) (at, unit int) {
	switch {
	case v4 && (kind == v4Unreachable || kind == v4TimeExceeded || kind == v4BadParameter):
		return 5, 4
	case !v4 && (kind == v6Unreachable || kind == v6TimeExceeded):
		return 4, 8
	}
	return 0, 0
}

// extensions are written as RFC 4884 section 7 has it, with a checksum:
//
//	| 2 : 4, 0 : 12 | checksum : 16 | objects: | length : 16 | class : 8 | type : 8 | … | …
func (t Told) extensions() []byte {
	if len(t.Labels) == 0 && len(t.Interfaces) == 0 {
		return nil
	}
	b := []byte{2 << 4, 0, 0, 0}
	if n := len(t.Labels); n > 0 {
		b = append(be.AppendUint16(b, uint16(4+4*n)), 1, 1) // class and type of a label stack
		for i, label := range t.Labels {
			bottom := uint32(0)
			if i == n-1 {
				bottom = 1 << 8
			}
			b = be.AppendUint32(b, label<<12|uint32(t.LabelClass)<<9|bottom|uint32(max(t.LabelTTL, 1)))
		}
	}
	for _, i := range t.Interfaces {
		b = i.object(b)
	}
	be.PutUint16(b[2:], ^sum(b))
	if t.Spoil == SpoilExtensions {
		b[2] ^= 1
	}
	return b
}

// object appends the interface: a type that says which parts follow (RFC 5837 section 4.1), and these in this order:
//
//	| length : 16 | class : 8 | role : 2, 0 : 2, index : 1, address : 1, name : 1, MTU : 1 | parts …
func (i Interface) object(b []byte) []byte {
	at := len(b)
	b = append(b, 0, 0, 2, byte(i.Role)<<6) // class of interfaces
	if i.Index > 0 {
		b[at+3] |= 8
		b = be.AppendUint32(b, i.Index)
	}
	if i.Address.IsValid() {
		b[at+3] |= 4
		family := byte(1)
		if i.Address.Is6() {
			family = 2
		}
		b = append(append(b, 0, family, 0, 0), i.Address.AsSlice()...)
	}
	if i.Name != "" {
		b[at+3] |= 2
		name := append([]byte{0}, i.Name[:min(len(i.Name), 63)]...)
		for len(name)%4 != 0 {
			name = append(name, 0)
		}
		name[0] = byte(len(name))
		b = append(b, name...)
	}
	if i.MTU > 0 {
		b[at+3] |= 1
		b = be.AppendUint32(b, i.MTU)
	}
	be.PutUint16(b[at:], uint16(len(b)-at))
	return b
}
