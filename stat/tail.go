package stat

import "math"

// BinomialTail returns how likely k or more of n independent trials succeed, each of which does with probability p (0 <= p < 1).
func BinomialTail(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n || p == 0:
		return 0
	}
	const negligible = 1e-12 // of the sum so far; terms beyond the likeliest count shrink ever faster
	sum := 0.0
	for i := k; i <= n; i++ {
		term := math.Exp(logChoose(float64(n), float64(i)) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if sum += term; term < negligible*sum || sum == 0 && float64(i) > p*float64(n) {
			break
		}
	}
	return min(1, sum)
}
