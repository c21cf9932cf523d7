package stat

import "math"

// Wilson returns the 95 % interval of the ratio of which k successes in n independent trials are a sample, after Wilson (1927): unlike
// the normal approximation it stays within 0..1 and holds for few trials and for ratios near an end. Of no trials nothing is known: 0, 1.
func Wilson(k, n int) (lo, hi float64) {
	if n == 0 {
		return 0, 1
	}
	return wilson(float64(k)/float64(n), float64(n))
}

// wilson is Wilson of a ratio p of trials, which need not be a whole number.
func wilson(p, trials float64) (lo, hi float64) {
	const z = 1.959964 // the normal distribution's 97.5th percentile
	middle := p + z*z/(2*trials)
	spread := z * math.Sqrt(p*(1-p)/trials+z*z/(4*trials*trials))
	scale := 1 + z*z/trials
	return max(0, (middle-spread)/scale), min(1, (middle+spread)/scale)
}
