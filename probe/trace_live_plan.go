package probe

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// livePlan says which packet of a trace that goes on leaves when, and keeps what came of them. It is pure: times come in. A packet is told by
// its number, of which as many as there are probes are in use in turn: none again before livePatience is over, so that what comes late for one packet does not count
// for the next of its number.
//
// The first round finds out how long the route is, with three packets ahead of the farthest hop that answered; each later one sends a packet to
// each hop, at even intervals:
//
//	TTL      1 2 3 4 5 6 7 8
//	         ===== far |          the first round: as answers come, far moves on, and the limit with it
//	               |-ahead-|
//	later    = = = = = = =        up to the end: the lowest TTL whose answer was not of a TTL that ran out
//
// Where a packet to the end expires on the way, the route has become longer, and the limit moves on again.
type livePlan struct {
	maxTTL, rounds      int // rounds 0: no end
	dscp                int
	every, timeout, gap time.Duration

	probes []liveProbe // number modulo their length
	first  time.Time   // no packet leaves before
	number int         // of the next packet
	oldest int         // the first packet that may be waited for
	hops   []liveHop   // by TTL, from 1
	epoch  int         // how often the figures were cleared

	round   int       // the present one, from 1; 0: none began
	began   time.Time // when it did
	spacing time.Duration
	cursor  int // the TTL of its last packet
	shown   int // rounds since the figures were cleared
	ahead   int
	settled bool // the length of the route is known, or all that can be
	far     int  // the farthest TTL at which something answered
	end     int  // 0: not known
	reached bool // the target is what answered there
	paused  bool

	distinct bool // packets have ports of their own: see tracePlan.nameless
}

type liveProbe struct {
	ttl, epoch, place int // place among the packets to its hop
	sent              sock.Stamp
	open              bool
}

// liveNumbers is how many numbers packets have, all of which a packet of UDP and the least quotes have room for: those of 160 hops, ten rounds a second, for ten seconds.
const liveNumbers = 1 << 14

// newLivePlan is a plan whose packets have so many numbers.
func newLivePlan(t Trace, every time.Duration, rounds, numbers int) *livePlan {
	return &livePlan{maxTTL: t.MaxTTL, rounds: rounds, dscp: t.DSCP, every: every, timeout: t.Timeout, gap: t.Interval, ahead: traceShyAhead,
		hops: make([]liveHop, t.MaxTTL), probes: make([]liveProbe, numbers)}
}

// limit is the highest TTL that is asked.
func (p *livePlan) limit() int {
	if p.end > 0 {
		return p.end
	}
	return min(p.maxTTL, p.far+p.ahead)
}

// due is the TTL of the next packet and when it may leave; more is false where none will, unless something comes back.
func (p *livePlan) due(now time.Time) (ttl int, at time.Time, more bool) {
	ttl, at, more = p.next(now)
	if free := p.probes[p.number%len(p.probes)].sent.User.Add(livePatience); more && at.Before(free) {
		at = free
	}
	return ttl, at, more
}

// next is when the pace lets the next packet leave, and its TTL, whether or not its number is free by then.
func (p *livePlan) next(now time.Time) (ttl int, at time.Time, more bool) {
	switch {
	case p.paused || p.number-p.oldest >= len(p.probes):
		return 0, at, false
	case p.round == 0 && p.first.After(now):
		return 1, p.first, true
	case p.round == 0:
		return 1, now, true
	case p.cursor < p.limit():
		return p.cursor + 1, p.began.Add(time.Duration(p.cursor) * p.spacing), true
	case !p.settled && p.end == 0 && p.waiting():
		return 0, at, false
	case !p.settled && p.end == 0 && p.ahead < traceAhead && p.cursor < min(p.maxTTL, p.far+traceAhead): // which it may be beyond, once far went back
		p.ahead = traceAhead // three hops in a row are silent
		return p.cursor + 1, now, true
	case p.rounds > 0 && p.round >= p.rounds:
		return 0, at, false
	}
	p.settled, p.ahead = true, traceShyAhead
	return 1, p.began.Add(p.every), true
}

// sent records that the packet of a TTL has left, and returns its number.
func (p *livePlan) sent(ttl int, at time.Time) (number int) {
	p.step(ttl, at)
	number, p.number = p.number, p.number+1
	h := &p.hops[ttl-1]
	p.probes[number%len(p.probes)] = liveProbe{ttl: ttl, epoch: p.epoch, place: h.sent, sent: sock.Stamp{User: at}, open: true}
	h.send()
	return number
}

