package record

import (
	"math"
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

// deliveredLate counts a packet whose record the ring lost while it was under way. If none such is missing, it is a
// duplicate. It is too late for it to be told reordered.
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

// lostLate is the same for a loss. It joins no run.
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
