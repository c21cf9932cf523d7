package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// lossOfTransactions is the cause of which most transactions know nothing.
const lossOfTransactions = "transaction-loss"

// leastTurns is the time in seconds that turns take at least: what takes less, nobody waits for. See felt in package diagnose.
const leastTurns = 0.12

// programCauses are those of programs, and of what stands before them.
var programCauses = []cause{
	{name: "application-limited", expect: named("application-limited"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { return digits(shareOf(r, p), 3), true },
		fault: func(_ *Path, v float64) fault {
			return fault{says: "the program makes " + kbit(v), leaves: v, args: []string{"--rate", kbit(v)}}
		}},
	{name: "slow-start-limited", expect: named("slow-start-limited"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { // over when the doubling is not yet, or only just
			v := digits(p.RTT*rounds(p)/between(r, 0.6, 1), 2)
			return v, rounds(p) >= 3 && v >= 0.2 && v <= 2
		},
		fault: func(_ *Path, v float64) fault {
			return fault{says: fmt.Sprintf("the transfer takes %.0fms", 1e3*v), args: []string{"-t", fmt.Sprintf("%.0fms", 1e3*v)}}
		}},
	{name: "chatty-application", expect: named("chatty-application"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) {
			v := float64(4 + r.IntN(12))
			return v, v*p.RTT >= leastTurns
		},
		fault: func(_ *Path, v float64) fault {
			return transactions(fmt.Sprintf("the program takes %.0f turns", v),
				[]string{"--request", "60", "--nodelay"}, []string{"--request", "60", "--nodelay", "--turns", strconv.Itoa(int(v))})
		}},
	{name: "nagle-delayed-ack", expect: named("nagle-delayed-ack"), controls: controls,
		strength: func(r *rand.Rand, _ *Path) (float64, bool) { return float64(100 + r.IntN(900)), true },
		fault: func(_ *Path, v float64) fault {
			request := []string{"--request", strconv.Itoa(int(v))}
			return transactions(fmt.Sprintf("a request of %.0f bytes is two writes", v), request, append(request, "--writes", "2"))
		}},
	{name: "small-writes", expect: named("small-writes"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { return float64(30 + 10*r.IntN(5)), true },
		fault: func(_ *Path, v float64) fault {
			request := []string{"--request", strconv.Itoa(int(100 * v)), "--nodelay"}
			f := transactions(fmt.Sprintf("a request is %.0f writes of 100 bytes", v), request, append(request, "--writes", strconv.Itoa(int(v))))
			f.without, f.with = append(f.without, "--new"), append(f.with, "--new") // later requests find a larger window
			return f
		}},
	{name: lossOfTransactions, expect: named("transaction-loss", "random-loss", "burst-loss"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { return digits(between(r, 0.04, 0.08), 2), p.RTT <= 0.06 },
		fault: func(_ *Path, v float64) fault {
			many := []string{"--request", "100", "--response", "100", "--nodelay"}
			f := transactions(percent(v)+" of the packets are lost both ways", many, many)
			f.without, f.with = append(f.without, "-c", "40", "-i", "0.05"), append(f.with, "-c", "40", "-i", "0.05")
			f.set, f.mend = []Change{{Between: narrowLink, Setting: "loss=" + percent(v)}}, []Change{{Between: narrowLink, Setting: "loss=0"}}
			return f
		}},
	{name: "proxy-holds-answer", expect: named("proxy-holds-answer"), controls: controls,
		strength: func(r *rand.Rand, _ *Path) (float64, bool) { return digits(between(r, 0.4, 2), 2), true },
		fault:    heldAnswer},
	{name: "firewall-forgets", expect: named("firewall-forgets"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { return digits(between(r, 0.6, 1.4), 2), p.RTT <= 0.1 },
		fault: func(_ *Path, v float64) fault {
			return fault{says: fmt.Sprintf("the firewall forgets what was silent for %.0fms", 1e3*v), always: true, lasts: true,
				routers: fmt.Sprintf("{r: {firewall: {inside: [a], idle: %.0fms}}, s: {}}", 1e3*v)}
		}},
	{name: "accept-queue-full", expect: named("accept-queue-full"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { return digits(between(r, 0.2, 0.5), 2), p.RTT <= 0.05 },
		fault: func(_ *Path, v float64) fault {
			return fault{says: fmt.Sprintf("a service takes a connection every %.0fms, and two may wait", 1e3*v), always: true,
				set: sysctl("b", "net.core.somaxconn", "1"), mend: sysctl("b", "net.core.somaxconn", "4096"),
				start: []string{
					fmt.Sprintf("exec: {on: b, run: [pathwise, lab, act, reply, -accept-every, %.0fms], background: true, ready: listening}", 1e3*v),
					"exec: {on: a, run: [pathwise, lab, act, request, 'b:5002', -clients, 8, -c, 1], background: true}", "wait: 200ms"},
				args: []string{"--service", "5002"}}
		}},
}

// heldAnswer has a proxy that hands an answer on once nothing more came for so many seconds.
func heldAnswer(p *Path, v float64) fault {
	f := transactions(fmt.Sprintf("a proxy holds answers for %.0fms", 1e3*v), nil, nil)
	f.target = "proxy"
	f.args = []string{"--transact-port", "5004"}
	f.with = []string{"transact", "proxy", "--port", "5004", "-c", "3"}
	f.hosts = map[string]string{"proxy": wideHost}
	f.links = []string{fmt.Sprintf("between: [s, proxy], rate: 2gbit, delay: %s", millis(accessShare*p.RTT))}
	f.before = []string{
		"exec: {on: b, run: [pathwise, respond], background: true, ready: answering}",
		"exec: {on: proxy, run: [pathwise, respond], background: true, ready: answering}",
		fmt.Sprintf("exec: {on: proxy, run: [pathwise, lab, act, relay, -port, 5004, -to, 'b:5213', -hold, %.0fms], background: true, "+
			"ready: listening}", 1e3*v)}
	return f
}

// transactions are a fault that shows in them: what well-behaved ones are, and those that are not.
func transactions(says string, without, with []string) fault {
	few := []string{"-c", "5"}
	return fault{says: says, args: with,
		without: append(append([]string{"transact", "b"}, without...), few...),
		with:    append(append([]string{"transact", "b"}, with...), few...)}
}

// rounds is how many round trips slow start takes to the bandwidth-delay product, from ten segments.
func rounds(p *Path) float64 { return math.Log2(max(1, p.product()/(10*fullPayload))) }
