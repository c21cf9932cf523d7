// Package stat turns samples into the statistics that Pathwise reports: quantiles, summaries, mergeable histograms,
// delay variation, loss patterns, connectivity and outages, reordering, duplication, the quality of speech that follows,
// how two clocks run beside each other, which of two samples is faster or loses more, and intervals that say how far a number can be
// trusted.
//
// It knows nothing of networks, units or clocks: a sample is a list of numbers in the order in which they were taken,
// and results are in the unit of the values that went in. Nothing here allocates on a path that runs once a packet.
package stat

import (
	"math"
	"slices"
)

// Quantile returns the q-quantile (0 <= q <= 1) of values that are sorted in ascending order: the smallest value x of
// which the empirical distribution says F(x) >= q. That is the percentile of RFC 2330 section 11.3, and type 1 of Hyndman
// and Fan (1996): always one of the values, so it holds with lost packets counted as +Inf too. Note that Quantile(s, 0.5)
// of an even number of values is the lower of the middle two; Median is their mean. Where the RFC puts the 0th percentile at
// -Inf, this returns the smallest value; where there are no values, NaN.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[rank(uint64(len(sorted)), q)-1]
}

// rank is the position, counted from 1, of the q-quantile of n sorted values.
func rank(n uint64, q float64) uint64 {
	const slack = 1e-9 // 0.07 * 100 is a little above 7, which is not yet the 8th value
	at := math.Ceil(q*float64(n) - slack)
	if q >= 1 || at >= float64(n) { // which may be more than n
		return n
	}
	return uint64(max(1, at))
}

// Median returns the middle of values that are sorted in ascending order, which for an even number is the mean of the
// middle two (RFC 2330 section 11.3). It is NaN where there are no values.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	if n == 0 {
		return math.NaN()
	}
	return middleOf(sorted[n/2-1], sorted[n/2])
}

// middleOf is the mean of two values, which is never outside them: a sum beyond the largest number is halved first, one of the smallest last.
func middleOf(a, b float64) float64 {
	if sum := a + b; !math.IsInf(sum, 0) {
		return sum / 2
	}
	return a/2 + b/2
}

// Summary is a sample in eight numbers, in the unit of its values.
type Summary struct {
	N      int
	Min    float64
	Mean   float64
	Median float64 // as Median
	P95    float64 // as Quantile
	P99    float64
	Max    float64
	Stddev float64 // of the sample, with n-1 below the line; 0 for a single value
}

// Summarize describes values, in any order, and leaves them as they are. Without values it returns the zero Summary: look
// at N before believing the rest.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	mean, stddev := moments(sorted)
	mean = min(max(sorted[0], mean), sorted[len(sorted)-1]) // rounding must not put it outside
	return Summary{
		N: len(sorted), Min: sorted[0], Max: sorted[len(sorted)-1], Mean: mean, Stddev: stddev,
		Median: Median(sorted), P95: Quantile(sorted, 0.95), P99: Quantile(sorted, 0.99),
	}
}

// moments returns the mean and the sample standard deviation, in two passes so that a small spread around a large
// mean survives.
func moments(values []float64) (mean, stddev float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if len(values) < 2 {
		return mean, 0
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / (n - 1))
}
