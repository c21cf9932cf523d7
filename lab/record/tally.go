package record

import (
	"math"
	"math/bits"
	"slices"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// tally is the sum of the records of one flow, added in the order of their numbers.
type tally struct {
	packets, bytes                           uint64
	delivered, deliveredBytes                uint64
	lost                                     uint64
	duplicates, reordered, corrupted, marked uint64
	open                                     uint64 // under way when the ring forgot them
	dropped                                  [packet.Causes]uint64
	firstSent, lastSent, firstDue, lastDue   int64
	minDelay, maxDelay                       int64
	firstBytes                               int32 // of the packet due first
	run                                      int   // losses since the last delivery
	runs                                     []LossRun
	delays, lateness                         sketch // of what the ring has forgotten
}

// LossRun counts the runs of consecutive losses of one length: the loss periods of RFC 3357 section 4.
type LossRun struct {
	Length int    `json:"length"`
	Count  uint64 `json:"count"`
}

// forget adds a record that the ring is about to lose.
func (t *tally) forget(r *Record) {
	t.add(r)
	switch {
	case r.Flags&Arrived != 0:
		t.delays.add(r.Due - r.Sent)
		t.lateness.add(r.Left - r.Due)
	case r.UnderWay():
		t.open++
	}
}

// add counts a record.
func (t *tally) add(r *Record) {
	if t.packets == 0 {
		t.firstSent, t.lastSent = r.Sent, r.Sent
	}
	// The kernel's stamps of two interfaces may come in the wrong order by microseconds.
	t.firstSent, t.lastSent = min(t.firstSent, r.Sent), max(t.lastSent, r.Sent)
	t.packets++
	t.bytes += uint64(r.Bytes)
	t.duplicates += uint64(r.Duplicates)
	if r.Flags&Corrupted != 0 {
		t.corrupted++
	}
	if r.Flags&Marked != 0 {
		t.marked++
	}
	switch {
	case r.Flags&Arrived != 0:
		t.arrived(r.Due-r.Sent, r.Due, r.Bytes)
		if r.Flags&Reordered != 0 {
			t.reordered++
		}
		t.endRun()
	case r.Cause != packet.Kept:
		t.lost++
		t.dropped[r.Cause]++
		t.run++
	}
}

func (t *tally) arrived(delay, due int64, bytes int32) {
	if t.delivered == 0 {
		t.minDelay, t.maxDelay = delay, delay
		t.firstDue, t.lastDue = math.MaxInt64, due
	}
	t.minDelay, t.maxDelay = min(t.minDelay, delay), max(t.maxDelay, delay)
	if due < t.firstDue {
		t.firstDue, t.firstBytes = due, bytes
	}
	t.lastDue = max(t.lastDue, due)
	t.delivered++
	t.deliveredBytes += uint64(bytes)
}

func (t *tally) endRun() {
	if t.run == 0 {
		return
	}
	i, known := slices.BinarySearchFunc(t.runs, t.run, func(r LossRun, length int) int { return r.Length - length })
	if !known {
		t.runs = slices.Insert(t.runs, i, LossRun{Length: t.run})
	}
	t.runs[i].Count++
	t.run = 0
}

// deliveredLate counts the delivery of a packet whose record the ring lost while it was under way. If no such packet is missing, it
// is a duplicate. Whether it was reordered can no longer be told.
func (t *tally) deliveredLate(p *packet.Packet, segments int, due, left int64) {
	if t.open == 0 {
		t.duplicates++
		return
	}
	t.open--
	t.arrived(due-p.Sent, due, int32(p.WireBytes()/int64(segments)))
	t.delays.add(due - p.Sent)
	t.lateness.add(left - due)
}

// lostLate counts the loss of a packet whose record the ring lost while it was under way. It is no part of any run of losses.
func (t *tally) lostLate(cause packet.Cause) {
	if t.open == 0 {
		return
	}
	t.open--
	t.lost++
	t.dropped[cause]++
}

// copy returns a tally that shares nothing with t.
func (t *tally) copy() tally {
	c := *t
	c.runs = slices.Clone(t.runs)
	c.delays, c.lateness = t.delays.copy(), t.lateness.copy()
	return c
}

// sketch counts times in nanoseconds with a relative error of at most 1/64, for the quantiles of packets that the ring has
// forgotten. It is built as stat.Histogram, but coarser, and holds only the groups of buckets that are in use: a
// flow whose delays stay within one order of magnitude takes about 1 kB, where a Histogram takes 30.
//
//	value   0 ... 31 | 32 ... 63 | 64 66 ... 126 | 128 132 ... 252 | ...
//	group       0    |     1     |       2       |        3        | ...   32 buckets each
type sketch struct {
	place  [groups]uint8 // of a group in counts, from 1; 0: not in use
	counts [][perGroup]uint64
}

const (
	groupBits = 5 // log2 of the buckets of a doubling
	perGroup  = 1 << groupBits
	groups    = 64 - groupBits // for times up to the largest int64
)

// add counts a time; a negative one as 0.
func (s *sketch) add(ns int64) {
	v := uint64(max(ns, 0))
	shift := bits.Len64(v|perGroup) - groupBits - 1
	group := shift + int(v>>(shift+groupBits)) // the upper half of what is left of v tells the first two groups apart
	if s.place[group] == 0 {
		s.counts = append(s.counts, [perGroup]uint64{})
		s.place[group] = uint8(len(s.counts))
	}
	s.counts[s.place[group]-1][v>>shift&(perGroup-1)]++
}

// count returns how many times were added.
func (s *sketch) count() (n uint64) {
	for i := range s.counts {
		for _, c := range s.counts[i] {
			n += c
		}
	}
	return n
}

// quantile returns the middle of the bucket in which the value of the given rank, from 1, lies.
func (s *sketch) quantile(rank uint64) int64 {
	var seen uint64
	for group, place := range s.place {
		if place == 0 {
			continue
		}
		for i, n := range s.counts[place-1] {
			if seen += n; seen >= rank && n > 0 {
				shift := max(0, group-1)
				low := int64(min(group, 1)*perGroup+i) << shift
				return low + int64(1)<<shift/2
			}
		}
	}
	return 0
}

// copy returns a sketch that shares nothing with s.
func (s *sketch) copy() sketch {
	c := *s
	c.counts = append([][perGroup]uint64(nil), s.counts...)
	return c
}
