package record

import "math/bits"

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
