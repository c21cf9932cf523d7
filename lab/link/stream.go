package link

import "math/rand/v2"

// purpose tells the random streams of a pipe apart.
type purpose uint64

const (
	forLoss purpose = iota
	forJitter
	forReorder
	forDuplicate
	forCorrupt
	forBit // which bit of a corrupted packet
	forQueue
	forOutage
	forBackoff
	purposes
)

// identity is what a pipe's streams are made from: of one seed, no two pipes of a lab have the same.
type identity struct {
	seed   uint64
	number uint64 // the direction's
	pipe   uint64 // 0: the direction's own; else the rule's, and what of the packets chose it
}

// stream starts the random stream for a purpose. Directions are numbered 0, 1, 2 and purposes too, so the words are
// mixed before they seed the generator.
func (i identity) stream(what purpose) *rand.Rand {
	return rand.New(rand.NewPCG(i.seed, mix(mix(mix(i.number)+i.pipe)+uint64(what))))
}

// mix is SplitMix64's step (G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
// 2014): a bijection in which each bit of the input changes half of the output's.
func mix(v uint64) uint64 {
	v += 0x9E3779B97F4A7C15
	v = (v ^ v>>30) * 0xBF58476D1CE4E5B9
	v = (v ^ v>>27) * 0x94D049BB133111EB
	return v ^ v>>31
}
