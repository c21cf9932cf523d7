package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/stat"
)

// confidence of every interval for a median.
const confidence = 0.95

// ratios divides ours by theirs, pair by pair: what drifts from pair to pair touches both and falls out.
func ratios(ours, theirs []float64) []float64 {
	r := make([]float64, len(ours))
	for i := range ours {
		r[i] = ours[i] / theirs[i]
	}
	return r
}

// describeRatios says the median and how far it can be trusted, such as "median 1.050 (95 % interval 1.010 to 1.090)".
func describeRatios(r []float64) string {
	lo, hi := medianInterval(r, confidence)
	interval := fmt.Sprintf("%.0f %% interval %.3f to %.3f", 100*confidence, lo, hi)
	if math.IsInf(lo, 0) {
		interval = "too few pairs for an interval"
	}
	return fmt.Sprintf("median %.3f (%s)", stat.Summarize(r).Median, interval)
}

// medianInterval returns two of the values that enclose the median of whatever they were drawn from, with at least that
// confidence and whatever its distribution: the order statistics k and n+1-k, where k-1 is as far as the smaller half can go by chance
// (David and Nagaraja, Order Statistics, section 7.1). Where there are too few values for such an interval (under 6 for 95 %) it
// returns -Inf and +Inf, which say so.
func medianInterval(values []float64, confidence float64) (lo, hi float64) {
	k, _ := stat.BinomialInterval(len(values), 0.5, confidence)
	if k == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[k-1], sorted[len(sorted)-k]
}
