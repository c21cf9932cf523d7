package probe

import (
	"slices"
)

// mtuSearch narrows down the largest packet that comes through, a round at a time (RFC 8899 section 5.3). Sizes are of IP packets, in bytes. In a round packets of
// several sizes are sent, the largest first; each that is answered shows that smaller ones need no trial.
//
//	least ......... passes ............ fails ......... most
//	   come through    |  not known yet  |  do not
//	                   |-.--.--.--.--.--.|  the next round
type mtuSearch struct {
	least, most int // what every path carries, and what this host can send
	passes      int // the largest that is known to come through; 0: none
	told        int // what a router says the MTU is, which is tried and not believed; 0: none did
	begun       bool
	silent      map[int]int // rounds in which no packet of a size was answered, of sizes above passes
}

// usualMTUs are those of links and tunnels, with what they come from; most paths are one of them.
var usualMTUs = []int{
	9000,                   // jumbo frames
	4352,                   // FDDI (RFC 1390)
	1500,                   // Ethernet
	1492,                   // PPP over Ethernet (RFC 2516)
	1480, 1476, 1450, 1420, // IP in IP, GRE, VXLAN, WireGuard
	1400, 1280, // tunnels of all kinds; the least of IPv6 (RFC 8200)
	576, // what every IPv4 host takes (RFC 791)
}

const (
	// mtuFan is how many sizes a round tries once it is known between which two usual ones the MTU is: each makes a ninth of what is left.
	mtuFan = 8
	// mtuSure is in how many rounds a size is silent that does not come through: with mtuTries packets each, on a path that loses a tenth of
	// its packets each way, that is wrong once in 600,000 times.
	mtuSure = 2
)

// fails is the smallest size that does not come through, as far as is known; one more than the most that can be sent: none is known.
func (s *mtuSearch) fails() int {
	least := s.most + 1
	for size := range s.silent {
		least = min(least, size)
	}
	return least
}

// round is what to try next, the largest first; nil: the search is over.
func (s *mtuSearch) round() []int {
	fails := s.fails()
	switch {
	case !s.begun:
		sizes := []int{s.most}
		for _, size := range append([]int{s.least, s.told, s.told + 1}, usualMTUs...) {
			if s.least <= size && s.passes < size && size < s.most {
				sizes = append(sizes, size)
			}
		}
		slices.Sort(sizes)
		sizes = slices.Compact(sizes)
		slices.Reverse(sizes)
		return sizes
	case s.passes == 0 || s.passes >= s.most:
		return nil
	case s.passes < s.told && s.told < fails:
		if s.told+1 < fails {
			return []int{s.told + 1, s.told}
		}
		return []int{s.told}
	case fails == s.passes+1:
		if s.silent[fails] >= mtuSure {
			return nil
		}
		return []int{fails}
	}
	var sizes []int
	between := fails - s.passes - 1
	for n := min(mtuFan, between); n >= 1; n-- {
		sizes = append(sizes, s.passes+(between*n+min(mtuFan, between))/(min(mtuFan, between)+1))
	}
	return slices.Compact(sizes)
}

// tried notes what came of the sizes of a round: the largest that was answered, 0 if none was, and those of which it is known that they do not come
// through, with whether that is certain, as of packets that this host does not send.
func (s *mtuSearch) tried(passed int, silent map[int]bool) {
	if s.silent == nil {
		s.silent = map[int]int{}
	}
	s.begun = true
	s.passes = max(s.passes, passed)
	for size, certain := range silent {
		s.silent[size]++
		if certain {
			s.silent[size] = mtuSure
		}
	}
	for size := range s.silent {
		if size <= s.passes { // what a larger one shows was lost by accident
			delete(s.silent, size)
		}
	}
}
