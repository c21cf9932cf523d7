package stat

import (
	"slices"
)

// BinomialInterval returns the acceptance interval of a count of n independent trials that each succeed with probability p:
// the narrowest lo..hi, both included, that leaves at most (1-confidence)/2 of the probability on either side. It is
// exact, not the normal approximation: a fair emulator of 1 % loss stays within BinomialInterval(n, 0.01, 0.99) in at least 99 of
// 100 runs. It panics if n is negative or p or confidence is not in 0..1.
func BinomialInterval(n int, p, confidence float64) (lo, hi int) {
	if n < 0 || !(p >= 0 && p <= 1) || !(confidence >= 0 && confidence <= 1) {
		panic("stat: BinomialInterval wants n >= 0, 0 <= p <= 1, 0 <= confidence <= 1")
	}
	tail := (1 - confidence) / 2
	first, mass := binomial(n, p)
	if tail == 0 {
		return 0, n
	}
	lo, hi = first, first+len(mass)-1
	for below := mass[0]; below <= tail && lo < hi; below += mass[lo-first] {
		lo++
	}
	for above := mass[len(mass)-1]; above <= tail && hi > lo; above += mass[hi-first] {
		hi--
	}
	return lo, hi
}

// binomial returns the probabilities of first, first+1, ... successes in n trials. Counts whose probability is below
// 1e-18 of the likeliest count's are left out. It walks from the likeliest count outwards, where each probability follows
// from its neighbour's, so nothing over- or underflows; then it scales the sum to 1.
func binomial(n int, p float64) (first int, mass []float64) {
	const negligible = 1e-18 // a million of them are still below the precision of the sum
	if p == 0 || p == 1 {
		return int(p) * n, []float64{1}
	}
	mode := min(int(float64(n+1)*p), n)
	odds := p / (1 - p)
	var down []float64
	for k, m := mode, 1.0; k > 0; k-- { // P(k-1) = P(k) k / ((n-k+1) odds)
		if m *= float64(k) / (float64(n-k+1) * odds); m < negligible {
			break
		}
		down = append(down, m)
	}
	slices.Reverse(down)
	mass = append(down, 1)
	for k, m := mode, 1.0; k < n; k++ { // P(k+1) = P(k) (n-k) odds / (k+1)
		if m *= float64(n-k) * odds / float64(k+1); m < negligible {
			break
		}
		mass = append(mass, m)
	}
	var sum float64
	for _, m := range mass {
		sum += m
	}
	for i := range mass {
		mass[i] /= sum
	}
	return mode - len(down), mass
}
