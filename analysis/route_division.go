package analysis

import (
	"math"
	"slices"
)

// kindsOf numbers the distinct routes among routes, in order of their first: one that comes back has its number again.
func kindsOf(routes []Route) []int {
	kinds := make([]int, len(routes))
	var known []Route
	for i := range routes {
		k := slices.IndexFunc(known, func(r Route) bool { return len(Differing(&r, &routes[i])) == 0 })
		if k < 0 {
			k, known = len(known), append(known, routes[i].copied())
		} else {
			known[k].merge(&routes[i])
		}
		kinds[i] = k
	}
	return kinds
}

// copied is a route whose hops may be merged with others'.
func (r *Route) copied() Route {
	c := *r
	c.Hops, c.Trips = slices.Clone(r.Hops), slices.Clone(r.Trips)
	for i := range c.Hops {
		c.Hops[i].Addresses = slices.Clone(c.Hops[i].Addresses)
	}
	return c
}

const (
	// leastEdge is how many Results the first and the last stretch have at least; others have lasting.
	leastEdge = 2
	// leastChange is the cost of a change in a short series, as odds. What chance has it that this takes for a change, confidence tells.
	leastChange = 8
)

// stretchesOf cuts routes into stretches, each [from, to), in which each trace takes one of some routes by chance, with odds that do not
// change. It is the division that explains the series best (the minimum description length, Rissanen, 1978):
//
//	routes    A A A A A A B B B B B B        two stretches: a change
//	          A B B A B A A A B A B B        one: what flows do that a router balances
//	          A A A A A B A A A A A A        one: B was there once
//
// The cost of a stretch is the negative logarithm of its probability, where what was seen n times among N is seen again with n/(N+½), and
// something else with ½/(N+½), all of the kinds alike (a Dirichlet process; ½ as Krichevsky and Trofimov have it, 1981). Each
// change costs log(N/2): two in a series are expected before it is looked at, anywhere in it; in a short one fewer, at the cost of leastChange.
func stretchesOf(routes []Route, kinds []int) (parts [][2]int) {
	n, results := len(routes), 0
	if n == 0 {
		return nil
	}
	for i := range routes {
		results += routes[i].Results
	}
	change, distinct := math.Log(max(leastChange, float64(results)/2)), slices.Max(kinds)+1
	best, from, logs := make([]float64, n+1), make([]int, n+1), logFactorials(results)
	for to := 1; to <= n; to++ {
		best[to], from[to] = math.Inf(1), 0
		s := newSurprise(distinct, logs)
		for i := to - 1; i >= 0; i-- {
			s.see(kinds[i], routes[i].Results)
			least := lasting
			if i == 0 || to == n {
				least = leastEdge
			}
			if whole := i == 0 && to == n; s.all < least && !whole {
				continue
			}
			cost := s.cost() + best[i]
			if i > 0 {
				cost += change
			}
			if cost < best[to] {
				best[to], from[to] = cost, i
			}
		}
	}
	for to := n; to > 0; to = from[to] {
		parts = append(parts, [2]int{from[to], to})
	}
	slices.Reverse(parts)
	return parts
}

// surprise is the negative logarithm of the probability of a stretch, which grows at its beginning.
type surprise struct {
	counts   []int
	all      int
	seen     int       // kinds
	together float64   // the sum of log((count-1)!) over kinds that were seen
	logs     []float64 // of factorials
}

// fresh is the weight of a kind that was not seen yet.
const fresh = 0.5

func newSurprise(kinds int, logs []float64) *surprise {
	return &surprise{counts: make([]int, kinds), logs: logs}
}

func (s *surprise) see(kind, results int) {
	if before := s.counts[kind]; before == 0 {
		s.seen++
	} else {
		s.together -= s.logs[before-1]
	}
	s.counts[kind] += results
	s.all += results
	s.together += s.logs[s.counts[kind]-1]
}

func (s *surprise) cost() float64 {
	known := float64(s.seen) * math.Log(fresh/float64(len(s.counts)))
	rising, _ := math.Lgamma(fresh + float64(s.all))
	first, _ := math.Lgamma(fresh)
	return rising - first - known - s.together
}

// logFactorials are log(n!) from 0 on.
func logFactorials(most int) []float64 {
	logs := make([]float64, most+1)
	for n := 1; n <= most; n++ {
		logs[n] = logs[n-1] + math.Log(float64(n))
	}
	return logs
}
