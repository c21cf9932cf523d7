package twin

import (
	"slices"

	"github.com/pathwise-net/pathwise/stat"
)

const (
	// cells of the histogram. The work grows with their square: 500 take 20 ms.
	cells = 500
	// rounds of the iteration; after 50 the quantiles move by less than a cell.
	rounds = 50
	// reach is how far the histogram goes, in 95 % quantiles, where a few echoes were far later than all others.
	reach = 20
)

// halves returns values such that two independent draws from them add up to what the given ones are distributed like.
//
// The distribution g of one way is sought whose convolution with itself is f, that of the round trips, by expectation
// and maximization: given g, a round trip of k cells was i there and k-i back with probability g(i) g(k-i) /
// (g*g)(k); averaged over all round trips this is the next g. Each step makes f likelier (Dempster, Laird and Rubin,
// "Maximum Likelihood from Incomplete Data via the EM Algorithm", 1977).
func halves(values []float64) []float64 {
	s := stat.Summarize(values)
	width := min(s.Max, reach*s.P95) / (cells - 1)
	if width <= 0 {
		return values
	}
	f, g := make([]float64, cells), make([]float64, cells)
	for _, v := range values {
		f[min(cells-1, int(v/width+0.5))] += 1 / float64(len(values))
	}
	for i := range g {
		g[i] = 0.1 / cells // so that every cell can grow
	}
	for _, v := range values {
		g[min(cells-1, int(v/2/width+0.5))] += 0.9 / float64(len(values))
	}
	for range rounds {
		g = improve(f, g)
	}
	return draw(g, width, len(values))
}

// improve is one step of the iteration.
func improve(f, g []float64) []float64 {
	next := make([]float64, len(g))
	for k, share := range f {
		if share == 0 {
			continue
		}
		total := 0.0
		for i := range k + 1 {
			total += g[i] * g[k-i]
		}
		if total == 0 {
			continue
		}
		for i := range k + 1 {
			next[i] += share * g[i] * g[k-i] / total
		}
	}
	return next
}

// draw returns n values with the distribution of the histogram, evenly spread over its probabilities and within its
// cells.
func draw(g []float64, width float64, n int) []float64 {
	values := make([]float64, 0, n)
	below, cell := 0.0, 0
	for i := range n {
		at := (float64(i) + 0.5) / float64(n)
		for cell < len(g)-1 && below+g[cell] < at {
			below += g[cell]
			cell++
		}
		inside := 0.0
		if g[cell] > 0 {
			inside = min(1, (at-below)/g[cell]) - 0.5
		}
		values = append(values, max(0, (float64(cell)+inside)*width))
	}
	slices.Sort(values)
	return values
}
