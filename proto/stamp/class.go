package stamp

import "encoding/binary"

// Class is the value of Class of Service (RFC 8972 section 4.4). A sender writes the wanted DSCP alone.
//
//	| DSCP wanted : 6 | DSCP that arrived : 6 | ECN that arrived : 2 | refused : 2 | reserved : 16 |
type Class struct {
	Wanted    int // DSCP that the answer is to leave with
	DSCP, ECN int // of the packet when it came to the reflector
	Refused   bool
}

// ClassBytes is how long it is.
const ClassBytes = 4

// Put writes it over the first ClassBytes bytes of b.
func (c Class) Put(b []byte) {
	word := uint32(c.Wanted&63)<<26 | uint32(c.DSCP&63)<<20 | uint32(c.ECN&3)<<18
	if c.Refused {
		word |= 1 << 16
	}
	binary.BigEndian.PutUint32(b, word)
}

// ReadClass reads it; ok is false of a value of another length.
func ReadClass(b []byte) (c Class, ok bool) {
	if len(b) != ClassBytes {
		return c, false
	}
	word := binary.BigEndian.Uint32(b)
	return Class{Wanted: int(word >> 26), DSCP: int(word >> 20 & 63), ECN: int(word >> 18 & 3), Refused: word>>16&3 != 0}, true
}

// Left is the DSCP that the answer left with: that of the packet as it arrived, where the wanted one was refused.
func (c Class) Left() int {
	if c.Refused {
		return c.DSCP
	}
	return c.Wanted
}
