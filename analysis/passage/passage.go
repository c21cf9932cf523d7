// Package passage tells by which way packets were lost, came twice and came out of order, where a far end counts those that come and answers each
// (stateful reflectors of RFC 8762 and RFC 5357). It is pure: it knows of no protocol and of no time.
package passage

import (
	"cmp"
	"slices"
)

// Answer is one that came back.
type Answer struct {
	Index  int    // of the packet that it answers, in the order of sending, from 0
	Count  uint32 // of the answers that the far end gave before this one, if it counts; else anything, mostly the index
	Counts bool   // the far end says for certain that Count is that
	Round  int    // of a session that goes on, how often the far end began to count anew before: see Seam
}

// Ways is what became of packets on each way. Where the far end counts, an answer that did not come back leaves a gap in the counts that did; a
// packet that did not get there leaves none.
//
//	sent             0 1 2 3 4 5
//	got there        0 1   3 4 5     2 was lost on the way there
//	far end's count  0 1   2 3 4
//	came back        0 1     3 4     3 was lost on the way back: its count 2 is missing
type Ways struct {
	Forward []bool   // of each packet up to the last that was answered: it was lost on the way there
	Reverse []bool   // of each answer up to the last that came, in the order in which they left: it was lost on the way back
	There   []uint64 // packets in the order in which they got there, copies too
	Back    []uint64 // answers in the order in which they came back, copies too, as numbers in the order in which they left
	Open    int      // packets after the last that was answered: nobody knows which way they were lost
	Counted bool     // the far end counts. Else Forward and Reverse are nil where anything was lost, and There has only what was answered
}

// mostAnswers bounds how many answers to a packet a far end is believed to have counted, on the average: what counts more counts for others, too.
const mostAnswers = 2

// Of divides what became of sent packets by ways. Answers are in the order in which they came, copies too.
func Of(sent int, came []Answer) Ways {
	if len(came) == 0 {
		return Ways{Open: sent}
	}
	var w Ways
	last := 0
	for _, a := range came {
		last = max(last, a.Index)
		w.Back = append(w.Back, uint64(a.Count))
	}
	given := slices.Clone(came) // once each, in the order in which they left
	slices.SortStableFunc(given, func(a, b Answer) int { return cmp.Compare(a.Count, b.Count) })
	w.Counted = counts(given)
	given = slices.CompactFunc(given, func(a, b Answer) bool { return a.Count == b.Count })
	for _, a := range given {
		w.There = append(w.There, uint64(a.Index))
	}
	w.Open = sent - last - 1
	w.Counted = w.Counted && int(given[len(given)-1].Count) < mostAnswers*sent
	if w.Counted {
		p := newPuzzle(last, given)
		if w.Counted = p.begins(given); w.Counted {
			p.match(reachOf(given))
			w.Forward, w.Reverse, w.There = p.solution()
			return w
		}
	}
	w.Counted = w.complete(last, came)
	return w
}

// counts reports whether a far end counts, by its answers in the order of their counts: it says so with each, or one of its counts is not the index.
// The same count with two packets is none.
func counts(given []Answer) bool {
	certain, own := true, false
	for i, a := range given {
		if i > 0 && a.Count == given[i-1].Count && a.Index != given[i-1].Index {
			return false
		}
		certain = certain && a.Counts
		own = own || int(a.Count) != a.Index
	}
	return certain || own
}

// complete reports whether every packet up to the last was answered, so that none was lost whoever counts.
func (w *Ways) complete(last int, came []Answer) bool {
	answered := make([]bool, last+1)
	missing := last + 1
	for _, a := range came {
		if !answered[a.Index] {
			missing--
		}
		answered[a.Index] = true
	}
	if missing > 0 {
		return false
	}
	w.Forward, w.Reverse = make([]bool, last+1), make([]bool, len(w.There))
	return true
}
