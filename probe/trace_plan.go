package probe

import (
	"iter"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// tracePlan says which probe of a trace goes when, by what came back so far. It is pure: times come in. A probe's number is its place in
// the order of sending.
//
// The first probe, the scout, has the highest TTL and goes to the end of the route: from its answer it is known, one round trip later, about
// how far the target is. Meanwhile the others go out from TTL 1 on, a gap apart:
//
//	TTL  1 2 3 4 5 6 7 8 … 12 13 14 15 16 17 18 19 20 21            30
//	     =============== far                      |                 scout
//	                     |- ahead: one probe each |
//	     | all queries   |
//
//	far    the farthest TTL at which a router answered: all up to it get all their queries, before anything else
//	ahead  so many TTLs beyond it get one probe each. More would be wasted where the target is near, and use up how often it may answer
//	hint   how far the target is by the scout's answer. Once it is known, all TTLs up to it get all queries, and none beyond, unless a
//	       router still answers at hint
//	end    the lowest TTL whose answer was not of a TTL that ran out. Nothing goes beyond it, and nothing beyond it is waited for
//
// Where all that went out ahead stays unanswered the plan goes farther: by the same again if the target has answered the scout, else to the
// end, since nobody is there who could be bothered.
type tracePlan struct {
	maxTTL, queries int
	timeout, gap    time.Duration

	probes []traceProbe
	asked  []int // probes that count, by TTL
	ahead  int
	all    bool // all TTLs get all queries: nothing answered those ahead

	far    int
	farRTT time.Duration // the longest of an answer from far, or of the scout's
	end    int
	hint   int
	slack  int  // TTLs beyond hint
	met    bool // the target answered the scout

	distinct bool // probes have ports of their own: see nameless
}

// traceProbe is a probe that left. One that is void counts for nothing any more: what answered it could not be told from what answered
// others.
type traceProbe struct {
	ttl    int
	sent   sock.Stamp
	answer *traceAnswer
	void   bool
}

const (
	traceAhead = 8
	// traceShyAhead is for as long as the scout may be answered. Linux sends six ICMP errors to a host at once, and then one a second
	// (icmp_ratelimit): those are of the scout, of three queries, and of two probes that went past the target.
	traceShyAhead = 3
	// A silent hop is given up once it is later than these allow, but an answer within the timeout still counts.
	traceRTTs    = 3 // times the longest round trip seen
	traceMinWait = 200 * time.Millisecond
)

func newTracePlan(t Trace) *tracePlan {
	return &tracePlan{maxTTL: t.MaxTTL, queries: t.Queries, timeout: t.Timeout, gap: t.Interval, asked: make([]int, t.MaxTTL+1), ahead: traceAhead}
}

// next is the TTL of the probe to send next; ok is false where none may be sent before something more is known.
func (p *tracePlan) next(now time.Time) (ttl int, ok bool) {
	for ttl := range p.choices(now) {
		return ttl, true
	}
	return 0, false
}

// choices are the TTLs of probes that may be sent now, each once, in the order in which they are to be sent; none where nothing may be sent before
// something more is known.
func (p *tracePlan) choices(now time.Time) iter.Seq[int] {
	return func(yield func(int) bool) {
		if len(p.probes) == 0 {
			yield(p.maxTTL)
			return
		}
		for chosen := false; !chosen; chosen = chosen || !p.widen(now) {
			limit := p.limit(now)
			known := p.known(limit)
			for count := range p.queries {
				for ttl := 1; ttl <= known; ttl++ {
					if p.asked[ttl] == count {
						if chosen = true; !yield(ttl) {
							return
						}
					}
				}
			}
			for ttl := known + 1; ttl <= limit; ttl++ {
				if p.asked[ttl] == 0 {
					if chosen = true; !yield(ttl) {
						return
					}
				}
			}
		}
	}
}

// limit is the highest TTL that may get its first probe.
func (p *tracePlan) limit(now time.Time) int {
	switch {
	case p.end > 0:
		return p.end
	case p.hint > p.far:
		return min(p.maxTTL, p.hint+p.slack)
	}
	switch scout := &p.probes[0]; {
	case scout.answer != nil || scout.void:
	case now.Before(scout.sent.User.Add(p.wait())):
		return min(p.maxTTL, p.far+traceShyAhead)
	case p.far == 0: // nobody answers anything
		p.ahead, p.all = p.maxTTL, true
	}
	return min(p.maxTTL, p.far+p.ahead)
}

// known is the highest TTL of which it is known, or likely, that the route gets so far.
func (p *tracePlan) known(limit int) int {
	switch {
	case p.end > 0:
		return p.end
	case p.all:
		return limit
	}
	return max(p.far, min(p.hint, limit))
}

// widen goes farther once nothing is waited for, and says whether it did.
func (p *tracePlan) widen(now time.Time) bool {
	if count, _ := p.waiting(now); count > 0 || p.end > 0 || p.all {
		return false
	}
	switch {
	case p.limit(now) == p.maxTTL:
		p.all = true
	case p.met:
		p.ahead, p.slack = p.ahead+traceAhead, p.slack+traceAhead
	default:
		p.ahead, p.slack, p.all = p.maxTTL, p.maxTTL, true
	}
	return true
}

// wait is how long to wait for one answer before going on without it.
func (p *tracePlan) wait() time.Duration {
	if p.farRTT == 0 {
		return p.timeout
	}
	return min(p.timeout, max(traceMinWait, traceRTTs*p.farRTT))
}

// waiting counts the probes that matter and may yet be answered, and says when the first of them is given up.
func (p *tracePlan) waiting(now time.Time) (count int, first time.Time) {
	wait := p.wait()
	for i := range p.probes {
		probe := &p.probes[i]
		if probe.answer != nil || probe.void || p.end > 0 && probe.ttl > p.end {
			continue
		}
		until := probe.sent.User.Add(wait)
		if !now.Before(until) {
			continue
		}
		if count++; first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return count, first
}

// sent records that a probe of a TTL has left; its number is that of the probes before it.
func (p *tracePlan) sent(ttl int, before time.Time) {
	p.probes = append(p.probes, traceProbe{ttl: ttl, sent: sock.Stamp{User: before}})
	p.asked[ttl]++
}

// stamped records the kernel's send stamp of a probe.
func (p *tracePlan) stamped(id int, kernel time.Time) {
	if id >= 0 && id < len(p.probes) {
		p.probes[id].sent.Kernel = kernel
	}
}

// hear takes an answer into account, and says whether it counts: it is of a probe that was sent, the first to it, and in time.
func (p *tracePlan) hear(a traceAnswer) bool {
	if a.nameless {
		p.nameless()
		return false
	}
	if a.id < 0 {
		a.id = p.oldest()
	}
	if a.id < 0 || a.id >= len(p.probes) || p.probes[a.id].answer != nil || p.probes[a.id].void {
		return false
	}
	probe := &p.probes[a.id]
	rtt, _ := sock.Elapsed(probe.sent, a.at)
	if rtt > p.timeout || rtt < 0 {
		return false
	}
	probe.answer = &a
	switch scout := a.id == 0; {
	case scout && !a.expired:
		p.hint, p.met, p.farRTT = a.distance(p.maxTTL), p.met || a.reached, max(p.farRTT, rtt)
		if p.hint == p.maxTTL && a.reached { // so far it went itself
			p.end = p.maxTTL
		}
	case !a.expired:
		if p.end == 0 || probe.ttl < p.end {
			p.end = probe.ttl
		}
	case probe.ttl > p.far && !scout:
		p.far, p.farRTT = probe.ttl, max(rtt, p.farRTT)
	default:
		p.farRTT = max(p.farRTT, rtt)
	}
	return true
}

// oldest is the first probe that the target may have answered and that nothing has answered yet; -1: there is none.
func (p *tracePlan) oldest() int {
	for id, probe := range p.probes {
		if probe.answer == nil && !probe.void && probe.ttl > p.far {
			return id
		}
	}
	return -1
}

// nameless is an answer about one of our packets of which it quotes too little to say which. From then on each probe has a port of its own,
// which even the least quote has, and what is not answered by then is sent again.
func (p *tracePlan) nameless() {
	if p.distinct {
		return
	}
	p.distinct = true
	for i := range p.probes {
		if probe := &p.probes[i]; probe.answer == nil {
			probe.void = true
			p.asked[probe.ttl]--
		}
	}
}

// settled says whether the hop at a TTL will change no more.
func (p *tracePlan) settled(ttl int, now time.Time) bool {
	if p.asked[ttl] < p.queries {
		return false
	}
	for _, probe := range p.probes {
		if probe.ttl == ttl && !probe.void && probe.answer == nil && now.Before(probe.sent.User.Add(p.timeout)) {
			return false
		}
	}
	return true
}
