package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// shuffles is how often the order of traces is drawn anew.
	shuffles = 199
	// likely is the least confidence of a change: three traces of one route before three of another are one, of which 10 of 100 orders are as neat.
	likely = 0.85
	// nearTraces is how many on each side of a change are looked at.
	nearTraces = 60
)

// confidence is how surely two stretches that follow each other are another than one whose traces came in any order: the share of shuffled orders
// that cannot be divided as neatly, anywhere, as this one (a permutation test of the largest likelihood ratio).
func confidence(before, after *stretch) float64 {
	was, is := before.order(nil), after.order(nil)
	was, is = was[max(0, len(was)-nearTraces):], is[:min(len(is), nearTraces)]
	all := slices.Concat(was, is)
	seen := neatest(all)
	random := rand.New(rand.NewPCG(1, uint64(len(all)))) // the same each time
	as := 1                                              // the order that was seen
	for range shuffles {
		random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		if neatest(all) >= seen-1e-9 {
			as++
		}
	}
	return 1 - float64(as)/(shuffles+1)
}

// neatest is the largest logarithm of a likelihood ratio between two parts with odds of their own, and one whole, over all divisions of which either part has
// leastEdge traces.
func neatest(all []int) (most float64) {
	kinds := slices.Max(all) + 1
	left, right := make([]float64, kinds), make([]float64, kinds)
	for _, k := range all {
		right[k]++
	}
	within := 0. // sum of n·log n over the kinds of both parts
	for _, n := range right {
		within += xlogx(n)
	}
	whole := within - xlogx(float64(len(all)))
	for i, k := range all[:max(0, len(all)-leastEdge)] {
		within += xlogx(left[k]+1) - xlogx(left[k]) + xlogx(right[k]-1) - xlogx(right[k])
		left[k]++
		right[k]--
		if i+1 >= leastEdge {
			most = max(most, within-xlogx(float64(i+1))-xlogx(float64(len(all)-i-1))-whole)
		}
	}
	return most
}

func xlogx(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * math.Log(x)
}

// chanceLimit is how many standard deviations from what chance has it the number of runs may be: beyond are 2 of 100.
const chanceLimit = 2.33

// byChance says whether kinds follow each other as if each were drawn by itself: by how many runs of one kind there are (Wald and Wolfowitz, 1940;
// of more than two kinds Barton and David, 1957).
func byChance(order []int, runs int) bool {
	counts := map[int]float64{}
	for _, k := range order {
		counts[k]++
	}
	n, squares, cubes := float64(len(order)), 0., 0.
	for _, c := range counts {
		squares += c * c
		cubes += c * c * c
	}
	expected := (n*(n+1) - squares) / n
	variance := (squares*(squares+n*(n+1)) - 2*n*cubes - n*n*n) / (n * n * (n - 1))
	return variance <= 0 || math.Abs(float64(runs)-expected) <= chanceLimit*math.Sqrt(variance)
}

// runsOf counts how often another kind begins.
func runsOf(kinds []int) (runs int) {
	for i, k := range kinds {
		if i == 0 || k != kinds[i-1] {
			runs++
		}
	}
	return runs
}
