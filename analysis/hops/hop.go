package hops

import (
	"net/netip"
	"slices"
)

// hop is what is known of one hop.
type hop struct {
	sent, answered int
	came           int // answered since a turn last asked it
	from           []netip.Addr
	quoted         int  // of its answers; below 0: not known yet
	reached        bool // the route ends here
	trips          map[int][]float64
}

func (h *hop) add(a Answer) {
	h.answered++
	h.came++
	h.reached = h.reached || a.Reached
	if !slices.Contains(h.from, a.From) {
		h.from = append(h.from, a.From)
	}
	h.trips[a.Size] = append(h.trips[a.Size], a.RTT)
}

// What a line needs.
const (
	leastTrips = 4 // of each end, so that there are three gaps between the shortest ones
	mostGaps   = 8 // between the shortest round trips, whose mean says how near the shortest is to the fastest that there can be
	// confident is by how many mean gaps the difference of two sizes may be off. Were gaps exponential, the difference of two would be within ln 10 of them nine
	// times of ten; a little more, since their mean is known from a few.
	confident = 2.6
	// stamps is by how much stamps of a kernel may be off one way in s, whatever number of them is taken.
	stamps = 0.5e-6
)

// line is how the shortest round trips to a hop grow with size.
type line struct {
	slope  float64 // s for a byte
	off    float64 // by how much it may be off either way
	start  float64 // s that a packet of no size would take
	bend   float64 // s by which the middle lies above the line
	queue  float64 // s: by how much the median is above the shortest
	quoted int
	trips  int // of the end that has fewer
}

// fit is the line through the shortest round trips of the ends. ok is false where there are too few, and too few of the middle, which a hop that limits its answers is
// not asked for.
func (h *hop) fit(s sizes) (l line, ok bool) {
	low, high := slices.Sorted(slices.Values(h.trips[s.least])), slices.Sorted(slices.Values(h.trips[s.most]))
	if len(low) < leastTrips || len(high) < leastTrips || s.span() <= 0 {
		return line{}, false
	}
	n := min(len(low), len(high))
	l.trips, l.quoted = n, max(0, h.quoted)
	l.slope = (high[0] - low[0]) / s.span()
	l.off = (confident*hypot(gap(low), gap(high)) + stamps) / s.span()
	l.start = low[0] - l.slope*float64(s.least)
	l.queue = (middle(low) - low[0] + middle(high) - high[0]) / 2
	between := h.trips[s.middle]
	if len(between) < leastTrips {
		return l, h.limits()
	}
	l.bend = slices.Min(between) - l.start - l.slope*float64(s.middle)
	return l, true
}

// gap is the mean of those between the shortest of round trips in order.
func gap(trips []float64) float64 {
	k := min(mostGaps, len(trips)-1)
	return (trips[k] - trips[0]) / float64(k)
}

func middle(sorted []float64) float64 { return sorted[len(sorted)/2] }
