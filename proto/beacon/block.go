package beacon

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// ReceiverReport is what a member tells of itself, and in blocks what it received of others. Where they need more packets than one, each has some
// of them, and all the same Judged.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        header, kind 2                         |   16 bytes; flags: 1 done, 2 complete, 4 told, 8 leaving
//	|                           listening                           |
//	|                                                               |
//	|                            judged                             |
//	|                                                               |
//	|                            began                              |
//	|                                                               |
//	|                             sent                              |
//	|        blocks here            |         blocks in all         |
//	|                            name …                             |
//	|                           blocks …                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ReceiverReport struct {
	Member    ID
	Name      string
	Listening control.Timestamp // since when it judges what arrives, by its clock
	Judged    control.Timestamp // when it made the figures, by its clock
	Began     control.Timestamp // when it sent its first probe, by its clock; 0: not yet
	Sent      uint32            // probes that it has sent
	Done      bool              // it sends no more
	Complete  bool              // and so do all that it knows, and it has judged all their probes
	Told      bool              // and it has such complete reports of all whom it hears
	Leaving   bool              // nothing more comes of it
	All       int               // blocks in all packets of this Judged
	Blocks    []Block
}

// Block is what a member tells of one sender.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            member                             |
//	|                                                               |
//	|     flags     | bytes of name |     hops      |   most hops   |   flags: 1 done, 2 final; 255 hops: not known
//	|                        age in 1e-3 s                          |
//	|                             known                             |
//	|        from, to, received, duplicates, reordered,             |   32 bits each
//	|        greatest extent, longest loss run, remarked            |
//	|        delay: least, median, 95th percentile;                 |   64 bits each, in 1e-9 s, signed
//	|        95th percentile of PDV and of IPDV;                    |
//	|        error of both clocks; below 0: not known               |
//	|                            name …                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Block struct {
	Member  ID
	Name    string
	Age     time.Duration // since the sender's first probe was sent, in whole milliseconds
	Known   uint32        // how many probes the sender is known to have sent
	Done    bool          // it sends no more
	Final   bool          // and all of them are judged
	Figures Figures
}

const (
	reportBytes = headerBytes + 32
	blockBytes  = 100
	noHops      = 255

	flagDone, flagComplete, flagTold, flagLeaving = 1, 2, 4, 8
	flagFinal                                     = 2 // of a block
)

// Append appends the report to b.
func (r *ReceiverReport) Append(b []byte) []byte {
	flags := flag(r.Done, flagDone) | flag(r.Complete, flagComplete) | flag(r.Told, flagTold) | flag(r.Leaving, flagLeaving)
	b = appendHeader(b, kindReport, flags, r.Name, r.Member)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Listening))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Judged))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Began))
	b = binary.BigEndian.AppendUint32(b, r.Sent)
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Blocks)))
	b = binary.BigEndian.AppendUint16(b, uint16(r.All))
	b = append(b, r.Name...)
	for i := range r.Blocks {
		b = r.Blocks[i].append(b)
	}
	return b
}

// fit is how many of the blocks, from the first on, one packet of a member of this name holds: one at least.
func fit(name string, blocks []Block) (n int) {
	size := reportBytes + len(name)
	for n < len(blocks) && size+blockBytes+len(blocks[n].Name) <= MostBytes {
		size += blockBytes + len(blocks[n].Name)
		n++
	}
	return n
}

func (k *Block) append(b []byte) []byte {
	f := &k.Figures
	b = binary.BigEndian.AppendUint64(b, uint64(k.Member))
	b = append(b, flag(k.Done, flagDone)|flag(k.Final, flagFinal), byte(len(k.Name)), hopsByte(f.Hops), hopsByte(f.HopsMost))
	b = binary.BigEndian.AppendUint32(b, uint32(max(0, min(k.Age.Milliseconds(), math.MaxUint32))))
	for _, n := range []uint32{k.Known, f.From, f.To, f.Received, f.Duplicates, f.Reordered, f.MaxExtent, f.LossRun, f.Remarked} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	clocks := time.Duration(-1)
	if f.ClockKnown {
		clocks = f.ClockError
	}
	for _, d := range []time.Duration{f.Delay.Min, f.Delay.Median, f.Delay.P95, f.Variation.PDV, f.Variation.IPDV, clocks} {
		b = binary.BigEndian.AppendUint64(b, uint64(d))
	}
	return append(b, k.Name...)
}

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

