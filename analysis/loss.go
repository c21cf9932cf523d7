package analysis

import (
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// Count is how many of how many a run had, or the runs of a short time together: packets lost of packets sent.
type Count struct {
	At      time.Time
	Of, All float64
}

const (
	// leastCounted is how many there must be on the side that has more: fewer are one burst.
	leastCounted = 5
	// leastTimes is how many times as often something must be counted after a change, or before it, and leastRatio by what ratio the
	// two must differ: less is worth no one's while.
	leastTimes = 2.0
	leastRatio = 5e-4
	// countFactor is what the signed root of the likelihood ratio must exceed, in standard deviations of a calm series; of all the
	// windows and times of two weeks the largest is 4.3 once in a hundred.
	countFactor = 5.0
	// sure is how unlikely the two totals must be by one ratio.
	sure = 1e-4
)

// CountChanges are the times at which something began to be counted more often, or less: the ratio of the counts to both sides of
// each time, by the likelihood ratio of the scan statistic for counts (Kulldorff, A spatial scan statistic, Communications in
// Statistics 26, 1997). What comes in bursts counts for less, by the Pearson statistic of the runs (McCullagh and Nelder,
// Generalized linear models, 1989). Before and After are ratios with Wilson's intervals; Confidence is one less the chance of
// Fisher's exact test, at most 0.99.
func CountChanges(counts []Count) (changes []Change) {
	counts = counts[max(0, len(counts)-MostRuns):]
	runs := make([]Run, len(counts))
	for i, c := range counts {
		runs[i] = Run{At: c.At}
	}
	frame := newSeries(runs)
	if frame == nil {
		return nil
	}
	s := &counted{series: frame, counts: counts}
	splits := s.splits()
	ends := append(append([]int{0}, splits...), len(counts))
	for k := 1; k < len(ends)-1; k++ {
		from, to := s.near(ends[k-1], ends[k]-1, ends[k+1], ends[k])
		if c, holds := s.change(from, ends[k], to); holds {
			changes = append(changes, c)
		}
	}
	return changes
}

// counted is a series of counts.
type counted struct {
	*series
	counts []Count
}

// total is what runs of [from, to) had together.
func (s *counted) total(from, to int) (of, all float64) {
	for _, c := range s.counts[from:to] {
		of, all = of+c.Of, all+c.All
	}
	return of, all
}

// differs is how surely the ratio of [at, to) is above that of [from, at), in standard deviations; negative where it is below.
func (s *counted) differs(from, at, to int) float64 {
	k, n := s.total(from, at)
	l, m := s.total(at, to)
	if n <= 0 || m <= 0 || max(k, l) < leastCounted {
		return 0
	}
	gain := logLikelihood(k, n) + logLikelihood(l, m) - logLikelihood(k+l, n+m)
	root := math.Sqrt(max(0, 2*gain) / max(1, s.bursts(from, at, to, k/n, l/m)))
	if l/m < k/n {
		return -root
	}
	return root
}

// logLikelihood is the log-likelihood of k successes in n trials whose chance is k/n, without the binomial coefficient.
func logLikelihood(k, n float64) float64 {
	part := func(k float64) float64 {
		if k <= 0 {
			return 0
		}
		return k * math.Log(k/n)
	}
	return part(k) + part(n-k)
}

// bursts is by what the counts of runs vary more than if each of theirs were by chance.
func (s *counted) bursts(from, at, to int, before, after float64) float64 {
	sum := 0.0
	for i := from; i < to; i++ {
		p := before
		if i >= at {
			p = after
		}
		if c := s.counts[i]; p > 0 && p < 1 && c.All > 0 {
			sum += (c.Of - p*c.All) * (c.Of - p*c.All) / (p * (1 - p) * c.All)
		}
	}
	return sum / float64(max(1, to-from-2))
}

// splits are as those of a series of values: by the surest first, against what the days bring; and then those that these hid.
func (s *counted) splits() []int {
	var all []candidate
	var limits []float64 // of each window, the larger of both ways
	up, down := countFactor, countFactor
	for _, window := range s.windows() {
		roots := make([]float64, len(s.counts))
		for i := range roots {
			roots[i] = math.NaN()
			if from, to, enough := s.sides(i, window); enough {
				roots[i] = s.differs(from, i, to)
			}
		}
		if !s.short() {
			up, down = max(countFactor, s.limit(roots, 1), windowFalls*up), max(countFactor, s.limit(roots, -1), windowFalls*down)
		}
		limits = append(limits, max(up, down))
		for i, root := range roots {
			if root > up || -root > down {
				all = append(all, candidate{i, window, math.Abs(root)})
			}
		}
	}
	places := s.apartFrom(all, func(c candidate, _ []int) int {
		from, to, _ := s.sides(c.at, c.window)
		return s.place(c.at, from, to)
	})
	if len(places) == 0 {
		return nil
	}
	for at, more := s.hidden(places, limits); more; at, more = s.hidden(places, limits) {
		places = append(places, at)
		slices.Sort(places)
	}
	return places
}

// hidden is the surest place at which a series changed that stood within a window of another change: what a window sees beyond that one is left
// out. So an episode of an hour has an end.
func (s *counted) hidden(places []int, limits []float64) (at int, more bool) {
	ends := slices.Concat([]int{0}, places, []int{len(s.counts)})
	surest := 1.0
	for k := range ends[1:] {
		first, last := ends[k], ends[k+1]
		for i := first + s.few; i <= last-s.few; i++ {
			for w, window := range s.windows() {
				from, to, _ := s.sides(i, window)
				if from >= first && to <= last {
					continue // nothing hid it
				}
				from, to = max(from, first), min(to, last)
				if beyond := math.Abs(s.differs(from, i, to)) / limits[w]; beyond > surest {
					at, surest = s.place(i, from, to), beyond
				}
			}
		}
	}
	return at, surest > 1 && !slices.Contains(places, at)
}

// place is where the likelihood ratio is largest around a candidate, of the runs from..to.
func (s *counted) place(at, from, to int) int {
	best, most := at, -1.0
	for i := from + 1; i < to; i++ {
		k, n := s.total(from, i)
		l, m := s.total(i, to)
		if n <= 0 || m <= 0 {
			continue
		}
		if gain := logLikelihood(k, n) + logLikelihood(l, m) - logLikelihood(k+l, n+m); gain > most {
			best, most = i, gain
		}
	}
	return best
}

// change compares the loss ratio of the runs from..at with that of at..to, and says whether they differ enough to be told.
func (s *counted) change(from, at, to int) (c Change, holds bool) {
	k, n := s.total(from, at)
	l, m := s.total(at, to)
	if n <= 0 || m <= 0 {
		return c, false
	}
	ratio := func(k, n float64, runs int) Estimate {
		lo, hi := stat.Wilson(int(math.Round(k)), int(math.Round(n)))
		return Estimate{k / n, lo, hi, runs}
	}
	chance := stat.Fisher(k, n, l, m)
	c = Change{Shape: Step, From: s.runs[at-1].At, To: s.runs[at].At, Before: ratio(k, n, at-from), After: ratio(l, m, to-at),
		Confidence: min(0.99, 1-chance)}
	low, high := min(c.Before.Value, c.After.Value), max(c.Before.Value, c.After.Value)
	return c, chance <= sure && max(k, l) >= leastCounted && high >= leastTimes*low && high-low >= leastRatio
}
