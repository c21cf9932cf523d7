package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/pathwise-net/pathwise/stat"
)

const (
	// windowMore is how many runs the shortest window has beyond the fewest that tell a level, and windowGrows by what each is
	// longer than the one before.
	windowMore  = 2
	windowGrows = 3
	// windowKnown is the part of a window that must lie within the series: of a wave, half a day is no day.
	windowKnown = 0.9
	// limitDays is how many days tell what a day brings.
	limitDays = 4
	// dayFactor is by what a difference must be larger than the largest that a busy day has, one of four: on days that work, or after
	// weekends, it is so each week. TestFalseAlarms holds it.
	dayFactor, busyDay = 2.5, 0.75
	// spreadFactor is by what it must be larger than the spread of all differences, for days that are alike by chance.
	spreadFactor = 6.0
	// windowFalls is what a limit is at the least of that of the next shorter window: where levels go up and down by the hour, half
	// as much for three times as long is nothing new. A whole day has them all.
	windowFalls = 0.5
	// shortFactor takes the place of both where less than limitDays days are known, of the spread that runs beside each other have:
	// such runs are more alike than others, so that it is a large one. Levels must then not overlap either: see clear.
	shortFactor = 9.0
)

// windows are the lengths, in seconds, over which levels are compared: from some runs, each three times longer, up to a whole day, in
// which all hours are.
func (s *series) windows() []float64 {
	all := []float64{float64(s.few+windowMore) * s.spacing}
	for w := windowGrows * all[0]; w < day; w *= windowGrows {
		all = append(all, w)
	}
	if all[len(all)-1] < day {
		all = append(all, day)
	}
	return all
}

// sides are the runs of a window before and after the time between runs i-1 and i: [from, i) and [i, to); false: they are too few.
func (s *series) sides(i int, window float64) (from, to int, enough bool) {
	if i == 0 {
		return 0, 0, false
	}
	from = sort.SearchFloat64s(s.at, s.at[i-1]-window+s.spacing/2)
	to = sort.SearchFloat64s(s.at, s.at[i]+window-s.spacing/2)
	known := min(s.at[i-1], s.span()-s.at[i]) + s.spacing
	shortest := window <= float64(s.few+windowMore)*s.spacing
	return from, to, i-from >= s.few && to-i >= s.few && (shortest || known >= windowKnown*window)
}

// differences are the median after a time less the one before it, for each time between two runs: the one at i is between runs i-1
// and i. NaN: a side has too few runs.
func (s *series) differences(window float64) []float64 {
	all := make([]float64, len(s.at))
	for i := range all {
		all[i] = math.NaN()
		if from, to, enough := s.sides(i, window); enough {
			all[i] = median(s.raw[i:to]) - median(s.raw[from:i])
		}
	}
	return all
}

// limit is what a difference upwards (sign 1) or downwards (-1) must exceed.
func (s *series) limit(differences []float64, sign float64) float64 {
	largest := map[int]float64{} // of each day, counted back from the newest run
	var known []float64
	for i, d := range differences {
		if math.IsNaN(d) {
			continue
		}
		known = append(known, d)
		of := int((s.span() - s.at[i]) / day)
		largest[of] = max(largest[of], sign*d)
	}
	if s.short() || len(largest) < limitDays {
		return s.shortLimit()
	}
	days := slices.Sorted(maps.Values(largest))
	return max(dayFactor*stat.Quantile(days, busyDay), spreadFactor*spread(known, 0))
}

// short says whether too little is known to learn from it what days bring.
func (s *series) short() bool { return s.span() < limitDays*day }

// shortLimit is of the distances of runs from the ones before them, which a step changes in one place only.
func (s *series) shortLimit() float64 {
	beside := make([]float64, 0, len(s.raw)-1)
	for i := 1; i < len(s.raw); i++ {
		beside = append(beside, (s.raw[i]-s.raw[i-1])/math.Sqrt2)
	}
	medianError := 1.2533 * math.Sqrt(2/float64(s.few)) // of the difference of two medians, in spreads of a run
	return shortFactor * medianError * spread(beside, 0)
}

// candidate is a time at which a series may have changed, and how far it is beyond the limit.
type candidate struct {
	at     int // between runs at-1 and at
	window float64
	beyond float64
}

// bySurest orders candidates by how far they are beyond their limits.
func bySurest(a, b candidate) int { return cmp.Compare(b.beyond, a.beyond) }

// splits are the places of all changes, in order.
func (s *series) splits(worth Worth) []int {
	var all []candidate
	up, down := 0.0, 0.0
	for _, window := range s.windows() {
		differences := s.differences(window)
		if window >= day {
			up, down = 0, 0
		}
		up, down = max(s.limit(differences, 1), windowFalls*up), max(s.limit(differences, -1), windowFalls*down)
		for i, d := range differences {
			limit := up
			if d < 0 {
				limit = down
			}
			if math.Abs(d) > limit && worth.telling(s.raw[i], s.raw[i]-d) {
				all = append(all, candidate{i, window, math.Abs(d) / max(limit, 1e-12)})
			}
		}
	}
	return s.apartFrom(all, s.place)
}

// apartFrom are the places of candidates, in order: the surest first, and then what is farther from it than the window by which it
// was seen.
func (s *series) apartFrom(all []candidate, place func(c candidate, places []int) int) (places []int) {
	slices.SortStableFunc(all, bySurest)
	for _, c := range all {
		near := func(p int) bool { return math.Abs(s.at[p]-s.at[c.at]) < c.window }
		if slices.ContainsFunc(places, near) {
			continue
		}
		if p := place(c, places); !slices.ContainsFunc(places, func(q int) bool { return p-q < s.few && q-p < s.few }) {
			places = append(places, p)
		}
	}
	slices.Sort(places)
	return places
}

// place is where two levels fit the runs around a candidate best, by the sum of their distances from the medians; no further than
// the next change.
func (s *series) place(c candidate, places []int) int {
	from := sort.SearchFloat64s(s.at, s.at[c.at]-c.window)
	to := sort.SearchFloat64s(s.at, s.at[c.at]+c.window)
	for _, p := range places {
		if p <= c.at {
			from = max(from, p)
		} else {
			to = min(to, p)
		}
	}
	best, least := c.at, math.Inf(1)
	for i := from + s.few; i <= to-s.few; i++ {
		if cost := cost(s.values[from:i]) + cost(s.values[i:to]); cost < least {
			best, least = i, cost
		}
	}
	return best
}

// cost is the sum of the distances of values from their median.
func cost(values []float64) (sum float64) {
	level := median(values)
	for _, v := range values {
		sum += math.Abs(v - level)
	}
	return sum
}
