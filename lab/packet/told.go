package packet

import "net/netip"

// Told is what a router says in its ICMP errors beyond the RFCs that every router keeps. The zero value says nothing more.
type Told struct {
	Labels    []uint32 // the MPLS label stack that the packet came with, outermost first (RFC 4950)
	Interface *Arrival // the interface that the packet came in by (RFC 5837)
	Quote     int      // bytes of the transport header and what follows that it quotes at most, as of RFC 792 8; 0: as many as fit
	LabelTTL  byte     // of all Labels; 0: 1, as of a label whose TTL ran out
	HopLimit  *byte    // that it says the quoted packet came with; nil: the one that it came with
	Spoil     Spoil
}

// Spoil is what is wrong with an ICMP error. The zero value: nothing.
type Spoil string

// What can be wrong with one.
const (
	SpoilChecksum   Spoil = "checksum"   // its own checksum
	SpoilExtensions Spoil = "extensions" // the checksum of its extensions
)

// Arrival is an interface as RFC 5837 tells of it.
type Arrival struct {
	Index   uint32
	Address netip.Addr
	Name    string // at most 63 bytes
	MTU     uint32
}

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
	if len(t.Labels) == 0 && t.Interface == nil {
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
			b = be.AppendUint32(b, label<<12|bottom|uint32(max(t.LabelTTL, 1)))
		}
	}
	if t.Interface != nil {
		b = t.Interface.object(b)
	}
	be.PutUint16(b[2:], ^sum(b))
	if t.Spoil == SpoilExtensions {
		b[2] ^= 1
	}
	return b
}

// object appends the interface with all four parts, in the role of the one that the packet came in by.
func (a *Arrival) object(b []byte) []byte {
	name := append([]byte{0}, a.Name[:min(len(a.Name), 63)]...)
	for len(name)%4 != 0 {
		name = append(name, 0)
	}
	name[0] = byte(len(name))
	family, address := byte(1), a.Address.AsSlice()
	if a.Address.Is6() {
		family = 2
	}
	length := 4 + 4 + 4 + len(address) + len(name) + 4
	b = append(be.AppendUint16(b, uint16(length)), 2, 0x0f) // class of interfaces; role 0 and four parts
	b = be.AppendUint32(b, a.Index)
	b = append(append(b, 0, family, 0, 0), address...)
	return be.AppendUint32(append(b, name...), a.MTU)
}
