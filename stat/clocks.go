package stat

import (
	"math"
	"slices"
)

// Exchange is a packet that went from the near end to the far one and an answer that came back, by the clocks that stamped them, in seconds.
// Each end may read its clock from an origin of its own choice.
//
//	near  Sent                     Received
//	         \                     /
//	far       Arrived ---- Answered
type Exchange struct {
	Sent, Arrived, Answered, Received float64
}

// forward and reverse are the raw delays. With the far clock ahead of the near one by o, they are o too long and o too short.
func (e Exchange) forward() float64 { return e.Arrived - e.Sent }
func (e Exchange) reverse() float64 { return e.Received - e.Answered }

// ClockFit is what exchanges tell of how two clocks run beside each other. Offsets are how far the far clock is ahead of the near one; all times
// are in seconds.
type ClockFit struct {
	At float64 // the near clock's time that Offset, Least and Most are of: the middle of the exchanges
	// Offset is right where the fastest packets of both ways took the same time. Least and Most hold whatever they took: no packet arrived before
	// it was sent, so that the offset is at least minus the least reverse delay and at most the least forward delay.
	Offset, Least, Most float64
	// Skew is by how much the far clock runs faster, a ratio; between SkewLeast and SkewMost no packet would have arrived before it was sent.
	Skew, SkewLeast, SkewMost float64
	// Low and High are the least and the most that the offset can have been at any time from the first exchange to the last.
	Low, High float64
}

// mostSkew is more than any clock is let run wrong: chrony, which corrects the most, changes the rate by up to 10 %.
const mostSkew = 0.1

// leastForSkew is how many exchanges tell a skew from chance.
const leastForSkew = 10

// FitClocks fits a straight line, the far clock's offset over time, between the exchanges' least forward delays above it and their least reverse
// delays below. ok is false where no line fits, since one of the clocks was set meanwhile, or there are no exchanges.
func FitClocks(exchanges []Exchange) (fit ClockFit, ok bool) {
	if len(exchanges) == 0 {
		return ClockFit{}, false
	}
	first, last := exchanges[0].Sent, exchanges[0].Received
	for _, e := range exchanges {
		first, last = min(first, e.Sent), max(last, e.Received)
	}
	fit.At = (first + last) / 2
	l := newLimits(exchanges, fit.At)
	if fit.Skew = l.steadiest(); l.room(fit.Skew) < 0 {
		return ClockFit{}, false
	}
	if len(exchanges) < leastForSkew && l.room(0) >= 0 {
		fit.Skew = 0
	}
	fit.SkewLeast, fit.SkewMost = l.edge(fit.Skew, -mostSkew), l.edge(fit.Skew, mostSkew)
	fit.Offset = (l.above(0, fit.Skew) + l.below(0, fit.Skew)) / 2
	fit.Least, fit.Most = l.least(0, fit), l.most(0, fit)
	half := (last - first) / 2
	fit.Low = min(l.least(-half, fit), l.least(half, fit))
	fit.High = max(l.most(-half, fit), l.most(half, fit))
	return fit, true
}

// point is a limit of the offset at a time, counted from the middle of the exchanges.
type point struct{ at, offset float64 }

// limits are what the offset must stay below and above. Only the hulls matter: the lower one of what is above, the upper one of what is below.
type limits struct{ ceiling, floor []point }

func newLimits(exchanges []Exchange, middle float64) limits {
	var l limits
	for _, e := range exchanges {
		l.ceiling = append(l.ceiling, point{e.Sent - middle, e.forward()})
		l.floor = append(l.floor, point{e.Received - middle, e.reverse()})
	}
	l.ceiling, l.floor = lowerHull(l.ceiling), lowerHull(l.floor)
	for i := range l.floor {
		l.floor[i].offset = -l.floor[i].offset
	}
	return l
}

// lowerHull returns the points of which the lower side of the convex hull consists, by time (Andrew 1979).
func lowerHull(points []point) []point {
	slices.SortFunc(points, func(a, b point) int {
		switch {
		case a.at < b.at || a.at == b.at && a.offset < b.offset:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	var hull []point
	for _, p := range points {
		for len(hull) > 1 && turn(hull[len(hull)-2], hull[len(hull)-1], p) <= 0 {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	return hull
}

// turn is above 0 where the way over three points turns to the left.
func turn(a, b, c point) float64 {
	return (b.at-a.at)*(c.offset-a.offset) - (b.offset-a.offset)*(c.at-a.at)
}

// above is the most that the offset can be at a time, if it grows by skew; below is the least.
func (l limits) above(at, skew float64) float64 {
	most := math.Inf(1)
	for _, p := range l.ceiling {
		most = min(most, p.offset+skew*(at-p.at))
	}
	return most
}

func (l limits) below(at, skew float64) float64 {
	least := math.Inf(-1)
	for _, p := range l.floor {
		least = max(least, p.offset+skew*(at-p.at))
	}
	return least
}

// room is how much is left between both for a line of this skew: the shortest round trip that it makes of two packets. Below 0, it is none.
func (l limits) room(skew float64) float64 { return l.above(0, skew) - l.below(0, skew) }

// steadiest is the skew that leaves most room: room is concave.
func (l limits) steadiest() float64 { return highest(l.room, -mostSkew, mostSkew) }

// edge is the skew nearest to the limit which leaves room, from one on that does.
func (l limits) edge(from, limit float64) float64 {
	if l.room(limit) >= 0 {
		return limit
	}
	for range searchSteps {
		if half := (from + limit) / 2; l.room(half) >= 0 {
			from = half
		} else {
			limit = half
		}
	}
	return from
}

// most is the most that the offset can be at a time, by any line that fits; least is the least.
func (l limits) most(at float64, fit ClockFit) float64 {
	return l.above(at, highest(func(skew float64) float64 { return l.above(at, skew) }, fit.SkewLeast, fit.SkewMost))
}

func (l limits) least(at float64, fit ClockFit) float64 {
	return l.below(at, highest(func(skew float64) float64 { return -l.below(at, skew) }, fit.SkewLeast, fit.SkewMost))
}

// searchSteps halve a span of skews to less than 1e-16.
const searchSteps = 50

// highest is where between two places a concave function is highest, to 1e-12 of them (golden section search, Kiefer 1953).
func highest(f func(float64) float64, from, to float64) float64 {
	const ratio, steps = 1 / math.Phi, 60
	a, b := to-(to-from)*ratio, from+(to-from)*ratio
	fa, fb := f(a), f(b)
	for range steps {
		if fa >= fb {
			to, b, fb = b, a, fa
			a = to - (to-from)*ratio
			fa = f(a)
		} else {
			from, a, fa = a, b, fb
			b = from + (to-from)*ratio
			fb = f(b)
		}
	}
	return (from + to) / 2
}
