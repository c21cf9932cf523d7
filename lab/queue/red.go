package queue

import (
	"cmp"
	"math"
	"math/rand/v2"
)

// red is random early detection (Floyd and Jacobson 1993). The average queue decides how likely a packet goes:
//
//	probability                                  forced
//	1        |                       +-----------------        without gentle
//	         |                       |         .
//	         |                       |   .                     with gentle it rises from max to 2 max
//	max_p    |                     _.+
//	         |              _ . '    |
//	0        |-------------'---------+---------+------- average
//	                      min       max      2 max
type red struct {
	low, high           Amount
	from, to            float64 // low and high in what the average counts; infinite for times on a link without a rate
	probability, weight float64
	gentle              bool
	line                Line

	random  *rand.Rand
	average float64
	kept    float64 // packets kept since one was dropped or the average came to low: the paper's count
	idle    int64   // when the queue became empty, or was last seen empty
	size    float64 // mean size of packets, in bytes of the line
}

// sizeWeight is the weight of the newest packet in the mean size of packets: some hundred packets have sizes of all sorts.
const sizeWeight = 1.0 / 128

// The fates of a packet that comes.
type fate uint8

const (
	kept   fate = iota
	early       // dropped, or marked
	forced      // dropped, whatever it can: RFC 3168 section 7
)

func newRED(c *RED, random *rand.Rand) *red {
	r := &red{low: c.Min, high: c.max(), probability: float64(c.Probability), weight: float64(c.Weight), gentle: c.Gentle,
		random: random}
	r.probability = cmp.Or(r.probability, defaultProbability)
	r.weight = cmp.Or(r.weight, defaultWeight)
	return r
}

func (r *red) setLine(line Line) {
	r.line = line
	r.from, r.to = threshold(r.low, line), threshold(r.high, line)
}

func threshold(a Amount, line Line) float64 {
	switch {
	case a.Packets > 0:
		return float64(a.Packets)
	case a.Bytes > 0:
		return float64(a.Bytes)
	case line.Rate > 0:
		return line.carries(a.Time)
	}
	return math.Inf(1)
}

// arrive decides on a packet of size bytes that finds so much waiting. One random number is drawn for each packet,
// whatever becomes of it, so that the n-th is the same with ECN and without.
func (r *red) arrive(t, size int64, found backlog) fate {
	draw := r.random.Float64()
	r.observe(t, size, found)
	if r.average < r.from {
		r.kept = 0
		return kept
	}
	if draw >= uniform(r.curve(), r.kept) {
		r.kept++
		return kept
	}
	r.kept = 0
	if r.average < r.to {
		return early
	}
	return forced
}

// observe brings the average up to date. An empty queue counts as if as many packets of the mean size had found it
// empty as the link could have sent since.
func (r *red) observe(t, size int64, found backlog) {
	framed := float64(r.line.frame(size))
	if r.size == 0 {
		r.size = framed
	}
	r.size += sizeWeight * (framed - r.size)
	length := float64(found.wire)
	switch {
	case found.packets == 0:
		r.average *= r.faded(t)
		r.idle = t // what faded until now fades once, also if this packet is dropped and the queue stays empty
		return
	case r.low.Packets > 0:
		length = float64(found.packets)
	case r.low.Bytes > 0:
		length = float64(found.bytes)
	}
	r.average += r.weight * (length - r.average)
}

// faded is what an idle time leaves of the average.
func (r *red) faded(t int64) float64 {
	if r.line.Rate <= 0 {
		return 0 // such a link sends any number in no time
	}
	if r.average == 0 {
		return 1
	}
	sent := float64(max(t-r.idle, 0)) / 1e9 * r.line.Rate / (8 * r.size)
	return math.Pow(1-r.weight, sent)
}

// curve is the probability at the average, p_b of the paper; the average is not below min. The gentle part is from
// S. Floyd, "Recommendation on using the gentle_ variant of RED", 2000.
func (r *red) curve() float64 {
	switch {
	case r.average < r.to:
		return r.probability * (r.average - r.from) / (r.to - r.from)
	case r.gentle && r.average < 2*r.to:
		return r.probability + (1-r.probability)*(r.average-r.to)/r.to
	}
	return 1
}

// uniform spreads the drops, so that the number of packets from one to the next is uniform on 1 to 1/p, not geometric:
// p_a of the paper, p/(1 - count p), from its derivation in section 7, where count is 0 for the first packet after a
// drop. (The paper's pseudo-code has it be 1 there.)
func uniform(p, count float64) float64 {
	if count*p >= 1 {
		return 1
	}
	return p / (1 - count*p)
}
