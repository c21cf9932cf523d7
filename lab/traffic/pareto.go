package traffic

import (
	"cmp"
	"math"
	"math/rand/v2"
)

// swarm is the sum of sources that are on and off in turn, each for Pareto-distributed times of shape alpha and of its
// own. As their number grows, the sum tends to fractional Gaussian noise with H = (3 - alpha) / 2: bursts at every time
// scale, which more averaging does not smooth away (Willinger, Taqqu, Sherman and Wilson, "Self-Similarity Through
// High-Variability", IEEE/ACM Trans. Networking 5(1), 1997, theorem 1).
//
//	source 1  ####......######....##..........
//	source 2  ..##########..........####....##
//	sum       ##****######**....##..####....##   # one peak rate, * two
//
// The sources are found in their stationary state, so the mean rate holds from the first nanosecond on.
type swarm struct {
	random  *rand.Rand
	sizes   mix
	perByte float64 // ns that one byte takes at a source's peak
	share   float64 // of the time that a source is on
	on, off pareto
	heap    []source // the earliest packet first
}

// source is on until end. Its packets are equally far apart in on-time: what is left of a gap when it goes off is waited
// for when it is on again, so that the mean rate is exact however short the on-times are.
type source struct {
	at   float64 // ns after the start; when its next packet goes
	end  float64 // when it goes off
	size int     // of its next packet
}

func newSwarm(c *Config, sizes mix, random *rand.Rand) *swarm {
	on, off := or(float64(c.On), DefaultOn), or(float64(c.Off), DefaultOff)
	alpha, count := or(c.Shape, DefaultShape), int(c.Sources)
	count = cmp.Or(count, DefaultSources)
	peak := float64(c.Peak)
	if peak == 0 {
		peak = float64(c.Rate) / float64(count) * (on + off) / on
	}
	return &swarm{
		random: random, sizes: sizes, perByte: nanobits / peak, share: on / (on + off),
		on: newPareto(on, alpha), off: newPareto(off, alpha), heap: make([]source, count),
	}
}

// begin draws where each source stands at time 0.
func (s *swarm) begin() *swarm {
	for i := range s.heap {
		s.heap[i] = s.born()
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
	return s
}

func or(value, otherwise float64) float64 {
	if value == 0 {
		return otherwise
	}
	return value
}

// born returns a source as a passer-by would find it at time 0: on with the probability of being on, somewhere in that
// time, and somewhere in the gap between two packets. A gap is as long as the packet after it is large, and so much more
// likely to be found.
func (s *swarm) born() source {
	var x source
	if s.random.Float64() < s.share {
		x.end = s.on.residual(s.random)
	} else {
		x.at = s.off.residual(s.random)
		x.end = x.at + s.on.draw(s.random)
	}
	x.size = s.sizes.drawByBytes(s.random)
	s.wait(&x, s.random.Float64()*float64(x.size)*s.perByte)
	return x
}

// wait moves a source on by an amount of on-time.
func (s *swarm) wait(x *source, left float64) {
	for x.at+left >= x.end && x.end < endless {
		left -= x.end - x.at
		x.at = x.end + s.off.draw(s.random)
		x.end = x.at + s.on.draw(s.random)
	}
	x.at += left
}

// next returns the earliest packet of all sources. A source's gap before a packet is as long as that packet takes at the
// peak rate.
func (s *swarm) next() (after float64, size int) {
	x := &s.heap[0]
	after, size = x.at, x.size
	x.size = s.sizes.draw(s.random)
	s.wait(x, float64(x.size)*s.perByte)
	s.sink(0)
	return after, size
}

// sink restores the heap below i. Where times are equal, the order follows from that of earlier calls, which is
// the same for the same seed.
func (s *swarm) sink(i int) {
	for {
		least, left := i, 2*i+1
		for c := left; c <= left+1 && c < len(s.heap); c++ {
			if s.heap[c].at < s.heap[least].at {
				least = c
			}
		}
		if least == i {
			return
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
}

// pareto is the distribution P(X > x) = (scale/x)^alpha for x >= scale; its mean is scale * alpha / (alpha - 1).
type pareto struct{ scale, alpha, power, residualPower float64 }

func newPareto(mean, alpha float64) pareto {
	return pareto{scale: mean * (alpha - 1) / alpha, alpha: alpha, power: -1 / alpha, residualPower: -1 / (alpha - 1)}
}

// uniform draws from (0, 1].
func uniform(random *rand.Rand) float64 { return 1 - random.Float64() }

func (p *pareto) draw(random *rand.Rand) float64 { return p.scale * math.Pow(uniform(random), p.power) }

// residual draws how much is left of the time that a passer-by finds going on: its density is P(X > x) / mean (Cox,
// Renewal Theory, 1962, section 5.2), even up to the scale, and a Pareto tail of alpha-1 beyond.
func (p *pareto) residual(random *rand.Rand) float64 {
	u, v := random.Float64(), uniform(random)
	if u < (p.alpha-1)/p.alpha {
		return v * p.scale
	}
	return p.scale * math.Pow(v, p.residualPower)
}