// unsent records that this host could not send the packet of a TTL. It counts as lost.
func (p *livePlan) unsent(ttl int, at time.Time) {
	p.step(ttl, at)
	h := &p.hops[ttl-1]
	h.send()
	h.lose(h.sent - 1)
}

// step moves on to a packet, which the first of a round begins.
func (p *livePlan) step(ttl int, at time.Time) {
	if ttl == 1 {
		p.round, p.shown = p.round+1, p.shown+1
		if due := p.began.Add(p.every); p.round > 1 && at.Sub(due) < p.every {
			p.began = due // rounds keep their time, unless this host slept
		} else {
			p.began = at
		}
		p.spacing = p.gap
		if p.round > 1 {
			p.spacing = p.every / time.Duration(p.limit())
		}
	}
	p.cursor = ttl
}

// stamped records the kernel's send stamp of a packet.
func (p *livePlan) stamped(number int, kernel time.Time) {
	if number >= max(0, p.number-len(p.probes)) && number < p.number {
		p.probes[number%len(p.probes)].sent.Kernel = kernel
	}
}

// hear takes an answer into account, and says whether it counts: as the first to a packet, in time.
func (p *livePlan) hear(a traceAnswer) bool {
	if a.nameless {
		p.distinct = true
		return false
	}
	if a.id < 0 {
		a.id = p.unanswered()
	}
	if a.id < 0 || a.id >= len(p.probes) || !p.probes[a.id].open {
		return false
	}
	probe := &p.probes[a.id]
	rtt, _ := sock.Elapsed(probe.sent, a.at)
	if rtt < 0 || rtt > p.timeout {
		return false
	}
	probe.open = false
	p.follow(probe.ttl, &a)
	if probe.epoch == p.epoch {
		p.hops[probe.ttl-1].answer(probe.place, rtt.Seconds(), &a, p.dscp)
	}
	return true
}

// follow learns of an answer how long the route is.
func (p *livePlan) follow(ttl int, a *traceAnswer) {
	switch {
	case !a.expired && (p.end == 0 || ttl <= p.end):
		p.end, p.far, p.reached = ttl, ttl, a.reached
	case a.expired && p.end > 0 && ttl >= p.end:
		p.end, p.far, p.reached = 0, ttl, false // it has become longer
	case a.expired && p.end == 0:
		p.far = max(p.far, ttl)
	}
}

// unanswered is the oldest packet that the target may have answered; -1: there is none.
func (p *livePlan) unanswered() int {
	for n := p.oldest; n < p.number; n++ {
		if probe := &p.probes[n%len(p.probes)]; probe.open && probe.ttl >= p.limit() {
			return n % len(p.probes)
		}
	}
	return -1
}

// expire gives up what was not answered in time.
func (p *livePlan) expire(now time.Time) {
	for ; p.oldest < p.number; p.oldest++ {
		probe := &p.probes[p.oldest%len(p.probes)]
		if !probe.open {
			continue
		}
		if now.Before(probe.sent.User.Add(p.timeout)) {
			return
		}
		probe.open = false
		if probe.epoch == p.epoch {
			p.hops[probe.ttl-1].lose(probe.place)
		}
	}
}

// waiting says whether an answer may still come.
func (p *livePlan) waiting() bool {
	for n := p.oldest; n < p.number; n++ {
		if p.probes[n%len(p.probes)].open {
			return true
		}
	}
	return false
}

// until is when the oldest packet that is waited for is given up; the zero value: none is.
func (p *livePlan) until() time.Time {
	for n := p.oldest; n < p.number; n++ {
		if probe := &p.probes[n%len(p.probes)]; probe.open {
			return probe.sent.User.Add(p.timeout)
		}
	}
	return time.Time{}
}

// reset clears the figures. What is on its way counts for nothing then.
func (p *livePlan) reset() {
	p.epoch++
	p.shown = 0
	clear(p.hops)
}

// pause stops sending, or goes on with a new round.
func (p *livePlan) pause(on bool, now time.Time) {
	if p.paused && !on {
		p.began, p.cursor = now.Add(-p.every), max(p.cursor, p.limit())
	}
	p.paused = on
}

// length is the TTL of the last hop worth showing.
func (p *livePlan) length() int {
	if p.end > 0 {
		return p.end
	}
	return p.far
}

// missing is a round trip that there is not: of a packet that was lost. What may still be answered is pending.
var missing, pending = math.NaN(), math.Inf(-1)
