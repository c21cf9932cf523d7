package record

import (
	"iter"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// Reading is a copy of a part of a Book, made in small steps, so that the lab is held up for microseconds at a time however
// much there is to copy:
//
//	r := book.Read(from, to)                                  // in the Book's goroutine, or under its lock
//	for more := true; more; { lock(); more = r.Step(); unlock() }
//	r.Flows()                                                 // anywhere
//
// Packets that are sent after the reading began are not in it, but for those that the ring forgets again before a ReadAll's
// last step; what becomes of the others while it goes on may be.
type Reading struct {
	book     *Book
	all      bool
	from, to int64
	next     uint64 // the first number not yet looked at
	end      uint64

	recordsFrom int64
	missed      uint64
	keys        []packet.Key
	past        []tally // as it was at the last step
	cut         uint64  // it holds the records before this one
	batches     [][]Record
}

// stepSize is how many records a step looks at: about 20 µs.
const stepSize = 1024

// Read begins a reading of the packets sent in [from, to), as far back as the ring reaches.
func (b *Book) Read(from, to int64) *Reading {
	r := &Reading{book: b, from: from, to: to, next: b.ring.first(), end: b.ring.next}
	if r.next > 1 {
		r.recordsFrom = b.ring.slot(r.next).Sent
	}
	return r
}

// ReadAll begins a reading of all packets ever sent: the records that there are, and the totals of those before. The last
// step copies the totals at once, which takes about 1 µs for each flow that has any.
func (b *Book) ReadAll() *Reading {
	r := b.Read(0, 0)
	r.all = true
	return r
}

// Step copies some records and says whether there are more.
func (r *Reading) Step() (more bool) {
	ring := &r.book.ring
	r.keys = r.book.Keys()
	if first := min(ring.first(), r.end); r.next < first { // the lab was faster
		r.missed += first - r.next
		r.next = first
	}
	var batch []Record
	for end := min(r.next+stepSize, r.end); r.next < end; r.next++ {
		x := ring.slot(r.next)
		if r.all || r.from <= x.Sent && x.Sent < r.to {
			if batch == nil {
				batch = make([]Record, 0, end-r.next)
			}
			batch = append(batch, *x)
		}
	}
	if batch != nil {
		r.batches = append(r.batches, batch)
	}
	more = r.next < r.end
	if r.all && !more {
		r.copyPast()
	}
	return more
}

// copyPast takes the totals of all that the ring has forgotten by now, be it copied already or not.
func (r *Reading) copyPast() {
	r.cut, r.past = r.book.ring.first(), make([]tally, len(r.book.past))
	for i := range r.past {
		r.past[i] = r.book.past[i].copy()
	}
}

// finish does all steps.
func (r *Reading) finish() *Reading {
	for r.Step() {
	}
	return r
}

// Records returns the copied records in the order of their numbers.
func (r *Reading) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, batch := range r.batches {
			for _, x := range batch {
				if !yield(x) {
					return
				}
			}
		}
	}
}

// RecordsFrom returns since when the ring had every packet when the reading began; 0 if it had forgotten none.
func (r *Reading) RecordsFrom() int64 { return r.recordsFrom }

// Missed returns how many packets the ring forgot before the reading came to them: the steps were too far apart. The totals
// of ReadAll have them all the same.
func (r *Reading) Missed() uint64 { return r.missed }

// Flows returns the truth of each flow that has packets in the reading, in the order in which the flows began. The flow
// beyond the table is called "others"; nothing can be said of its loss runs and reordering.
func (r *Reading) Flows() []FlowTruth {
	accounts := make([]*account, len(r.keys)+1) // the last is "others"
	for i := range r.past {
		if r.past[i].packets > 0 {
			accounts[i] = &account{tally: r.past[i].copy()}
		}
	}
	for x := range r.Records() {
		if x.Number < r.cut {
			continue
		}
		a := accounts[x.Flow]
		if a == nil {
			a = &account{}
			accounts[x.Flow] = a
		}
		a.add(&x)
	}
	truths := []FlowTruth{}
	for i, a := range accounts {
		if a != nil {
			truths = append(truths, a.truth(r.keys, int32(i)))
		}
	}
	return truths
}

// Flows returns the truth of each flow over the packets sent in [from, to), at once. Where a ring full of records must not
// hold up the lab, use Read.
func (b *Book) Flows(from, to int64) []FlowTruth { return b.Read(from, to).finish().Flows() }

// Totals returns the truth of each flow since the lab began, at once. Where that must not hold up the lab, use ReadAll.
func (b *Book) Totals() []FlowTruth { return b.ReadAll().finish().Flows() }
