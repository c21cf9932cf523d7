package traffic

import (
	"math"
	"math/rand/v2"
)

// Generator tells when the next packet of a Config goes and how large it is. It is not safe for use by two goroutines at
// once.
type Generator struct {
	start, stop int64 // stop: math.MaxInt64 where there is none
	next        func() (after float64, size int)
}

// seedSalt keeps the draws of traffic apart from those of links, which take the same seed and count from 0 as well.
const seedSalt = 0x74726166 << 32 // "traf"

// endless bounds times to what an int64 can hold, with room to add to it: 146 years.
const endless = 1 << 62

// nanobits is what turns bytes over bit/s into nanoseconds.
const nanobits = 8e9

// New makes the generator of a valid Config. Number tells apart the entries of one lab, so that each has draws of its own.
func New(c *Config, seed uint64, number int) *Generator {
	random := rand.New(rand.NewPCG(seed, seedSalt+uint64(number)))
	g := &Generator{start: int64(c.Start), stop: math.MaxInt64}
	if c.Stop > 0 {
		g.stop = int64(c.Stop)
	}
	switch sizes := newMix(c); c.Kind {
	case Constant:
		g.next = constant(float64(c.Rate), sizes, random)
	case Poisson:
		g.next = poisson(float64(c.Rate), sizes, random)
	case Pareto:
		g.next = newSwarm(c, sizes, random).begin().next
	default:
		g.next = flows(c, random)
	}
	return g
}

// Next returns the virtual time in nanoseconds at which the next packet goes, never less than that before, and its length
// as an IP packet in bytes. After the last one, ok is false for good. Of kind tcp, it is the next flow: when it begins, and
// how many bytes it sends (0: as many as it can).
func (g *Generator) Next() (t int64, size int, ok bool) {
	if g.next == nil {
		return 0, 0, false
	}
	after, size := g.next()
	if after < endless {
		t = g.start + int64(math.Round(after))
	}
	if after >= endless || t >= g.stop {
		g.next = nil
		return 0, 0, false
	}
	return t, size, true
}

// constant sends a packet when a line of the rate would be done with those before it. Times follow from the bytes sent so
// far, so rounding to nanoseconds never adds up.
func constant(rate float64, sizes mix, random *rand.Rand) func() (float64, int) {
	var sent int64
	return func() (float64, int) {
		after := float64(sent) * (nanobits / rate)
		size := sizes.draw(random)
		sent += int64(size)
		return after, size
	}
}

// poisson sends packets at the points of a Poisson process. It has no memory, so the first waits as long as any.
func poisson(rate float64, sizes mix, random *rand.Rand) func() (float64, int) {
	gap := sizes.mean() * nanobits / rate
	var after float64
	return func() (float64, int) {
		after += gap * random.ExpFloat64()
		return after, sizes.draw(random)
	}
}

// flows begins the first together, and then one at each point of a Poisson process if there is one.
func flows(c *Config, random *rand.Rand) func() (float64, int) {
	together := max(1, int(c.Flows))
	var begun int
	var after float64
	return func() (float64, int) {
		begun++
		switch {
		case begun <= together:
		case c.Every == 0:
			after = endless
		default:
			after += float64(c.Every) * random.ExpFloat64()
		}
		return after, int(c.Bytes)
	}
}
