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

	recent [recents]recent
}

// recent is a flow of plain IPv4 packets, with the header fields that name it.
type recent struct {
	ends  uint64 // both addresses
	ports uint32 // both ports
	over  byte   // protocol; 0: nothing here
	flow  int32
}

const recents = 256 // 6 kB: fits the first-level cache, and holds the flows that are busy at one time

const firstSlots = 64

func newFlows(limit int, seed uint64) flows {
	return flows{limit: limit, seed: seed, slots: make([]int32, firstSlots)}
}

// of returns the flow of a packet, a new one if need be. Where the header is plain, four fields say which: most often one
// that was asked for lately, which saves the making and hashing of a Key, 40 ns.
//
//	byte 0     6            9          12        16        20
//	  | 0x45 |  no fragment  | protocol | source  | target  | ports: source, target |
func (f *flows) of(b []byte) int32 {
	if len(b) < plainHeader || b[0] != 0x45 || binary.BigEndian.Uint16(b[6:])&fragmented != 0 ||
		b[9] != packet.ProtocolTCP && b[9] != packet.ProtocolUDP {
		return f.number(packet.KeyOf(b))
	}
	ends, ports := binary.BigEndian.Uint64(b[12:]), binary.BigEndian.Uint32(b[20:])
	r := &f.recent[(ends^uint64(ports))*spread>>56]
	if r.ends != ends || r.ports != ports || r.over != b[9] {
		*r = recent{ends: ends, ports: ports, over: b[9], flow: f.number(packet.KeyOf(b))}
	}
	return r.flow
}

// spread is 2^64 over the golden ratio: the upper bits of a product with it depend on all bits (Knuth, The Art of Computer
// Programming, volume 3, section 6.4).
const spread = 0x9e3779b97f4a7c15

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
