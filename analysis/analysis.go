// Package analysis says what changed in what was measured of pairs over days: when a metric took another level, whether it crept there,
// when a route became another one, and what the pairs have in common that changed together. It also holds tools beside each other that measured the same.
//
// It is pure: runs in, changes out. It reads no archive, names no cause and writes no sentence: package diagnose makes findings of
// what it says, and package web reads what it needs. Nothing in it takes delays or rates to be normally distributed: levels are
// medians, limits come from the series' own days, and the random numbers behind its intervals are the same each time.
//
//	step.go      where a level changes: moving medians of several lengths, against what each day brings anyway
//	season.go    what recurs by the hour of the day is taken off to see when it was, and from what to what
//	ramp.go      a change that took long is a creep, and no step
//	trend.go     a creep that goes on all the time
//	level.go     the values before and after, with their intervals
//	loss.go      counts of so many, compared as ratios of counts
//	route.go     routes that held for a time
//	route_*.go   which of their changes are some (CourseOf): stretches of traces that take one of some routes by chance, turns, hops that vary;
//	             and the routes of all pairs as one graph (GraphOf)
//	route_end.go how far away their ends are where answers are lost
//	shared.go    the least that all who changed have in common
//	health.go    what is wrong now in a mesh: which pairs are worse than usual, and what they have in common
//	worse.go     one pair of it: since when it is worse, and how surely
//	trouble.go   and all together
//	tools.go     tools that measured the same of a pair, beside each other
package analysis

import (
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// Run is what one run came to, or the runs of a short time together. A series is in order of time.
type Run struct {
	At    time.Time
	Value float64
}

// Shape is how a value changed.
type Shape string

const (
	Step  Shape = "step"  // at once, as far as the runs tell
	Creep Shape = "creep" // bit by bit, over a day or more
)

// Change is a lasting difference in the level of a series, and when it began.
type Change struct {
	Shape Shape
	// From is the last run with the level before and To the first with the one after: a step happened between the two. Of a creep they
	// are its beginning and its end, or the newest run where it goes on.
	From, To      time.Time
	Before, After Estimate
	// Confidence is the share of resamplings of both levels in which they differ the same way by at least half as much, at most 0.99.
	Confidence float64
}

// Estimate is a level: the median of runs, or a ratio of counts, with its 95 % interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Runs  int     `json:"runs"` // that it is of
}

// Rises says whether the level is higher after the change.
func (c *Change) Rises() bool { return c.After.Value > c.Before.Value }

// Worth is what difference between two levels is worth telling: all that is smaller is passed over, however certain it is.
type Worth struct {
	Least float64 // in the unit of the series
	Share float64 // of the larger of the two levels
}

// telling says whether the difference of two levels is worth telling.
func (w Worth) telling(a, b float64) bool {
	return math.Abs(b-a) >= max(w.Least, w.Share*max(math.Abs(a), math.Abs(b)))
}

// MostRuns is how many runs of a series are looked at: two weeks of one for every 20 minutes, and some. Of a longer series the
// newest are.
const MostRuns = 1200

// Changes are all changes of a series that what its own days bring does not explain, oldest first.
//
// Levels are compared by moving medians to both sides of each time, over several lengths, as in MOSUM (Eichinger and Kirch, A MOSUM
// procedure for the estimation of multiple random change points, Bernoulli 24, 2018) with medians for means. The limit is not of a
// distribution: it follows from the largest difference that each day of the series has (block maxima: Gumbel, Statistics of
// Extremes, 1958).
func Changes(runs []Run, worth Worth) []Change {
	runs = runs[max(0, len(runs)-MostRuns):]
	s := newSeries(runs)
	if s == nil {
		return nil
	}
	splits := s.splits(worth)
	changes := s.describe(splits, worth)
	if len(changes) == 0 {
		if c := s.trend(worth); c != nil {
			changes = append(changes, *c)
		}
	}
	return changes
}

// series is runs made ready.
type series struct {
	runs    []Run
	at      []float64 // s since the first run
	raw     []float64
	values  []float64 // without what recurs by the hour of the day
	spacing float64   // s, the median distance of runs
	few     int       // runs that a level is of at the least: fewRuns or manyRuns
}

const (
	// fewRuns is how many runs a level is of at the least: the median of fewer is what one or two were by chance. In a long series
	// three stray values among five come by chance, too: there it is manyRuns.
	fewRuns, manyRuns = 5, 7
	longSeries        = 200

	day = 24 * 3600.0 // s
)

// newSeries returns nil where there are too few runs to compare.
func newSeries(runs []Run) *series {
	if len(runs) < 2*fewRuns {
		return nil
	}
	s := &series{runs: runs, few: fewRuns}
	if len(runs) > longSeries {
		s.few = manyRuns
	}
	for _, r := range runs {
		s.at = append(s.at, r.At.Sub(runs[0].At).Seconds())
		s.raw = append(s.raw, r.Value)
	}
	apart := make([]float64, 0, len(runs)-1)
	for i := 1; i < len(s.at); i++ {
		apart = append(apart, s.at[i]-s.at[i-1])
	}
	if s.spacing = median(apart); s.spacing <= 0 {
		return nil
	}
	s.values = s.withoutDay()
	return s
}

// span is from the first run to the last, in seconds.
func (s *series) span() float64 { return s.at[len(s.at)-1] }

// median returns the median of values in any order, and leaves that order as it is.
func median(values []float64) float64 {
	return stat.Median(slices.Sorted(slices.Values(values)))
}

// spread is the median distance of values from a level, scaled so that it is the standard deviation of normal ones.
func spread(values []float64, level float64) float64 {
	const normal = 1.4826
	far := make([]float64, len(values))
	for i, v := range values {
		far[i] = math.Abs(v - level)
	}
	return normal * median(far)
}
