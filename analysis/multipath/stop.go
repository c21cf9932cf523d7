package multipath

import "math"

// stops are the stopping points for a chance to fail: how many probes of different flows it takes until so many next hops as were found are all.
//
// With K next hops of equal shares, the search fails where it stops at an earlier one of its stopping points with fewer than K found:
//
//	probes        at[1]            at[2]            at[3]
//	              1 found: stop    2 found: stop    3 found: stop
//	              more: go on      more: go on      more: go on
//
// at[k] is the least number with which a router of k+1 next hops is missed with at most this chance, that of having stopped early included (Veitch, Augustin,
// Teixeira, Friedman, "Failure control in multipath route tracing", INFOCOM 2009). For 0.05 these are 6, 11, 16, 21, 27, 33, …
type stops struct {
	fail float64
	at   []int // at[0] is not used
}

func newStops(fail float64) *stops { return &stops{fail: fail, at: []int{0}} }

// after is the stopping point where k next hops were found, k from 1 on.
func (s *stops) after(k int) int {
	for len(s.at) <= k {
		s.at = append(s.at, s.point(len(s.at)))
	}
	return s.at[k]
}

// point finds the stopping point for k found of k+1, when those for fewer are known.
func (s *stops) point(k int) int {
	all := float64(k + 1)
	found := make([]float64, k+2) // the chance to have found so many, and not to have stopped
	found[0] = 1
	stopped := 0.0
	for n := 1; ; n++ {
		for j := k + 1; j > 0; j-- {
			found[j] = found[j]*float64(j)/all + found[j-1]*(all-float64(j-1))/all
		}
		found[0] = 0
		for j := 1; j < k; j++ {
			if n == s.at[j] {
				stopped += found[j]
				found[j] = 0
			}
		}
		if n > s.at[k-1] && stopped+found[k] <= s.fail {
			return n
		}
	}
}

// missed bounds the chance that so many probes showed no more than k of k+1 next hops of equal shares.
func missed(k, probes int) float64 {
	all := float64(k + 1)
	return min(1, all*math.Pow(1-1/all, float64(probes)))
}

// unseen is how many probes it takes that something with this share of them is missed with at most this chance.
func unseen(share, fail float64) int {
	if share >= 1 {
		return 1
	}
	return int(math.Ceil(math.Log(fail) / math.Log1p(-share)))
}

// surely is the chance to fail where a wrong guess would put links into the graph that do not exist, which is worse than to miss one.
const surely = 1e-6

// rules are the numbers of probes that a search goes by.
type rules struct {
	plain   *stops
	strict  *stops
	repeats int // probes of one flow that come out at one of two next hops all the time, before its router is believed to balance by flow
}

// newRules shares the chance to fail among the balancers that the confidence covers: 1 - confidence = 1 - (1 - fail)^balancers.
func newRules(c Config) rules {
	fail := 1 - math.Pow(c.Confidence, 1/float64(c.Balancers))
	return rules{plain: newStops(fail), strict: newStops(surely), repeats: 1 + unseen(0.5, surely)}
}
