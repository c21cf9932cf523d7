package accuracy

import (
	"math/rand/v2"
	"slices"
)

// causes are all that a plan draws samples of.
var causes = slices.Concat(windowCauses, lossCauses, pathCauses, programCauses, healthyPaths, pairsOfFaults)

// named is what a fault should be called, and what says the same less exactly.
func named(finding string, family ...string) []Expected {
	return []Expected{{Finding: finding, Family: family}}
}

const (
	// bindsBelow is the share of what the path carries that a fault may leave, by its model, to be drawn: the models are off by some
	// ten per cent, and what binds shall bind clearly.
	bindsBelow = 0.45
	// leastShare is the least that it leaves: below, a transfer of some seconds is over before it shows anything.
	leastShare = 0.08
	// payloadShare is what of a line's rate full packets leave to the program.
	payloadShare = 0.94
)

// share draws what a fault leaves of what the path carries.
func share(r *rand.Rand) float64 { return between(r, leastShare, bindsBelow) }

// shareOf draws it as goodput in bit/s.
func shareOf(r *rand.Rand, p *Path) float64 { return share(r) * payloadShare * p.Rate }

// narrowLink is the link whose rate is the path's.
var narrowLink = []string{"r", "s"}

// forward is a change of the narrow link towards b.
func forward(key, value string) []Change {
	return []Change{{Between: narrowLink, Setting: "forward." + key + "=" + value}}
}

// sysctl is a change of a host's setting.
func sysctl(host, key, value string) []Change { return []Change{{Host: host, Key: key, Value: value}} }
