package main

import (
	"fmt"
	"math"

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
	lo, hi := stat.MedianInterval(r, confidence)
	interval := fmt.Sprintf("%.0f %% interval %.3f to %.3f", 100*confidence, lo, hi)
	if math.IsInf(lo, 0) {
		interval = "too few pairs for an interval"
	}
	return fmt.Sprintf("median %.3f (%s)", stat.Summarize(r).Median, interval)
}
