package chance

import (
	"math"
	"math/rand/v2"

	"github.com/pathwise-net/pathwise/lab/notation"
)

// Distribution names how the extra delay is spread. With s for the spread:
//
//	uniform       from -s to s, symmetric about the link's delay
//	normal        mean 0, standard deviation s
//	exponential   0 or more, mean s
//	pareto        0 or more, mean s: Lomax (Pareto type II) with shape 3 and scale 2s, P(extra > x) = (1 + x/2s)^-3;
//	              standard deviation 1.73 s
//	paretonormal  mean 0, standard deviation 1.05 s: a quarter of a normal and three quarters of a Pareto, each taken at
//	              the same quantile, the mix that NIST Net found to match measured delays:
//	              s·(z/4 + (1-Φ(z))^(-1/3) - 3/2) for a standard normal z
//
// Shape 3 and the mix are those of NIST Net's and netem's tables (iproute2, netem/pareto.c and paretonormal.c). Netem
// centres its Pareto on the delay; here it is what queues do, which only add. Netem cuts off at 4 spreads; here tails
// are whole.
type Distribution string

// The distributions.
const (
	Uniform      Distribution = "uniform"
	Normal       Distribution = "normal"
	Pareto       Distribution = "pareto"
	ParetoNormal Distribution = "paretonormal"
	Exponential  Distribution = "exponential"
)

var distributions = []Distribution{Uniform, Normal, Pareto, ParetoNormal, Exponential}

// JitterProcess says for each packet how much longer it takes.
type JitterProcess struct {
	random *rand.Rand
	shape  Distribution // never empty; empirical where there is a table
	spread float64      // nanoseconds
	table  []notation.Delay

	scored          bool    // a normal score is needed
	rho, innovation float64 // of the autoregression; rho 0: none
	score           float64 // of the packet before
}

const empirical Distribution = "table"

// farthest is the largest normal score that comes of one word, so that what the autoregression may add up to, once in
// 2^53 packets, stays as finite as that.
const farthest = 8.2

// New starts the process. The Jitter is valid and, if it has a table, keeps it unchanged. A correlated process draws
// one word now, for the packet before the first, and each packet draws one.
func (j *Jitter) New(r *rand.Rand) *JitterProcess {
	p := &JitterProcess{random: r, shape: j.Distribution, spread: float64(j.Spread), table: j.Table}
	switch {
	case j.Table != nil:
		p.shape = empirical
	case j.Distribution == "":
		p.shape = Uniform
	}
	if j.Correlation > 0 {
		p.rho = float64(j.Correlation)
		p.innovation = math.Sqrt(1 - p.rho*p.rho)
		p.score = upperScore(unit(r.Uint64()))
	}
	p.scored = p.rho > 0 || p.shape == Normal || p.shape == ParetoNormal
	return p
}

// Extra returns the nanoseconds by which the next packet takes longer than the link's delay; it may be negative. The
// time is not looked at: correlation runs from packet to packet, as netem has it.
func (p *JitterProcess) Extra(_ int64) int64 {
	above := unit(p.random.Uint64()) // the probability of a larger value
	score := 0.0
	if p.scored {
		score = upperScore(above)
	}
	if p.rho > 0 {
		p.score = p.rho*p.score + p.innovation*score
		score = min(max(p.score, -farthest), farthest)
		if p.shape != Normal { // which needs the score only
			above = upperTail(score)
		}
	}
	return p.value(above, score)
}

// value returns what the distribution exceeds with the probability that is also the normal score's.
func (p *JitterProcess) value(above, score float64) int64 {
	switch p.shape {
	case Uniform:
		return round(p.spread * (1 - 2*above))
	case Normal:
		return round(p.spread * score)
	case Exponential:
		return round(exponential(p.spread, above))
	case Pareto:
		return round(2 * p.spread * (1/math.Cbrt(above) - 1))
	case ParetoNormal:
		return round(p.spread * (score/4 + 1/math.Cbrt(above) - 1.5))
	}
	return p.quantile(1 - above)
}

// quantile interpolates the table.
func (p *JitterProcess) quantile(below float64) int64 {
	at := below * float64(len(p.table)-1)
	i := int(at)
	if i >= len(p.table)-1 { // below may round to 1
		return int64(p.table[len(p.table)-1])
	}
	low, high := float64(p.table[i]), float64(p.table[i+1])
	return round(low + (at-float64(i))*(high-low))
}

func round(ns float64) int64 { return int64(math.Round(ns)) }
