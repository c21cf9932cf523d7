package hops

import (
	"maps"
	"math"
	"slices"
)

// How fast turns go.
const (
	// LeastSpacing is from one packet to the next in s, on average: a thousand packets a second are little beside what a path of some Mbit/s carries.
	LeastSpacing = 1e-3
	hopSpacing   = 2.5e-3 // s, from one packet to a hop to the next, on average
	limitSpacing = 50e-3  // s, where only hops are asked that limit their answers
	loadShare    = 0.25   // of the slowest link's time that packets of a measurement take
	turnTimes    = 2      // that each turn goes through the sizes
	patience     = 60     // round trips of each end, before a link may be given up
	weighty      = 0.3    // of what a slope may be off, from which on a hop's part is worth more round trips
)

// turn asks all hops that a link is still to be known from, in random order.
func (s *Study) turn() (r Round) {
	left := s.Seconds - s.spent
	asked := s.wanted(left)
	plenty := 0
	for _, ttl := range slices.Sorted(maps.Keys(asked)) {
		h := &s.hops[ttl-1]
		sizes := s.sizes(ttl).all()
		switch {
		case h.limits(): // as many as it answered of the last ones, and one more
			sizes = slices.Repeat([]int{h.scarcer(s.sizes(ttl))}, min(len(sizes), 1+h.came))
		default:
			sizes = slices.Repeat(sizes, turnTimes)
			plenty++
		}
		h.came = 0
		for _, size := range sizes {
			r.Probes = append(r.Probes, Probe{ttl, size})
		}
	}
	r.Spacing = limitSpacing
	if plenty > 0 {
		r.Spacing = math.Max(s.spacing(), hopSpacing/float64(plenty))
	}
	s.shuffle(r.Probes)
	if r.seconds() > left {
		return Round{}
	}
	return r
}

// scarcer is the end of the sizes that has fewer round trips.
func (h *hop) scarcer(s sizes) int {
	if len(h.trips[s.least]) < len(h.trips[s.most]) {
		return s.least
	}
	return s.most
}

// wanted are the hops whose round trips tell of a link that is not certain, and may become so in the time that is left.
func (s *Study) wanted(left float64) map[int]bool {
	all := map[int]bool{}
	previous := 0
	for _, l := range s.Links() {
		if l.Rate.Doubt == Silent {
			continue
		}
		if !l.Rate.Certain() && s.hopeful(l, previous, left) {
			far, near := s.off(l.TTL), s.off(previous)
			all[l.TTL] = all[l.TTL] || far >= weighty*hypot(far, near)
			all[previous] = all[previous] || near >= weighty*hypot(far, near)
		}
		previous = l.TTL
	}
	maps.DeleteFunc(all, func(ttl int, asked bool) bool { return ttl == 0 || !asked })
	return all
}

// off is by how much the slope to a hop may be off; very much, where there is none.
func (s *Study) off(ttl int) float64 {
	if ttl == 0 {
		return 0
	}
	if l, ok := s.hops[ttl-1].fit(s.sizes(ttl)); ok {
		return l.off
	}
	return 1
}

// hopeful reports whether more round trips can make a link certain in the time that is left: the interval shrinks as their number grows.
func (s *Study) hopeful(l Link, previous int, left float64) bool {
	switch l.Rate.Doubt {
	case Together, Several, Fast:
		return false
	}
	trips, off, slope := s.doubtful(l.TTL, previous)
	if trips < patience {
		return true
	}
	if l.Rate.Doubt == Negative || l.Rate.Doubt == Bent || slope <= 0 {
		return false
	}
	return off/(mostOff*slope)*s.spent < s.spent+left
}

// doubtful are how many round trips there are of a link's ends, and what is known of its slope.
func (s *Study) doubtful(ttl, previous int) (trips int, off, slope float64) {
	l, _ := s.hops[ttl-1].fit(s.sizes(ttl))
	if previous == 0 {
		return l.trips, l.off, l.slope
	}
	before, _ := s.hops[previous-1].fit(s.sizes(previous))
	return min(l.trips, before.trips), hypot(l.off, before.off), l.slope - before.slope
}

// spacing is from one packet to the next, on average: so that they take a part of the slowest link's time.
func (s *Study) spacing() float64 {
	slowest, before := 0.0, 0.0
	for ttl := 1; ttl <= s.length(); ttl++ {
		if slope, ok := s.hops[ttl-1].rough(s.sizes(ttl)); ok {
			slowest, before = math.Max(slowest, slope-before), slope
		}
	}
	return math.Max(LeastSpacing, slowest*float64(s.Largest+mostQuoted4)/2/loadShare)
}

// rough is the slope by as few round trips as there are.
func (h *hop) rough(s sizes) (slope float64, ok bool) {
	low, high := h.trips[s.least], h.trips[s.most]
	if len(low) == 0 || len(high) == 0 || s.span() <= 0 {
		return 0, false
	}
	return math.Max(0, (slices.Min(high)-slices.Min(low))/s.span()), true
}
