package passage

import (
	"cmp"
	"slices"
)

// Seam is where a session that goes on is cut, so that what became of its packets is told piece by piece. The zero value is its beginning.
type Seam struct {
	Packet int    // the first one after it
	Open   int    // packets just before it of which nobody knows which way they were lost: nothing had come back after them
	Round  int    // of Count: see Answer
	Count  uint32 // that of the first answer of which nothing was told before, one to an open packet if that was answered
	Counts bool   // the far end was seen to count
}

// Of divides what became of the packets from the seam up to another one, end, by ways, as the function of that name does with those of a session, and
// returns the seam at end. Came are the answers of the session in the order in which they came: those to packets from before the seam tell which
// counts are not of the piece, and those to packets from end on by which way its last ones were lost. Indices are those of the session; in what is
// returned they begin at the seam.
//
//	piece          |0 1 2 3 4 5|6 7 8
//	came back      |0     3    |6           counts 0, 2 and 4
//	told            1: on the way back; 2: there; 4: back; 5: there
//
// What came after the piece is in There and Back as one packet, so that packets which came later still are reordered, each in its own piece.
func (s Seam) Of(end int, came []Answer) (Ways, Seam) {
	c := s.layOut(end, came)
	if len(c.answers) == 0 {
		return Ways{Open: end - s.Packet}, Seam{Packet: end, Open: s.Open + end - s.Packet, Round: s.Round, Count: s.Count, Counts: s.Counts}
	}
	sent := end - s.Packet
	if c.closing >= 0 {
		sent++
	}
	w := Of(sent, c.answers)
	c.next.Counts = c.next.Counts || w.Counted && counts(c.answers)
	if c.closing >= 0 {
		c.next.Open = 0
		w.Forward = w.Forward[:min(len(w.Forward), end-s.Packet)]
		if c.closing < len(w.Reverse) {
			w.Reverse = slices.Delete(w.Reverse, c.closing, c.closing+1)
		}
	}
	return w, c.next
}

// cut is a piece laid out as if it were a session.
type cut struct {
	answers []Answer // to its packets, and one to a packet after them, if one came
	closing int      // the count of that one; -1: there is none
	next    Seam
}

// layOut takes the answers to a piece out of those that came, with counts from 0 that are of it alone.
func (s Seam) layOut(end int, came []Answer) cut {
	all, shift := s.place(came)
	c := cut{closing: -1, next: Seam{Packet: end, Round: s.Round, Counts: s.Counts}}
	var least, most, after *placed // of the piece by count, and the first that left after it
	last := s.Packet - 1
	for i := range all {
		switch p := &all[i]; {
		case p.Index >= end:
			after = lower(after, p)
		case p.Index >= s.Packet:
			least, last = lower(least, p), max(last, p.Index)
			if most == nil || p.at > most.at {
				most = p
			}
		}
	}
	first := cmp.Or(least, after)
	if first == nil {
		return c
	}
	begin := min(first.at, s.Open) // counts that are missing before it are of open packets first
	top := begin
	if most != nil {
		top, c.next.Round = most.at+1, most.Round
	}
	told := 0 // answers to the packets after the last that was answered
	if after != nil && after.at > top {
		if told = min(after.at-top, end-1-last); told > 0 {
			c.next.Round = after.Round
		}
	}
	c.next.Open = end - 1 - last
	if c.next.Count = uint32(max(0, top+told-shift[c.next.Round])); c.next.Round == s.Round {
		c.next.Count = s.Count + uint32(top+told)
	}
	rank := ranking(all, begin, func(p *placed) bool { return p.Index < s.Packet || p.Index >= end && p.at != after.at })
	for i := range all {
		p := &all[i]
		switch {
		case p.Index < s.Packet:
		case p.Index < end:
			c.answers = append(c.answers, Answer{Index: p.Index - s.Packet, Count: uint32(rank(p.at)), Counts: p.Counts || s.Counts})
		case c.closing < 0:
			if c.closing = rank(after.at); after.at >= top {
				c.closing = rank(top) + told
			}
			c.answers = append(c.answers, Answer{Index: end - s.Packet, Count: uint32(c.closing), Counts: after.Counts || s.Counts})
		}
	}
	return c
}

// placed is an answer with its count among all from the seam on: below 0, it left before what was told of the last.
type placed struct {
	Answer
	at int
}

func lower(a, b *placed) *placed {
	if a == nil || b.at < a.at {
		return b
	}
	return a
}

// place gives answers counts that go on where the far end begins anew. What was under way then counts as lost on the way there. shift is what is
// added to the counts of a round.
func (s Seam) place(came []Answer) (all []placed, shift map[int]int) {
	shift = map[int]int{}
	next, round := 0, s.Round
	byRound := slices.Clone(came)
	slices.SortStableFunc(byRound, func(a, b Answer) int { return cmp.Compare(a.Round, b.Round) })
	at := func(a Answer) int {
		if a.Round == s.Round {
			return int(int32(a.Count - s.Count)) // counts go round at 2^32
		}
		return shift[a.Round] + int(a.Count)
	}
	for _, a := range byRound {
		if a.Round > round {
			round, shift[a.Round] = a.Round, next
		}
		if a.Round >= s.Round {
			next = max(next, at(a)+1)
		}
	}
	for _, a := range came {
		if a.Round >= s.Round {
			all = append(all, placed{a, at(a)})
		}
	}
	return all, shift
}

// ranking numbers counts from one on, without those of others.
func ranking(all []placed, begin int, other func(*placed) bool) func(at int) int {
	var others []int
	for i := range all {
		if p := &all[i]; p.at >= begin && other(p) {
			others = append(others, p.at)
		}
	}
	slices.Sort(others)
	others = slices.Compact(others)
	return func(at int) int {
		before, _ := slices.BinarySearch(others, at)
		return at - begin - before
	}
}

// Rounds tells where a far end that counts began anew, as one does that was started again.
type Rounds struct {
	round   int
	first   int    // packet of the round
	highest int    // that was answered
	next    uint32 // count after the highest of the round
	any     bool   // the round has answers
}

// Begin says that the far end counts from 0 from a packet on.
func (r *Rounds) Begin(packet int) {
	if r.any || r.round > 0 {
		r.round++
	}
	r.first, r.highest, r.next, r.any = packet, packet-1, 0, false
}

// leastFall is by how much the counts of a round fall at least when another begins: what is less is taken for reordering.
const leastFall = 16

// Of is an answer with its round. underWay is how many packets may be between the near end and the far one, either way: the counts of answers that
// were reordered fall by that much.
func (r *Rounds) Of(a Answer, underWay int) Answer {
	if a.Index < r.first {
		a.Round = r.round - 1
		return a
	}
	if fall := int(int32(r.next - a.Count)); r.any && a.Index > r.highest && fall > leastFall+underWay {
		r.round++
		r.first, r.next = a.Index, 0
	}
	if !r.any || int32(a.Count+1-r.next) > 0 {
		r.next = a.Count + 1
	}
	r.highest, r.any = max(r.highest, a.Index), true
	a.Round = r.round
	return a
}
