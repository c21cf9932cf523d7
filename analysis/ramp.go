package analysis

import (
	"math"
	"slices"
)

// ramp is a change from a level to another one that took its time, from a run to another.
type ramp struct {
	from, to      int
	before, after float64
}

const (
	// rampGrid is into how many parts a stretch is divided to find where a ramp begins and ends.
	rampGrid = 24
	// rampFits is what must be left of the distances from two levels: a ramp has an end more to be fitted with, which noise rewards
	// a little.
	rampFits = 0.93
	// rampMore is what it may be more for each further step: several steps have more ends to be fitted with than a ramp has.
	rampMore = 0.04
	// rampTakes is how long a change takes at the least that is called a creep, in seconds: less may be an hour that was busy.
	rampTakes = day
)

// ramp fits the runs between the first and the last of some ends by a slope between two levels, and returns it where that fits
// better than steps at the others; else nil. Fits are judged by the sum of distances, as places of steps are.
func (s *series) ramp(ends []int) *ramp {
	from, to := ends[0], ends[len(ends)-1]
	steps := 0.0
	for i := 1; i < len(ends); i++ {
		steps += cost(s.values[ends[i-1]:ends[i]])
	}
	fits := rampFits
	if n := len(ends) - 3; n > 0 {
		fits += rampMore * float64(n)
	}
	return s.slope(from, to, fits*steps, ends[1:len(ends)-1])
}

// slope is the ramp of a day or more that fits runs of [from, to) best and better than some sum of distances, nil: there is none. It
// goes on at the given places.
func (s *series) slope(from, to int, least float64, over []int) (best *ramp) {
	n := to - from
	if n < 4*s.few || s.at[to-1]-s.at[from] < rampTakes {
		return nil
	}
	for i := range rampGrid {
		for j := i + 1; j <= rampGrid; j++ {
			a, b := from+i*(n-1)/rampGrid, from+j*(n-1)/rampGrid
			misses := func(p int) bool { return p < a || p > b }
			if s.at[b]-s.at[a] < rampTakes || slices.ContainsFunc(over, misses) {
				continue
			}
			r := ramp{from: a, to: b}
			if cost := s.fit(&r, from, to); cost < least {
				least, best = cost, &r
			}
		}
	}
	return best
}

// fit finds the two levels of a ramp and returns the sum of distances from it. A level with too few runs of its own is found by the
// slope.
func (s *series) fit(r *ramp, from, to int) float64 {
	began, long := s.at[r.from], s.at[r.to]-s.at[r.from]
	part := func(i int) float64 { return min(max((s.at[i]-began)/long, 0), 1) }
	before, slope := s.line(r.from, r.to+1)
	r.before, r.after = before, before+slope*long
	if r.from-from >= s.few {
		r.before = median(s.values[from : r.from+1])
	}
	if to-r.to >= s.few {
		r.after = median(s.values[r.to:to])
	}
	sum := 0.0
	for i := from; i < to; i++ {
		sum += math.Abs(s.values[i] - r.before - part(i)*(r.after-r.before))
	}
	return sum
}

// line fits runs of [from, to) by a level at the first and a slope, from the medians of the first third and of the last (Tukey,
// Exploratory Data Analysis, 1977: the resistant line).
func (s *series) line(from, to int) (level, slope float64) {
	third := max(1, (to-from)/3)
	left, right := median(s.values[from:from+third]), median(s.values[to-third:to])
	a, b := median(s.at[from:from+third]), median(s.at[to-third:to])
	if b <= a {
		return left, 0
	}
	slope = (right - left) / (b - a)
	return left + slope*(s.at[from]-a), slope
}
