// Package model holds the formulas that say what a path and a transport can do: how much must be in flight, what a window
// or a loss rate allows, how long TCP takes to start and to recover, what headers cost.
//
// Every formula is a pure function that cites its source; package model measures nothing and decides nothing. Rates are in
// bit/s, sizes in bytes, losses as ratios 0..1, times are time.Duration. Sizes and counts of packets are float64 because they
// come out of divisions; a function that rounds says so. Arguments must be positive unless a function says otherwise; with
// others the result is what IEEE arithmetic makes of them, which is an infinity or NaN, never a panic.
package model

import (
	"math"
	"time"
)

// Seconds turns seconds into a Duration: the longest there is, 292 years, where they do not fit; 0 for NaN.
func Seconds(s float64) time.Duration {
	ns := math.Round(s * float64(time.Second))
	switch {
	case math.IsNaN(ns):
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(ns)
}
