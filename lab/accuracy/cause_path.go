package accuracy

import (
	"fmt"
	"math/rand/v2"
)

// pathCauses are those of links and of what else is on them.
var pathCauses = []cause{
	{name: "cross-traffic", expect: named("cross-traffic"), controls: controls,
		strength: func(r *rand.Rand, _ *Path) (float64, bool) { return float64(2 + r.IntN(3)), true },
		fault: func(p *Path, v float64) fault {
			flow := "exec: {on: c, run: [pathwise, lab, act, source, 'd:5006', -t, 180], background: true}"
			start := make([]string, int(v), int(v)+1)
			for i := range start {
				start[i] = flow
			}
			return fault{says: fmt.Sprintf("%.0f transfers of others share the narrow link", v), leaves: payloadShare * p.Rate / (1 + v),
				lasts: true, hosts: map[string]string{"c": wideHost, "d": wideHost}, links: []string{
					fmt.Sprintf("between: [c, r], rate: 2gbit, delay: %s", millis(accessShare*p.RTT)),
					fmt.Sprintf("between: [s, d], rate: 2gbit, delay: %s", millis(accessShare*p.RTT))},
				before: []string{fmt.Sprintf(
					"exec: {on: d, run: [pathwise, lab, act, sink, -port, 5006, -connections, %.0f], background: true, ready: listening}", v)},
				start: append(start, "wait: 3s")} // until they are up to speed
		}},
	{name: "duplex-mismatch", expect: named("duplex-mismatch"), controls: controls,
		strength: func(_ *rand.Rand, p *Path) (float64, bool) { // the host's own cable, which must not be the narrowest link
			switch {
			case p.Rate >= 3e6 && p.Rate < 1e7:
				return 1e7, true
			case p.Rate >= 2e7 && p.Rate < 1e8:
				return 1e8, true
			}
			return 0, false
		},
		fault: func(_ *Path, v float64) fault {
			cable := []string{"a", "r"}
			return fault{says: fmt.Sprintf("one end of the cable of a, of %s, is at half duplex", kbit(v)), access: "rate: " + kbit(v) + ", duplex: full",
				set: []Change{{Between: cable, Setting: "duplex=mismatch"}}, mend: []Change{{Between: cable, Setting: "duplex=full"}}}
		}},
	{name: "ack-path-congested", expect: named("ack-path-congested"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) {
			v := shareOf(r, p) * ackFrame / (2 * fullPayload)
			return v, v >= 2e4
		},
		fault: func(p *Path, v float64) fault {
			return fault{says: "the way back carries " + kbit(v), leaves: v / ackFrame * 2 * fullPayload,
				set: []Change{{Between: narrowLink, Setting: "reverse.queue=20kB"}, {Between: narrowLink, Setting: "reverse.rate=" + kbit(v)}},
				mend: []Change{{Between: narrowLink, Setting: fmt.Sprintf("reverse.queue=%.0fB", p.Queue)},
					{Between: narrowLink, Setting: "reverse.rate=" + kbit(p.Rate)}}}
		}},
	{name: "pmtu-blackhole", expect: named("pmtu-blackhole"), controls: controls,
		strength: func(r *rand.Rand, _ *Path) (float64, bool) {
			return []float64{1100, 1280, 1300, 1400, 1476, 1492}[r.IntN(6)], true
		},
		fault: func(_ *Path, v float64) fault {
			return fault{says: fmt.Sprintf("packets above %.0f bytes vanish", v), leaves: 1,
				set:  []Change{{Between: narrowLink, Setting: fmt.Sprintf("mtu={size: %.0fB, excess: drop}", v)}},
				mend: []Change{{Between: narrowLink, Setting: "mtu=1500B"}}}
		}},
	{name: "outage", expect: named("outage"), controls: controls,
		strength: func(r *rand.Rand, _ *Path) (float64, bool) { return digits(between(r, 0.7, 1.5), 2), true },
		fault: func(p *Path, v float64) fault {
			// A period shorter than the transfer, so that it meets one, and after a timer of twice the outage.
			return fault{says: fmt.Sprintf("the path is gone for %.0fms every 3.5s", 1e3*v), leaves: payloadShare * p.Rate * (1 - 1.5*v/3.5),
				set:  []Change{{Between: narrowLink, Setting: fmt.Sprintf("loss={start: 300ms, period: 3500ms, for: %.0fms}", 1e3*v)}},
				mend: []Change{{Between: narrowLink, Setting: "loss=0"}}}
		}},
}

// ackFrame is what an acknowledgement takes of a line, in bytes: 20 and 32 of headers, and 38 of Ethernet.
const ackFrame = 90
