package record

import (
	"encoding/binary"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// flows numbers flows in the order in which their first packets are sent: a hash table with open addressing over a list of
// keys that only grows. Once it is full, every new flow is the one number after the last.
type flows struct {
	limit   int
	seed    uint64
	keys    []packet.Key
	highest []uint64 // by flow; of the packets delivered
	slots   []int32  // flow + 1; 0: free. A power of two, at most half used

	last  int32 // the flow of the packet before, if like says what it was
	like  bool
	ends  uint64 // its addresses,
	ports uint32 // its ports
	over  byte   // and its protocol
}

const firstSlots = 64

func newFlows(limit int, seed uint64) flows {
	return flows{limit: limit, seed: seed, slots: make([]int32, firstSlots)}
}

// of returns the flow of a packet, a new one if need be. Bulk transfers send packet after packet of one flow: where the
// IPv4 header is plain, it is enough to see that it says the same as the one before.
//
//	byte 0     6            9          12        16        20       22
//	  | 0x45 |  no fragment  | protocol | source  | target  | ports: source, target |
func (f *flows) of(b []byte) int32 {
	if len(b) < plainHeader || b[0] != 0x45 || binary.BigEndian.Uint16(b[6:])&fragmented != 0 ||
		b[9] != packet.ProtocolTCP && b[9] != packet.ProtocolUDP {
		return f.number(packet.KeyOf(b))
	}
	ends, ports := binary.BigEndian.Uint64(b[12:]), binary.BigEndian.Uint32(b[20:])
	if !f.like || ends != f.ends || ports != f.ports || b[9] != f.over {
		f.last = f.number(packet.KeyOf(b))
		f.like, f.ends, f.ports, f.over = true, ends, ports, b[9]
	}
	return f.last
}

const (
	plainHeader = 28     // IPv4 without options, and UDP or the first bytes of TCP
	fragmented  = 0x3fff // more fragments, or an offset (RFC 791)
)

// number returns the flow of a key, a new one if need be.
func (f *flows) number(key packet.Key) int32 {
	at := f.place(key)
	if f.slots[at] > 0 {
		return f.slots[at] - 1
	}
	if len(f.keys) >= f.limit {
		return int32(f.limit)
	}
	f.keys, f.highest = append(f.keys, key), append(f.highest, 0)
	f.slots[at] = int32(len(f.keys))
	if 2*len(f.keys) > len(f.slots) {
		f.grow()
	}
	return int32(len(f.keys) - 1)
}

// place returns the slot where a key is, or would be.
func (f *flows) place(key packet.Key) uint64 {
	mask := uint64(len(f.slots) - 1)
	at := key.Hash(f.seed) & mask
	for f.slots[at] > 0 && f.keys[f.slots[at]-1] != key {
		at = (at + 1) & mask
	}
	return at
}

func (f *flows) grow() {
	f.slots = make([]int32, 2*len(f.slots))
	for i, key := range f.keys {
		f.slots[f.place(key)] = int32(i + 1)
	}
}

// overtaken notes a delivery and says whether a packet of the flow with a higher number was delivered before. Of "others",
// which are many flows, none is.
func (f *flows) overtaken(flow int32, number uint64) bool {
	if int(flow) >= len(f.highest) {
		return false
	}
	if number < f.highest[flow] {
		return true
	}
	f.highest[flow] = number
	return false
}
