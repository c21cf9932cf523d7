package accuracy

import (
	"math/rand/v2"
	"slices"
)

// pairsOfFaults have two at once, each of which binds by itself: on different ways or in different traffic, so that neither hides
// the other. Of two limits of one transfer the kernel and the queue show the tighter one only.
var pairsOfFaults = []cause{
	two("receive-window-limited", "nagle-delayed-ack"),
	two("send-buffer-limited", "chatty-application"),
	two("policer", "nagle-delayed-ack"),
	two("random-loss", "chatty-application"),
	bothWays(),
}

// causeOf is a cause by its name.
func causeOf(name string) *cause {
	all := slices.Concat(windowCauses, lossCauses, pathCauses, programCauses)
	return &all[slices.IndexFunc(all, func(c cause) bool { return c.name == name })]
}

// two is a fault of the path or a host, and one of the program.
func two(of, program string) cause {
	first, second := causeOf(of), causeOf(program)
	return cause{name: "two-" + of + "-and-" + program, sort: Two, expect: slices.Concat(first.expect, second.expect), controls: first.controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) {
			v, ok := first.strength(r, p)
			return v, ok && (program != "chatty-application" || programStrength[program]*p.RTT >= leastTurns)
		},
		fault: func(p *Path, v float64) fault {
			f, g := first.fault(p, v), second.fault(p, programStrength[program])
			f.says += "; " + g.says
			f.args = append(f.args, g.args...)
			return f
		}}
}

// programStrength is how strong a program's fault is beside another.
var programStrength = map[string]float64{"nagle-delayed-ack": 202, "chatty-application": 9}

// bothWays is a host whose buffers are small: what it receives is held by one, what it sends by the other.
func bothWays() cause {
	receive, send := causeOf("receive-window-limited"), causeOf("send-buffer-limited")
	return cause{name: "two-small-buffers-of-one-host", sort: Two, expect: slices.Concat(receive.expect, send.expect), controls: controls,
		strength: send.strength,
		fault: func(p *Path, v float64) fault {
			f, g := receive.fault(p, v), send.fault(p, v)
			f.says += " and its tcp_wmem too"
			mend := wideSender[0]
			g.set[0].Host, mend.Host = "b", "b"
			f.set, f.mend = append(f.set, g.set...), append(slices.Clone(f.mend), mend)
			return f
		}}
}
