package icmp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Extensions are what a router tells behind the packet that it quotes. Fault says why something that stood there was dropped; "": nothing
// was. Of an interface object that is cut short that one is, of one whose length is wrong that and what follows; where the checksum is wrong, all is.
type Extensions struct {
	Labels     []Label     // the MPLS label stack that the packet came with, outermost first (RFC 4950)
	Interfaces []Interface // those that the packet passed or would have passed (RFC 5837)
	Others     int         // objects of other classes
	Fault      string
}

// Extensions and their objects (RFC 4884, 7), by byte:
//
//	  +--------+--------+--------+--------+
//	0 |ver.2|     0     |    checksum     |   over all extensions; 0: there is none
//	  +--------+--------+--------+--------+
//	4 | length of object| class  |  type  |   the length counts these 4 bytes
//	8 | as the class says …               |
//	  +--------+--------+--------+--------+
//	  | the next object …                 |
const (
	extensionHeader  = 4
	extensionVersion = 2
	objectHeader     = 4

	classMPLS      = 1 // type 1: the incoming stack
	classInterface = 2
)

// sealed says whether b begins as extensions do and has their checksum.
func sealed(b []byte) bool {
	return len(b) >= extensionHeader && b[0]>>4 == extensionVersion && binary.BigEndian.Uint16(b[2:]) != 0 && Checksum(b) == 0
}

// ParseExtensions decodes extensions from their header on. Of no bytes there are none.
func ParseExtensions(b []byte) (e Extensions) {
	switch {
	case len(b) == 0:
		return e
	case len(b) < extensionHeader:
		e.Fault = fmt.Sprintf("extensions of %d bytes are shorter than their header", len(b))
		return e
	case b[0]>>4 != extensionVersion:
		e.Fault = fmt.Sprintf("extensions have version %d, not %d", b[0]>>4, extensionVersion)
		return e
	case binary.BigEndian.Uint16(b[2:]) != 0 && Checksum(b) != 0:
		e.Fault = "checksum of extensions is wrong"
		return e
	}
	for b = b[extensionHeader:]; len(b) > 0; {
		if len(b) < objectHeader {
			e.Fault = fmt.Sprintf("%d bytes behind the last extension object", len(b))
			return e
		}
		length := int(binary.BigEndian.Uint16(b))
		if length < objectHeader || length > len(b) {
			e.Fault = fmt.Sprintf("extension object claims %d bytes of %d", length, len(b))
			return e
		}
		e.add(b[2], b[3], b[objectHeader:length])
		b = b[length:]
	}
	return e
}

func (e *Extensions) add(class, kind uint8, payload []byte) {
	switch {
	case class == classMPLS && kind == 1:
		e.Labels = append(e.Labels, parseLabels(payload)...)
	case class == classInterface:
		i, ok := parseInterface(kind, payload)
		if !ok {
			e.Fault = "interface object is cut short"
			return
		}
		e.Interfaces = append(e.Interfaces, i)
	default:
		e.Others++
	}
}

// Label is an entry of an MPLS label stack (RFC 3032, 2.1):
//
//	| label : 20 | traffic class : 3 | bottom of stack : 1 | TTL : 8 |
type Label struct {
	Label  uint32
	Class  uint8 // traffic class, once called EXP (RFC 5462)
	Bottom bool
	TTL    uint8
}

func parseLabels(b []byte) (labels []Label) {
	for ; len(b) >= 4; b = b[4:] {
		word := binary.BigEndian.Uint32(b)
		labels = append(labels, Label{Label: word >> 12, Class: uint8(word>>9) & 7, Bottom: word>>8&1 == 1, TTL: uint8(word)})
	}
	return labels
}

// Role is what an interface has to do with the packet (RFC 5837, 4.2).
type Role uint8

// The roles of an interface.
const (
	Arrived  Role = iota // the packet came in by it
	SubIP                // the packet came in by this part of it, such as one cable of a bundle
	Outgoing             // the packet would have left by it
	NextHop              // of the next router
)

// String is the role in a few words.
func (r Role) String() string {
	return [...]string{"arrived by", "arrived by part", "would leave by", "next hop"}[r&3]
}

// Interface is one that a router names. A field that it does not tell is zero, the Address invalid.
type Interface struct {
	Role    Role
	Index   uint32
	Address netip.Addr
	Name    string
	MTU     uint32 // bytes
}

// The type of an interface object says which parts follow (RFC 5837, 4.1), in this order:
//
//	| role : 2 | 0 : 2 | index | address | name | MTU |       one bit each
//
//	index    32 bits
//	address  | family : 16 | 0 : 16 | 4 or 16 bytes |         family 1: IPv4, 2: IPv6
//	name     | length : 8, of all of this, of 4, 8 … 64 | at most 63 bytes, filled up with zeros |
//	MTU      32 bits
const (
	hasIndex   = 0x08
	hasAddress = 0x04
	hasName    = 0x02
	hasMTU     = 0x01
	maxName    = 64
)

func parseInterface(kind uint8, b []byte) (i Interface, ok bool) {
	i.Role = Role(kind >> 6)
	if kind&hasIndex != 0 {
		if len(b) < 4 {
			return i, false
		}
		i.Index, b = binary.BigEndian.Uint32(b), b[4:]
	}
	if kind&hasAddress != 0 {
		if i.Address, b, ok = parseAddress(b); !ok {
			return i, false
		}
	}
	if kind&hasName != 0 {
		if i.Name, b, ok = parseName(b); !ok {
			return i, false
		}
	}
	if kind&hasMTU != 0 {
		if len(b) < 4 {
			return i, false
		}
		i.MTU = binary.BigEndian.Uint32(b)
	}
	return i, true
}

func parseAddress(b []byte) (a netip.Addr, rest []byte, ok bool) {
	if len(b) < 4 {
		return a, nil, false
	}
	family := binary.BigEndian.Uint16(b)
	switch b = b[4:]; {
	case family == 1 && len(b) >= 4:
		return netip.AddrFrom4([4]byte(b)), b[4:], true
	case family == 2 && len(b) >= 16:
		return netip.AddrFrom16([16]byte(b)), b[16:], true
	}
	return a, nil, false
}

// parseName keeps of a name what a terminal may show: a router far away is not to be trusted with a line of text.
func parseName(b []byte) (name string, rest []byte, ok bool) {
	if len(b) < 1 || b[0] == 0 || int(b[0]) > min(len(b), maxName) {
		return "", nil, false
	}
	shown := make([]byte, 0, maxName)
	for _, c := range b[1:b[0]] {
		switch {
		case c == 0:
		case c < ' ' || c > '~':
			shown = append(shown, '?')
		default:
			shown = append(shown, c)
		}
	}
	return string(shown), b[b[0]:], true
}
