package stat

import "sort"

// Order is how far packets arrived out of their order (RFC 4737). Its counts are of packets, each counted once: later copies are duplicates.
type Order struct {
	Arrived   int
	Reordered int // Type-P-Reordered singletons (section 3.3): packets that arrive after one that was sent later
	// MaxExtent and MeanExtent are of the extents of the reordered packets (section 4.2.3): how many positions of the arrivals lie between a
	// packet and the earliest one that was sent later. So many packets a receiver must be able to hold at most: where several are late
	// together, fewer will do. 0: none is reordered.
	MaxExtent  int
	MeanExtent float64
	// MaxN is the largest n for which a packet is n-reordered (section 5.3): the n packets just before it were all sent later. A late packet
	// that comes just behind another late one, sent before it, is reordered and not n-reordered.
	MaxN int
	// ThreeReordered counts the packets that are 3-reordered, each of which TCP, with its threshold of three duplicate acknowledgements, takes
	// for lost. Their share of Arrived is what the RFC calls the degree of 3-reordering.
	ThreeReordered int
}

// duplicateAcks is after how many duplicate acknowledgements TCP sends a segment again (RFC 5681 section 3.2).
const duplicateAcks = 3

// Ratio is the Reordered-Ratio of section 4.1.3: the share of the packets that are reordered; 0 of none.
func (o Order) Ratio() float64 { return float64(o.Reordered) / float64(max(1, o.Arrived)) }

// Ordering tells how far sequence numbers, in order of arrival, are out of order. Gaps are losses and reorder nothing.
func Ordering(seqs []uint64) Order {
	var o Order
	var first []uint64    // without later copies
	var highest []int     // positions in it at which a number was higher than all before
	var rising []position // the positions before this one of the last lower numbers: each higher than the one below it
	seen := make(map[uint64]struct{}, len(seqs))
	extents := 0
	for _, s := range seqs {
		if _, duplicate := seen[s]; duplicate {
			continue
		}
		seen[s] = struct{}{}
		at := len(first)
		first = append(first, s)
		for len(rising) > 0 && rising[len(rising)-1].seq > s {
			rising = rising[:len(rising)-1]
		}
		before := -1
		if len(rising) > 0 {
			before = rising[len(rising)-1].at
		}
		rising = append(rising, position{s, at})
		n := at - before - 1
		o.MaxN = max(o.MaxN, n)
		if n >= duplicateAcks {
			o.ThreeReordered++
		}
		earliest := sort.Search(len(highest), func(i int) bool { return first[highest[i]] > s })
		if earliest == len(highest) { // the RFC's s >= NextExp
			highest = append(highest, at)
			continue
		}
		o.Reordered++
		extent := at - highest[earliest]
		extents += extent
		o.MaxExtent = max(o.MaxExtent, extent)
	}
	o.Arrived = len(first)
	o.MeanExtent = float64(extents) / float64(max(1, o.Reordered))
	return o
}

// position is where a sequence number stands among the arrivals.
type position struct {
	seq uint64
	at  int
}

// NReordered counts, for n from 1 on, the packets that are n-reordered (RFC 4737 section 5.3), in counts[n-1]; a packet that is n-reordered is so for
// each smaller n. It is as long as the largest n of Order.MaxN. Later copies are left out.
func NReordered(seqs []uint64) (counts []int) {
	var rising []position // as in Ordering
	seen := make(map[uint64]struct{}, len(seqs))
	for _, s := range seqs {
		if _, duplicate := seen[s]; duplicate {
			continue
		}
		at := len(seen)
		seen[s] = struct{}{}
		for len(rising) > 0 && rising[len(rising)-1].seq > s {
			rising = rising[:len(rising)-1]
		}
		before := -1
		if len(rising) > 0 {
			before = rising[len(rising)-1].at
		}
		rising = append(rising, position{s, at})
		for n := range at - before - 1 {
			if n == len(counts) {
				counts = append(counts, 0)
			}
			counts[n]++
		}
	}
	return counts
}

// Reordered counts the reordered packets of Ordering.
func Reordered(seqs []uint64) int { return Ordering(seqs).Reordered }

// Copies are how often packets arrived (RFC 5560).
type Copies struct {
	Arrived    int // packets that arrived at least once
	Replicated int // packets that arrived more than once
	Extra      int // arrivals beyond the first of each packet
}

// Fraction is the Type-P-one-way-packet-duplication-fraction (RFC 5560 section 5.1): how many arrivals there were beyond the first, for each packet
// that arrived; 0 if none did. It is above 1 where packets come three times and more.
func (c Copies) Fraction() float64 { return float64(c.Extra) / float64(max(1, c.Arrived)) }

// Rate is the Type-P-one-way-replicated-packet-rate (RFC 5560 section 5.2): the share of the packets that arrived more than once; 0 if none arrived.
func (c Copies) Rate() float64 { return float64(c.Replicated) / float64(max(1, c.Arrived)) }

// Duplication counts the copies among sequence numbers, in any order.
func Duplication(seqs []uint64) Copies {
	arrivals := make(map[uint64]int, len(seqs))
	var c Copies
	for _, s := range seqs {
		arrivals[s]++
		switch arrivals[s] {
		case 1:
			c.Arrived++
		case 2:
			c.Replicated++
			c.Extra++
		default:
			c.Extra++
		}
	}
	return c
}