func hopsByte(hops int) byte {
	if hops < 0 {
		return noHops
	}
	return byte(hops)
}

func decodeReport(member ID, name int, b []byte) (Packet, error) {
	if len(b) < reportBytes+name || len(b) > MostBytes {
		return nil, fmt.Errorf("%w: report of %d bytes", ErrMalformed, len(b))
	}
	r := &ReceiverReport{Member: member, Done: b[6]&flagDone != 0, Complete: b[6]&flagComplete != 0, Told: b[6]&flagTold != 0, Leaving: b[6]&flagLeaving != 0,
		Listening: control.Timestamp(binary.BigEndian.Uint64(b[16:])), Judged: control.Timestamp(binary.BigEndian.Uint64(b[24:])),
		Began: control.Timestamp(binary.BigEndian.Uint64(b[32:])), Sent: binary.BigEndian.Uint32(b[40:]),
		All: int(binary.BigEndian.Uint16(b[46:])), Name: string(b[reportBytes : reportBytes+name])}
	here := int(binary.BigEndian.Uint16(b[44:]))
	if !goodName(r.Name) || r.Sent > MostProbes || here > r.All || r.All > MostMembers || r.Judged == 0 || r.Listening == 0 || (r.Sent > 0) != (r.Began > 0) {
		return nil, fmt.Errorf("%w: report of %q, %d probes, %d of %d blocks", ErrMalformed, r.Name, r.Sent, here, r.All)
	}
	b = b[reportBytes+name:]
	for range here {
		block, rest, ok := decodeBlock(b)
		if !ok {
			return nil, fmt.Errorf("%w: block %d", ErrMalformed, len(r.Blocks)+1)
		}
		r.Blocks, b = append(r.Blocks, block), rest
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes behind its blocks", ErrMalformed, len(b))
	}
	return r, nil
}

func decodeBlock(b []byte) (k Block, rest []byte, ok bool) {
	if len(b) < blockBytes || len(b) < blockBytes+int(b[9]) {
		return Block{}, nil, false
	}
	end := blockBytes + int(b[9])
	k = Block{Member: ID(binary.BigEndian.Uint64(b)), Done: b[8]&flagDone != 0, Final: b[8]&flagFinal != 0, Name: string(b[blockBytes:end]),
		Age: time.Duration(binary.BigEndian.Uint32(b[12:])) * time.Millisecond, Known: binary.BigEndian.Uint32(b[16:])}
	f := &k.Figures
	f.Hops, f.HopsMost = hopsOf(b[10]), hopsOf(b[11])
	for i, n := range []*uint32{&f.From, &f.To, &f.Received, &f.Duplicates, &f.Reordered, &f.MaxExtent, &f.LossRun, &f.Remarked} {
		*n = binary.BigEndian.Uint32(b[20+4*i:])
	}
	for i, d := range []*time.Duration{&f.Delay.Min, &f.Delay.Median, &f.Delay.P95, &f.Variation.PDV, &f.Variation.IPDV, &f.ClockError} {
		*d = time.Duration(binary.BigEndian.Uint64(b[52+8*i:]))
	}
	f.ClockError, f.ClockKnown = max(0, f.ClockError), f.ClockError >= 0
	return k, b[end:], goodName(k.Name) && k.possible()
}

// possible reports whether the numbers can be of one sender.
func (k *Block) possible() bool {
	f := &k.Figures
	return k.Known <= MostProbes && f.From <= f.To && f.To <= k.Known && f.Received <= f.Judged() && f.Reordered <= f.Received &&
		f.LossRun <= f.Judged() && f.Hops <= f.HopsMost && f.Variation.PDV >= 0 && f.Variation.IPDV >= 0
}

func hopsOf(b byte) int {
	if b == noHops {
		return -1
	}
	return int(b)
}
