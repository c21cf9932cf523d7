package stat

import "math"

// Fisher returns how likely it is that two samples of which k of n and l of m trials succeed differ by so much or more, either way,
// if the ratio behind both is one: Fisher's exact test, the sum of all tables that are no likelier than this one. Counts are rounded
// to whole ones.
func Fisher(k, n, l, m float64) float64 {
	k, n, l, m = math.Round(k), math.Round(n), math.Round(l), math.Round(m)
	if n <= 0 || m <= 0 {
		return 1
	}
	all := k + l
	lowest, highest := max(0, all-m), min(all, n)
	likely := func(x float64) float64 { return logChoose(n, x) + logChoose(m, all-x) - logChoose(n+m, all) }
	const slack = 1e-7 // of logarithms, for tables that are as likely as this one
	own, sum := likely(k), 0.0
	for x := lowest; x <= highest; x++ {
		if p := likely(x); p <= own+slack {
			sum += math.Exp(p)
		}
	}
	return min(1, sum)
}

// logChoose is the logarithm of the number of ways to take k of n.
func logChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}
