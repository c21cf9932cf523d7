package record

import (
	"math/bits"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// Record is what became of one packet end to end, as far as it is known.
type Record struct {
	Number     uint64 // counts packets from 1 in the order in which hosts sent them
	Sent       int64  // when it entered the lab
	Due        int64  // when it was due at the host, or when it was dropped; 0 while under way
	Left       int64  // when the emulator handed it over; 0 if it did not
	Flow       int32  // its index in Book.Keys
	Bytes      int32  // IP length as sent
	Link       int32  // the direction of a link on which it was dropped; -1: none
	Duplicates uint16 // deliveries after the first
	parts      uint16 // payload bytes of its fragments that came
	Cause      packet.Cause
	Flags      Flags
}

// Flags say more of a packet.
type Flags uint8

// The flags.
const (
	Arrived    Flags = 1 << iota // a copy of it, whole, reached its host
	Corrupted                    // a bit of it was changed on the way
	Marked                       // it was sent without ECN's congestion mark and came with it
	Reordered                    // one of its flow that was sent after it came before it (RFC 4737 section 3.3)
	sentMarked                   // it was sent with the mark
)

// UnderWay says that nothing is known yet of its end.
func (r *Record) UnderWay() bool { return r.Flags&Arrived == 0 && r.Cause == packet.Kept }

// Lost says that it was dropped, and that no copy has arrived.
func (r *Record) Lost() bool { return r.Flags&Arrived == 0 && r.Cause != packet.Kept }

// ring keeps the latest records. It grows by chunks as numbers are given out, so that a lab that carries little uses
// little, and nothing is ever copied to grow.
//
//	number  | chunk of it                 | place in the chunk |
//	          (modulo how many there are)    chunkBits
type ring struct {
	next   uint64 // the number of the next packet
	mask   uint64 // capacity - 1
	chunks []*[chunkSize]Record
}

const (
	chunkBits = 12 // 4096 records, 224 KiB: one allocation each 33 ms at 125,000 packets/s, until all are there
	chunkSize = 1 << chunkBits
)

func newRing(capacity int) ring {
	size := max(uint64(chunkSize), 1<<bits.Len(uint(capacity-1)))
	return ring{next: 1, mask: size - 1, chunks: make([]*[chunkSize]Record, size/chunkSize)}
}

// slot returns the place of a number; what lies there may be older.
func (g *ring) slot(number uint64) *Record {
	i := number & g.mask
	chunk := g.chunks[i>>chunkBits]
	if chunk == nil {
		chunk = new([chunkSize]Record)
		g.chunks[i>>chunkBits] = chunk
	}
	return &chunk[i&(chunkSize-1)]
}

// find returns the record of a packet, or nil if the ring has forgotten it or never knew it.
func (g *ring) find(number uint64) *Record {
	if number >= g.next {
		return nil
	}
	if r := g.slot(number); r.Number == number {
		return r
	}
	return nil
}

// first returns the number of the oldest record; next if there is none.
func (g *ring) first() uint64 {
	if g.next > g.mask+1 {
		return g.next - g.mask - 1
	}
	return 1
}
