package accuracy

import (
	"fmt"
	"math/rand/v2"
)

// pathChange is a healthy path whose way becomes longer while a transfer runs, which shows as an outage might.
const pathChange = "healthy-path-change"

// healthyPaths carry what they can, and what is said of them must be no problem.
var healthyPaths = []cause{
	healthy("healthy-plain", func(r *rand.Rand, p *Path) bool { p.Queue = queueOf(p, between(r, 0.3, 1)); return true },
		func(*Path) fault { return fault{says: "nothing"} }),
	healthy("healthy-deep-queue", func(r *rand.Rand, p *Path) bool { p.Queue = queueOf(p, between(r, 1, 8)); return true },
		func(*Path) fault { return fault{says: "nothing, and the queue is long"} }),
	healthy("healthy-jitter", func(_ *rand.Rand, p *Path) bool { return p.RTT >= 0.01 },
		func(p *Path) fault {
			most := millis(min(2e-3, p.RTT/15))
			return fault{says: "the delay varies by " + most, set: []Change{{Between: narrowLink, Setting: "jitter=" + most}}}
		}),
	healthy("healthy-reordering", func(_ *rand.Rand, p *Path) bool { return p.RTT >= 0.01 },
		func(p *Path) fault {
			by := millis(min(3e-3, p.RTT/10)) // within what TCP waits: a quarter of the round trip
			return fault{says: "1% of the packets come late by " + by, set: forward("reorder", fmt.Sprintf("{ratio: 1%%, by: %s}", by))}
		}),
	healthy("healthy-shared", func(*rand.Rand, *Path) bool { return true },
		func(p *Path) fault {
			// The emulator sends it itself: a load that does not give way and leaves nine tenths of the link.
			return fault{says: "others use a twelfth of the link", traffic: fmt.Sprintf(
				"[{from: r, to: s, kind: poisson, rate: %s}]", kbit(p.Rate/12))}
		}),
	healthy(pathChange, func(*rand.Rand, *Path) bool { return true },
		func(p *Path) fault {
			return fault{says: "the way becomes longer by a fifth of the round trip", timeline: fmt.Sprintf(
				"[{at: %s, between: [r, s], forward: {delay: %s}}]", duringTransfer, millis((0.5-2*accessShare+0.2)*p.RTT))}
		}),
	healthy("healthy-ipv6", func(*rand.Rand, *Path) bool { return true },
		func(*Path) fault { return fault{says: "nothing, by IPv6", args: []string{"-6"}} }),
	healthy("healthy-line", func(_ *rand.Rand, p *Path) bool { return p.Rate >= 2e6 },
		func(p *Path) fault {
			back := p.Rate / 5 // acknowledgements need a thirtieth
			return fault{says: "the way back has a fifth of the rate",
				narrow: fmt.Sprintf("reverse: {rate: %s, queue: %.0fB}", kbit(back), max(leastQueue, p.Queue/5))}
		}),
}

// duringTransfer is when the first transfer of a diagnosis runs, from when the lab stands.
const duringTransfer = "5500ms"

func healthy(name string, fits func(*rand.Rand, *Path) bool, made func(*Path) fault) cause {
	return cause{name: name, sort: Healthy, expect: named("path-full"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { return 0, fits(r, p) },
		fault:    func(p *Path, _ float64) fault { return made(p) }}
}
