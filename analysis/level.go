package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/pathwise-net/pathwise/stat"
)

const (
	// levelDays is how much of the past a level is of: what it was just before, over whole days where there are some.
	levelDays = 7
	// resamplings is how often both levels are drawn anew: the ends of a 95 % interval are then the tenth values from both ends.
	resamplings = 400
	// apart is how likely a run after a change must be beyond one before it: a large effect, by Vargha and Delaney, A critique and
	// improvement of the CL common language effect size statistics, 2000.
	apart = 0.75
	// apartFew is the same where a day has too few runs to tell a weekend from a change.
	apartFew = 0.9
)

// describe makes changes of the places of splits: levels between them, and how they came to be. What rises or falls by several
// steps, one after the other, may be one creep.
func (s *series) describe(splits []int, worth Worth) (changes []Change) {
	ends := append([]int{0}, splits...)
	ends = append(ends, len(s.values))
	rises := func(k int) bool { return median(s.values[ends[k]:ends[k+1]]) > median(s.values[ends[k-1]:ends[k]]) }
	for k := 1; k < len(ends)-1; k++ {
		last := k
		for last+1 < len(ends)-1 && rises(last+1) == rises(k) {
			last++
		}
		if r := s.ramp(ends[k-1 : last+2]); r != nil {
			c := s.change(Creep, r.from, r.to, ends[k-1], ends[last+1])
			if worth.telling(c.Before.Value, c.After.Value) {
				changes = append(changes, c)
			}
			k = last
			continue
		}
		from, at, to := ends[k-1], ends[k], ends[k+1]
		c := s.change(Step, at-1, at, from, to)
		if worth.telling(c.Before.Value, c.After.Value) && s.beyond(from, at, to) >= s.apart() &&
			(!s.short() || s.clear(from, at, to)) {
			changes = append(changes, c)
		}
	}
	return changes
}

const (
	// clearBefore and clearAfter are how long, in seconds, levels must be known where it is not known what days bring: each hour of
	// a day before, and more than one busy hour after.
	clearBefore, clearAfter = 0.9 * day, 0.5 * day
	// clearShare is the share of runs on each side that must be beyond the same share of the other's.
	clearShare = 0.95
)

// clear says whether two levels are so long, and so far from each other, that no day can be told to have both.
func (s *series) clear(from, at, to int) bool {
	if s.at[at-1]-s.at[from] < clearBefore || s.at[to-1]-s.at[at] < clearAfter {
		return false
	}
	before, after := slices.Sorted(slices.Values(s.raw[from:at])), slices.Sorted(slices.Values(s.raw[at:to]))
	return stat.Quantile(before, clearShare) < stat.Quantile(after, 1-clearShare) ||
		stat.Quantile(after, clearShare) < stat.Quantile(before, 1-clearShare)
}

// beyond is how likely a run of [at, to) is beyond one of [from, at), to the side to which the median is.
func (s *series) beyond(from, at, to int) float64 {
	from, to = s.near(from, at-1, to, at)
	before := slices.Sorted(slices.Values(s.values[from:at]))
	below := 0.0
	for _, v := range s.values[at:to] {
		low := sort.SearchFloat64s(before, v)
		high := sort.Search(len(before), func(i int) bool { return before[i] > v })
		below += float64(low) + float64(high-low)/2
	}
	share := below / float64(len(before)*(to-at))
	return max(share, 1-share)
}

// apart is how far levels must be from each other.
func (s *series) apart() float64 {
	if s.few == fewRuns {
		return apartFew
	}
	return apart
}

// near bounds levels to the days beside a change whose last run before is at a, and whose first after is at b.
func (s *series) near(from, a, to, b int) (first, end int) {
	first = max(from, sort.SearchFloat64s(s.at, s.at[a]-levelDays*day))
	return first, min(to, sort.SearchFloat64s(s.at, s.at[b]+levelDays*day))
}

// change is of runs up to a and from b on, within [from, to). A creep that begins or ends with the series has its first or last runs
// for a level.
func (s *series) change(shape Shape, a, b, from, to int) Change {
	from, to = s.near(from, a, to, b)
	began, ended := s.runs[a].At, s.runs[b].At
	if shape == Creep {
		a, b = max(a, from+s.few-1), min(b, to-s.few)
	}
	before, after := s.values[from:a+1], s.values[b:to]
	random := rand.New(rand.NewPCG(1, uint64(len(s.values)))) // the same each time
	one, two := resample(before, random), resample(after, random)
	c := Change{Shape: shape, From: began, To: ended, Before: estimate(before, one), After: estimate(after, two)}
	whole, sure := c.After.Value-c.Before.Value, 0
	for i := range one {
		if d := two[i] - one[i]; d*whole > 0 && math.Abs(d) >= math.Abs(whole)/2 {
			sure++
		}
	}
	c.Confidence = min(0.99, float64(sure)/resamplings)
	return c
}

// resample draws the median of values again and again from blocks of neighbours, which are alike: the moving block bootstrap
// (Künsch, The jackknife and the bootstrap for general stationary observations, Annals of Statistics 17, 1989).
func resample(values []float64, random *rand.Rand) []float64 {
	n := len(values)
	block := min(n, max(1, int(math.Ceil(math.Sqrt(float64(n)))))) // as long as there are blocks
	medians, drawn := make([]float64, resamplings), make([]float64, 0, n+block)
	for i := range medians {
		drawn = drawn[:0]
		for len(drawn) < n {
			from := random.IntN(n - block + 1)
			drawn = append(drawn, values[from:from+block]...)
		}
		medians[i] = median(drawn[:n])
	}
	return medians
}

func estimate(values, resampled []float64) Estimate {
	sorted := slices.Sorted(slices.Values(resampled))
	level := median(values)
	return Estimate{level, min(level, stat.Quantile(sorted, 0.025)), max(level, stat.Quantile(sorted, 0.975)), len(values)}
}

// Level is the median of values that were measured one after the other, with its interval.
func Level(values []float64) Estimate {
	return estimate(values, resample(values, rand.New(rand.NewPCG(1, uint64(len(values))))))
}
