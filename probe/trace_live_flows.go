package probe

import (
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/analysis/hoploss"
	"github.com/pathwise-net/pathwise/measure"
)

// liveFlows are the rounds of one flow, or of several that cover all equal-cost paths. Each has a plan of its own, which begins a part of a round after the one before. A
// router that all of them pass is asked ten times a second at most (LiveFastest): rounds of many flows take longer. It is pure.
//
//	flow 0   1 2 3 4 5 6 7 8 . . . 1 2 3 4 5
//	flow 1         1 2 3 4 5 6 7 8 . . . 1 2 3 4 5
//
// A packet is told by the number of its plan and its number there: plan 0 has the first onWay of liveNumbers, plan 1 those that follow.
type liveFlows struct {
	plans []*livePlan
	flows []int // their numbers in the search, of which traceFlow.flowMark makes headers
	onWay int
	left  []leftFlow // by the number that the kernel stamps a packet under, modulo liveStamps
	count int        // packets that left

	share    func(ttl int, address netip.Addr) float64 // of flows that pass an address, by the search; nil: there was none
	tossed   map[int]bool                              // TTLs at which packets of one flow pass several, by the search
	nameless bool                                      // an answer did not say to which packet
}

// leftFlow is a packet that left.
type leftFlow struct{ plan, number int }

const (
	// liveMostFlows is how many flows a trace that goes on has at most: with four times as many ways as routers have as a rule a round takes 6.4 s.
	liveMostFlows = 64
	// liveStamps is of how many packets the kernel's stamps may be yet to come: of more than leave in a second.
	liveStamps = 1 << 12
)

func newLiveFlows(t Trace, every time.Duration, rounds int, flows []int, now time.Time) *liveFlows {
	n := len(flows)
	every = max(every, time.Duration(n)*LiveFastest)
	l := &liveFlows{flows: flows, onWay: liveNumbers / n, left: make([]leftFlow, liveStamps)}
	for i := range flows {
		p := newLivePlan(t, every, rounds, l.onWay)
		if i > 0 {
			p.first = now.Add(time.Duration(i) * every / time.Duration(n))
		}
		l.plans = append(l.plans, p)
	}
	return l
}

// due is the plan of the next packet, its TTL and when it may leave; more is false where none will, unless something comes back.
func (l *liveFlows) due(now time.Time) (plan, ttl int, at time.Time, more bool) {
	for i, p := range l.plans {
		if its, when, any := p.due(now); any && (!more || when.Before(at)) {
			plan, ttl, at, more = i, its, when, true
		}
	}
	return plan, ttl, at, more
}

// number is what the next packet of one plan is called among the packets of all plans.
func (l *liveFlows) number(plan int) int {
	p := l.plans[plan]
	return plan*l.onWay + p.number%l.onWay
}

// sent records that the packet of a plan has left.
func (l *liveFlows) sent(plan, ttl int, at time.Time) {
	number := l.plans[plan].sent(ttl, at)
	l.left[l.count%len(l.left)] = leftFlow{plan, number}
	l.count++
}

// stamped records the kernel's send stamp of a packet, by how many left before it.
func (l *liveFlows) stamped(count int, kernel time.Time) {
	if count >= max(0, l.count-len(l.left)) && count < l.count {
		of := l.left[count%len(l.left)]
		l.plans[of.plan].stamped(of.number, kernel)
	}
}

// hear takes an answer into account, and says whether it counts.
func (l *liveFlows) hear(a traceAnswer) bool {
	switch {
	case a.nameless && len(l.plans) > 1:
		l.nameless = true
		return false
	case a.nameless:
		return l.plans[0].hear(a)
	case a.id < 0: // of the target, and nothing says to which packet
		for _, p := range l.plans {
			if p.unanswered() >= 0 {
				return p.hear(a)
			}
		}
		return false
	}
	plan := a.id / l.onWay
	if plan >= len(l.plans) {
		return false
	}
	a.id %= l.onWay
	return l.plans[plan].hear(a)
}

