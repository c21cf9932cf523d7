package stat

import (
	"math"
	"slices"
	"sort"
)

// Shift is how much longer the second of two samples of delays took than the first, in their unit.
type Shift struct {
	// Estimate is the median of all differences between one delay of the second sample and one of the first (Hodges and Lehmann, 1963): what
	// has to be taken from the second so that it takes as long as the first.
	Estimate  float64
	Low, High float64 // the 95 % interval of it
	// Longer is how often a delay of the second sample is longer than one of the first, of all pairs; equal ones count half (the U of Mann and
	// Whitney, 1947, as a share). It is 0.5 of samples that are alike.
	Longer float64
}

// Differs says whether one of the two is faster, which of samples that are alike at most 5 of 100 comparisons say.
func (s Shift) Differs() bool { return s.Low > 0 || s.High < 0 }

const (
	// leastCompared is how many delays each sample needs: with fewer the intervals hold less than they say.
	leastCompared = 8
	// mostBatches is into how many batches rounds are cut at most: enough for a spread, and few, so that each is longer than queues last.
	mostBatches = 20
)

// student are 97.5th percentiles of Student's distribution, by degrees of freedom from 1 on.
var student = [mostBatches - 1]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
	2.110, 2.101, 2.093}

// CompareDelays says which of two samples of delays is faster, and by how much. The samples are interleaved: the i-th packets of both were sent
// one after the other, in one round; Lost ones have no delay. It is false where either has fewer than 8 that arrived.
//
// Delays that follow each other are alike, since they meet the same queues, and so are those of one round. The test of Mann and Whitney takes them for
// independent, and would find differences in samples that have none. Therefore the spread of its statistic is not computed from the number of packets but
// seen in the data: rounds are cut, in their order, into at most 20 batches, and what the batches differ is the spread.
func CompareDelays(first, second []float64) (Shift, bool) {
	a, b := arrivedOf(first), arrivedOf(second)
	if len(a) < leastCompared || len(b) < leastCompared {
		return Shift{}, false
	}
	pairs := float64(len(a)) * float64(len(b))
	s := Shift{Estimate: middleOf(difference(a, b, math.Floor((pairs+1)/2)), difference(a, b, math.Floor(pairs/2)+1)), Longer: longer(a, b)}
	away := math.Ceil(pairs * longerError(first, second, a, b, s.Estimate))
	s.Low = difference(a, b, max(1, math.Floor(pairs/2)-away))
	s.High = difference(a, b, min(pairs, math.Ceil(pairs/2)+1+away))
	return s, true
}

// arrivedOf returns the delays that are not Lost, in ascending order.
func arrivedOf(delays []float64) []float64 {
	arrived := slices.DeleteFunc(slices.Clone(delays), math.IsNaN)
	slices.Sort(arrived)
	return arrived
}

// below is the share of sorted values below x; those that equal it count half.
func below(sorted []float64, x float64) float64 {
	less := sort.SearchFloat64s(sorted, x)
	equal := less
	for equal < len(sorted) && sorted[equal] == x {
		equal++
	}
	return float64(less+equal) / 2 / float64(len(sorted))
}

// longer is Shift.Longer of two sorted samples.
func longer(a, b []float64) (share float64) {
	for _, x := range b {
		share += below(a, x)
	}
	return share / float64(len(b))
}

// longerError is how far Shift.Longer may be from 0.5, in 95 of 100 comparisons, if the second sample is only shifted against the first. a and b are
// the samples without losses, sorted.
//
// Each delay is replaced by its place among those of the other sample, which is what it adds to the statistic.
func longerError(first, second, a, b []float64, shift float64) float64 {
	rounds := max(len(first), len(second))
	places := make([]float64, rounds)
	weightA, weightB := float64(rounds)/float64(len(a)), float64(rounds)/float64(len(b))
	for i, x := range first {
		if !math.IsNaN(x) {
			places[i] += weightA * (0.5 - below(b, x+shift))
		}
	}
	for i, x := range second {
		if !math.IsNaN(x) {
			places[i] += weightB * (below(a, x-shift) - 0.5)
		}
	}
	batches := min(rounds, mostBatches)
	means := make([]float64, batches)
	for k := range means {
		batch := places[k*rounds/batches : (k+1)*rounds/batches]
		for _, p := range batch {
			means[k] += p / float64(len(batch))
		}
	}
	_, spread := moments(means)
	return student[batches-2] * spread / math.Sqrt(float64(batches))
}

// difference returns the k-th smallest, from 1 on, of all differences between a value of b and one of a, both sorted.
func difference(a, b []float64, k float64) float64 {
	low, high := b[0]-a[len(a)-1], b[len(b)-1]-a[0]
	// The least number that k differences are not above lies between low and high, which are halved until no float lies between them.
	for count, _ := notAbove(a, b, low); count < k; {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			low = high
			break
		}
		if n, _ := notAbove(a, b, middle); n >= k {
			high = middle
		} else {
			low = middle
		}
	}
	_, largest := notAbove(a, b, low)
	return largest
}

// notAbove counts the differences between a value of b and one of a that are not above limit, and returns the largest of them.
func notAbove(a, b []float64, limit float64) (count, largest float64) {
	largest = math.Inf(-1)
	from := 0 // of a[from:] no difference is above limit, the larger y the fewer
	for _, y := range b {
		for from < len(a) && y-a[from] > limit {
			from++
		}
		if from == len(a) {
			break
		}
		largest = max(largest, y-a[from])
		count += float64(len(a) - from)
	}
	return count, largest
}
