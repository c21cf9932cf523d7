package probe

import (
	"cmp"
	"slices"
)

// owdWays is which way packets were lost, came twice and came out of order, as the far end's count of its answers tells. Where the far end
// counts, an answer that did not come leaves a gap in its counts; a packet that did not get there leaves none.
//
//	sent             0 1 2 3 4 5
//	got there        0 1   3 4 5     2 was lost on the way there
//	far end's count  0 1   2 3 4
//	came back        0 1     3 4     3 was lost on the way back: its count 2 is missing
type owdWays struct {
	forward, reverse []bool   // of each packet sent, of each that got there: whether it was lost that way. Of a gap, the first are the reverse ones
	there, back      []uint64 // in order of arrival there and here, numbers in the order of sending
	open             int      // packets after the last that was answered: nobody knows which way they were lost
	counted          bool     // the far end counts; else forward and reverse are nil where anything was lost
}

// waysOf divides what became of sent packets by ways. Arrivals are all answers in order of arrival, copies too.
func waysOf(sent int, arrivals []arrivalBack) owdWays {
	var w owdWays
	if len(arrivals) == 0 {
		w.open = sent
		return w
	}
	answers := slices.Clone(arrivals) // once each, by the far end's count: in the order of arrival there
	slices.SortStableFunc(answers, func(a, b arrivalBack) int { return cmp.Compare(a.count, b.count) })
	answers = slices.CompactFunc(answers, func(a, b arrivalBack) bool { return a.count == b.count })
	answered, last := make(map[int]bool, len(answers)), 0
	counts := false // a count that is not the index is one of its own
	for _, a := range answers {
		answered[a.index] = true
		last = max(last, a.index)
		w.there = append(w.there, uint64(a.index))
		counts = counts || a.counts || int(a.count) != a.index
	}
	for _, a := range arrivals {
		w.back = append(w.back, uint64(a.count))
	}
	w.open = sent - last - 1
	missing := last + 1 - len(answered)
	most := int(answers[len(answers)-1].count)
	gaps := most + 1 - len(answers) // answers that did not come back
	if gaps > missing {             // it counted answers of an earlier session as well, or copies that were lost
		gaps, counts = missing, false
	}
	w.counted = counts || missing == 0
	if !w.counted {
		return w
	}
	w.divide(last, answered, answers, gaps)
	return w
}

// divide says of each missing packet which way it was lost: as many on the way back as there are gaps in the counts before the next answer.
func (w *owdWays) divide(last int, answered map[int]bool, answers []arrivalBack, gaps int) {
	before := make(map[int]int, len(answers)) // the gaps in the counts just before the answer to a packet
	next := 0
	for _, a := range answers {
		if _, copied := before[a.index]; !copied {
			before[a.index] = int(a.count) - next
		}
		next = int(a.count) + 1
	}
	var missing []int
	for i := 0; i <= last; i++ {
		if !answered[i] {
			missing = append(missing, i)
			continue
		}
		w.settle(missing, min(before[i], len(missing), gaps), &gaps)
		missing = missing[:0]
		w.forward, w.reverse = append(w.forward, false), append(w.reverse, false)
	}
	for i := len(w.reverse) - 1; gaps > 0 && i >= 0; i-- { // gaps that reordering put elsewhere
		w.reverse = slices.Insert(w.reverse, i, true)
		gaps--
		if at := slices.Index(w.forward, true); at >= 0 {
			w.forward[at] = false
		}
	}
}

// settle appends what became of missing packets, of which so many were lost on the way back.
func (w *owdWays) settle(missing []int, back int, gaps *int) {
	for i := range missing {
		w.forward = append(w.forward, i >= back)
		if i < back {
			w.reverse = append(w.reverse, true)
		}
	}
	*gaps -= back
}
