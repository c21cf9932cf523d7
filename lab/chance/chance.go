// Package chance holds the random processes of a link: which packets are lost, doubled, spoilt or held back, how much
// the delay varies, and when the link is down. Each is a configuration, read from a lab file or from JSON, and a
// process made from it by New. Delays that vary without chance (Drift, Creep) are here too, for they are used alike.
//
// A process is asked once for each packet, in the order in which packets come, and answers for that packet only: it
// holds no packet, knows no queue and moves nothing. Times are nanoseconds of the caller's virtual time. What counts
// from a moment (the windows of a loss, an outage, a drift) counts from the time given to New.
//
// Randomness comes from the *rand.Rand handed in. Each process draws a fixed number of 64-bit words for each packet,
// whatever comes of it, so what happens to packet n depends on the seed and n (and, where the model says so, on the
// packet's size and time), not on the fate of the packets before. Outages draw once for each change of state. Processes
// that share one *rand.Rand change each other's draws when one is added; give each its own.
//
// Nothing here allocates once New has returned, and nothing is safe for concurrent use.
package chance

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
)

// longest bounds every span in this package: no lab runs for a year, and sums of a few such spans, or one drawn from an
// exponential of that mean (at most 37 times the mean, see unit), fit an int64 of nanoseconds.
const longest = notation.Span(365 * 24 * time.Hour)

// unit turns a random word into a number between 0 and 1, never 0 or 1 itself, so that quantiles of unbounded
// distributions stay finite: the middles of 2^52 equal intervals, each an exact float64. The extremes are 2^-53 from 0
// and from 1.
func unit(word uint64) float64 {
	return (float64(word>>12) + 0.5) / (1 << 52)
}

// upperScore returns the z that a standard normal exceeds with probability v: within 8.3 of 0 for what unit returns.
func upperScore(v float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*v) }

// upperTail returns the probability that a standard normal exceeds z, precise also where it is tiny.
func upperTail(z float64) float64 { return 0.5 * math.Erfc(z/math.Sqrt2) }

// exponential returns the value that an exponential of this mean exceeds with probability v.
func exponential(mean, v float64) float64 { return -mean * math.Log(v) }
