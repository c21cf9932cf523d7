package analysis

import (
	"math"
	"sort"
)

const (
	// trendDays is how many days a creep takes at the least that has no beginning: the order of six is by chance as strict in one of
	// 360 cases.
	trendDays = 6
	// trendChance is how likely that order may be by chance, over all lengths that are tried.
	trendChance = 0.003
	// mostTrendDays is how far back a creep is looked for.
	mostTrendDays = 28
	// trendBeyond is by what the creep must exceed the spread of the days about it.
	trendBeyond = 4.0
)

// trend is a creep that goes on over the newest days, nil where there is none: the medians of days, in order, by the test of Mann
// (Nonparametric tests against trend, Econometrica 13, 1945) and Kendall, with the slope of Theil and Sen. Days are compared and not
// runs: those of a day are alike, and have its hours.
func (s *series) trend(worth Worth) *Change {
	var days, at []float64
	var first []int // run of each day
	for i := range mostTrendDays {
		end := s.span() + s.spacing/2 - float64(i)*day
		if end-day < -s.spacing {
			break
		}
		from, to := sort.SearchFloat64s(s.at, end-day), sort.SearchFloat64s(s.at, end)
		if to-from < s.few {
			break // a day without runs ends what can be said
		}
		days, at, first = append(days, median(s.values[from:to])), append(at, -float64(i)), append(first, from)
	}
	inOrder := func(n int) bool { return worth.creeps(at[:n], days[:n]) } // the newest n days
	n := len(days)
	for n >= trendDays && !inOrder(n) {
		n--
	}
	if n < trendDays {
		return nil
	}
	from := first[len(first)-1]
	r := s.slope(from, len(s.values), rampFits*cost(s.values[from:]), nil)
	if r == nil {
		return nil
	}
	if c := s.change(Creep, r.from, r.to, from, len(s.values)); worth.telling(c.Before.Value, c.After.Value) {
		return &c
	}
	return nil
}

// creeps says whether days, the newest first, are in order as they are seldom by chance, and by so much that it is worth telling.
func (w Worth) creeps(at, days []float64) bool {
	slope := theilSen(at, days)
	whole := slope * float64(len(days)-1)
	level := median(days)
	if chance(days) > trendChance || !w.telling(level, level+whole) {
		return false
	}
	off := make([]float64, len(days))
	for i := range off {
		off[i] = days[i] - slope*at[i]
	}
	return math.Abs(whole) >= trendBeyond*spread(off, median(off))
}

// theilSen is the median of the slopes between all pairs of points.
func theilSen(x, y []float64) float64 {
	var slopes []float64
	for i := range x {
		for j := range i {
			slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
		}
	}
	return median(slopes)
}

// chance is how likely values are so much in order, either way, where they have none: Kendall's S by its exact distribution, ties
// counting as neither.
func chance(values []float64) float64 {
	n, s := len(values), 0
	for i := range values {
		for j := range i {
			switch {
			case values[i] > values[j]:
				s++
			case values[i] < values[j]:
				s--
			}
		}
	}
	// The number of pairs out of order of a random permutation: each further value adds 0 to i of them.
	most := n * (n - 1) / 2
	of := []float64{1}
	for i := 1; i < n; i++ {
		next := make([]float64, len(of)+i)
		for k, p := range of {
			for j := 0; j <= i; j++ {
				next[k+j] += p / float64(i+1)
			}
		}
		of = next
	}
	out := (most - max(s, -s)) / 2
	sum := 0.0
	for k := 0; k <= out; k++ {
		sum += of[k]
	}
	return min(1, 2*sum)
}