func (l *liveFlows) expire(now time.Time) { l.each(func(p *livePlan) { p.expire(now) }) }

func (l *liveFlows) pause(on bool, now time.Time) { l.each(func(p *livePlan) { p.pause(on, now) }) }

func (l *liveFlows) reset() { l.each((*livePlan).reset) }

func (l *liveFlows) each(do func(*livePlan)) {
	for _, p := range l.plans {
		do(p)
	}
}

// until is when the oldest packet that is waited for is given up; the zero value: none is.
func (l *liveFlows) until() (until time.Time) {
	for _, p := range l.plans {
		if at := p.until(); !at.IsZero() && (until.IsZero() || at.Before(until)) {
			until = at
		}
	}
	return until
}

// length is the TTL of the last hop worth showing.
func (l *liveFlows) length() (ttl int) {
	for _, p := range l.plans {
		ttl = max(ttl, p.length())
	}
	return ttl
}

// reached is how many flows the target answers.
func (l *liveFlows) reached() (n int) {
	for _, p := range l.plans {
		if p.end > 0 && p.reached {
			n++
		}
	}
	return n
}

// at are the hops of all flows whose ways have a TTL.
func (l *liveFlows) at(ttl int) (hops []*liveHop) {
	for _, p := range l.plans {
		if ttl <= p.length() {
			hops = append(hops, &p.hops[ttl-1])
		}
	}
	return hops
}

// ends are the hops of all flows at which the target answers, and the TTL of the nearest.
func (l *liveFlows) ends() (hops []*liveHop, nearest int) {
	for _, p := range l.plans {
		if p.end > 0 && p.reached {
			hops = append(hops, &p.hops[p.end-1])
			if nearest == 0 || p.end < nearest {
				nearest = p.end
			}
		}
	}
	return hops, nearest
}

// state is what came of the packets so far.
func (l *liveFlows) state() LiveState {
	s := LiveState{Rounds: measure.RoundsSample{Rounds: l.plans[0].shown, Hops: []measure.HopRounds{}}, Paused: l.plans[0].paused}
	for ttl := 1; ttl <= l.length(); ttl++ {
		hops := l.at(ttl)
		all := together(hops)
		r := all.rounds(ttl)
		if l.share != nil && !l.tossed[ttl] {
			r.Routers = routers(ttl, hops, func(a netip.Addr) float64 { return l.share(ttl, a) })
		}
		s.Hops, s.Rounds.Hops = append(s.Hops, all.hop(ttl)), append(s.Rounds.Hops, r)
	}
	var ways [][]hoploss.Count
	var reached []bool
	for _, p := range l.plans {
		counts, way := []hoploss.Count{}, measure.WayRounds{Routers: []string{}}
		for ttl := 1; ttl <= p.length(); ttl++ {
			h := &p.hops[ttl-1]
			counts = append(counts, hoploss.Count{TTL: ttl, Sent: h.lost + h.trips.Count(), Lost: h.lost})
			way.Routers = append(way.Routers, h.latest())
		}
		ways, reached = append(ways, counts), append(reached, p.reached)
		s.Rounds.Ways = append(s.Rounds.Ways, way)
	}
	target := l.reached() == len(l.plans)
	if len(ways) == 1 {
		s.Rounds.Ways = nil
		s.Rounds.Loss = hoploss.Locate(ways[0], reached[0])
		s.Rounds.Loss.Verdict = lossSentence(s.Rounds.Loss, l.length(), target)
		return s
	}
	whole, each, apart := hoploss.LocateWays(ways, reached)
	for i := range each {
		s.Rounds.Ways[i].Loss = each[i]
		s.Rounds.Ways[i].Loss.Verdict = lossSentence(each[i], len(ways[i]), reached[i])
	}
	s.Rounds.Loss = whole
	s.Rounds.Loss.Verdict = lossSentence(whole, l.length(), target)
	if apart {
		s.Rounds.Loss.Verdict = waysSentence(&s.Rounds)
	}
	return s
}
