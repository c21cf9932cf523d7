package passage

import (
	"math"
	"slices"
	"sort"
)

// puzzle finds out which packets the missing answers were to. Between two answers whose packets got there one after the other, g counts and m packets
// may be missing.
//
//	g <= m   the answers were to g of the packets, and the others were lost on the way there
//	g > m    the answers were to the packets and to g - m more: copies of others, or packets from before that were late
//
// A packet that is late there, and whose answer was lost, makes a packet missing in its own place and a count too many in a later one. That is
// told from a copy and another packet that was lost by how late other packets were: see reach.
type puzzle struct {
	packets []int     // by count: the packet that the answer was to; unknown
	given   []bool    // by count: the answer came back
	lost    []bool    // by packet: it was lost on the way there, as far as is known
	missing []missing // packets for which there was no answer in their own place
	extra   []extra   // counts for which there was no packet in their own place
}

// missing is a packet that left no count in its own place, which begins with a count and is before another.
type missing struct{ packet, first, before int }

// extra is a count that is one too many among those that are missing from a first to a last one.
type extra struct{ count, first, last int }

const unknown = -1

// newPuzzle lays out answers, in the order of their counts, to packets up to the last that was answered.
func newPuzzle(last int, given []Answer) *puzzle {
	answers := int(given[len(given)-1].Count) + 1
	p := &puzzle{packets: make([]int, answers), given: make([]bool, answers), lost: make([]bool, last+1)}
	for i := range p.packets {
		p.packets[i] = unknown
	}
	for i := range p.lost {
		p.lost[i] = true
	}
	for _, a := range given {
		p.packets[a.Count], p.given[a.Count], p.lost[a.Index] = a.Index, true, false
	}
	packet, count := 0, 0
	for _, a := range given {
		if a.Index >= packet { // else it was late, or is a copy
			p.between(packet, a.Index, count, int(a.Count))
			packet, count = a.Index+1, int(a.Count)+1
		}
	}
	p.between(last+1, last+1, count, answers)
	return p
}

// between gives the counts that are missing in a range to the packets that are missing in one. Of the packets, the first have got there.
func (p *puzzle) between(packet, packets, count, counts int) {
	var gaps []int
	for c := count; c < counts; c++ {
		if !p.given[c] {
			gaps = append(gaps, c)
		}
	}
	next := 0
	for i := packet; i < packets; i++ {
		switch {
		case !p.lost[i]:
		case next < len(gaps):
			p.packets[gaps[next]], p.lost[i] = i, false
			next++
		default:
			p.missing = append(p.missing, missing{i, count, counts})
		}
	}
	for _, c := range gaps[next:] {
		p.extra = append(p.extra, extra{c, gaps[0], gaps[len(gaps)-1]})
	}
}

// begins reports whether the counts began with the first packet. Where more are missing before the first answer than packets were sent by then, each
// with a copy, or the far end does not say for certain that it counts, it counted others before.
func (p *puzzle) begins(given []Answer) bool {
	before := 0
	for _, e := range p.extra {
		if e.count < int(given[0].Count) {
			before++
		}
	}
	return before == 0 || given[0].Counts && before <= given[0].Index+1
}

// reach is how far from its own place a packet may have got there, in counts; at least 1 of one that is late.
type reach struct{ least, most int }

// reachOf is the reach of packets whose answers came. Where no copy of a packet was seen, any: then what is late is the simpler explanation of a
// count too many.
func reachOf(given []Answer) reach {
	seen := make(map[int]bool, len(given))
	var ahead []Answer // those with a higher index than all before
	r := reach{math.MaxInt32, 0}
	copies := false
	for _, a := range given {
		if seen[a.Index] {
			copies = true
			continue
		}
		seen[a.Index] = true
		at := sort.Search(len(ahead), func(i int) bool { return ahead[i].Index > a.Index })
		if at == len(ahead) {
			ahead = append(ahead, a)
			continue
		}
		late := int(a.Count - ahead[at].Count)
		r = reach{min(r.least, late), max(r.most, late)}
	}
	if !copies {
		return reach{math.MinInt32, math.MaxInt32}
	}
	return r
}

// match gives extra counts to missing packets that are within reach, both in their order.
func (p *puzzle) match(r reach) {
	rest := p.extra
	for _, m := range p.missing {
		for len(rest) > 0 && r.past(rest[0], m) {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return
		}
		if e := rest[0]; r.late(e, m) || r.overtook(e, m) {
			p.packets[e.count], p.lost[m.packet] = m.packet, false
			rest = rest[1:]
		}
	}
}

// late reports whether an answer may have been to a packet that was late.
//
//	sent             0 1 2 3 4      got there  0 2 3 1 4
//	far end's count  0 1 2 3 4      came back  0 2 3   4
func (r reach) late(e extra, m missing) bool {
	return e.first-m.before <= r.most && e.last-m.before >= r.least
}

// overtook reports whether it may have been to a packet that overtook a late one, whose answer came next.
//
//	sent             0 1 2 3 4      got there  0 2 3 1 4
//	far end's count  0 1 2 3 4      came back  0     1 4
func (r reach) overtook(e extra, m missing) bool {
	return m.first-e.last-1 == 1 && e.last-e.first+1 >= r.least
}

// past reports whether a count is too early for a packet, and so for all that follow.
func (r reach) past(e extra, m missing) bool {
	return e.last-m.before < r.least && m.first-e.last-1 > 1
}

// solution is what became of each packet, of each answer, and the packets in the order in which they got there. Counts that still are of no packet
// were of copies: of the packet before, or, where there is none, of the one that follows, since copies travel together.
func (p *puzzle) solution() (forward, reverse []bool, there []uint64) {
	before := p.packets[slices.IndexFunc(p.packets, func(packet int) bool { return packet != unknown })]
	for c, packet := range p.packets {
		if packet != unknown {
			before = packet
		}
		there, reverse = append(there, uint64(before)), append(reverse, !p.given[c])
	}
	return p.lost, reverse, there
}
