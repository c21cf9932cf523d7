package stat

import (
	"math"
	"slices"
)

// Lost is the delay of a packet that did not arrive, in lists of delays in the order of sending.
var Lost = math.NaN()

// IPDV returns the inter-packet delay variation (RFC 3393 section 2.4 with consecutive packets selected, RFC 5481 section 4.1) of one-way delays in the
// order of sending: how much longer each packet took than the one sent just before it. Where either is Lost there is none (RFC 3393 section 4.1).
func IPDV(delays []float64) []float64 {
	var differences []float64
	for i := 1; i < len(delays); i++ {
		if d := delays[i] - delays[i-1]; !math.IsNaN(d) {
			differences = append(differences, d)
		}
	}
	return differences
}

// PDV returns the packet delay variation (RFC 5481 section 4.2) of one-way delays in the order of sending: how much longer each packet took
// than the fastest of them. Lost ones have none. Clocks that are apart do not change it.
func PDV(delays []float64) []float64 {
	var above []float64
	least := math.Inf(1)
	for _, d := range delays {
		if d < least { // which NaN is not
			least = d
		}
	}
	for _, d := range delays {
		if !math.IsNaN(d) {
			above = append(above, d-least)
		}
	}
	return above
}

// Variation is how much one-way delays vary, in their unit.
type Variation struct {
	IPDVP95 float64 // 95th percentile of |IPDV| (RFC 3393 section 4.5): what one packet differs from the one before it, longer or shorter
	PDVP95  float64 // 95th percentile of PDV
	Spread  float64 // from the median delay to the 95th percentile: what owping calls jitter
	// Buffer is the delay that a playout buffer must add to the least delay so that no more than 1 packet in 1000 comes too late for it: the
	// 99.9th percentile of PDV (RFC 5481 sections 6.5 and 11, which follow ITU-T Y.1541 in it).
	Buffer float64
}

// VariationOf returns the variation of delays in the order of sending, Lost ones among them; ok is false where fewer than two packets arrived.
func VariationOf(delays []float64) (v Variation, ok bool) {
	above := PDV(delays)
	if len(above) < 2 {
		return Variation{}, false
	}
	slices.Sort(above)
	v = Variation{PDVP95: Quantile(above, 0.95), Spread: Quantile(above, 0.95) - Median(above), Buffer: Quantile(above, 0.999)}
	steps := IPDV(delays)
	for i := range steps {
		steps[i] = math.Abs(steps[i])
	}
	slices.Sort(steps)
	if len(steps) > 0 {
		v.IPDVP95 = Quantile(steps, 0.95)
	}
	return v, true
}
