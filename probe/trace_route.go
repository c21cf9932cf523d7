package probe

import (
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// route is what a trace knows: which probe to send next, what came back, when to stop. It is pure: times come in.
//
//	probe i has TTL 1 + i / queries:    | TTL 1: 0 1 2 | TTL 2: 3 4 5 | …       waiting -> answered
//	it goes                             unsent -> waiting -> given up -> answered, if the answer comes after all
type route struct {
	queries int
	timeout time.Duration
	probes  []traceProbe
	next    int // index of the first unsent probe

	end    int         // the lowest TTL whose answer ended the route; 0: none yet
	reason sock.Reason // of that answer
	target bool        // that answer came from the target

	farTTL int // the highest TTL answered so far
	farRTT time.Duration
}

type traceProbe struct {
	sent     sock.Stamp
	answered bool
	from     netip.Addr
	rtt      time.Duration
}

func newRoute(maxTTL, queries int, timeout time.Duration) *route {
	return &route{queries: queries, timeout: timeout, probes: make([]traceProbe, maxTTL*queries)}
}

func (r *route) ttl(index int) int { return 1 + index/r.queries }

// limit is how many probes matter: those up to the end of the route, once it is known.
func (r *route) limit() int {
	if r.end > 0 {
		return r.end * r.queries
	}
	return len(r.probes)
}

// wait is how long to wait for one answer before going on without it.
func (r *route) wait() time.Duration {
	if r.farTTL == 0 {
		return r.timeout
	}
	return min(r.timeout, max(traceMinWait, traceRTTs*r.farRTT))
}

// toSend returns the index of the next probe to send, if one may be sent now.
func (r *route) toSend(now time.Time) (index int, ok bool) {
	waiting, _ := r.waiting(now, r.wait())
	return r.next, r.next < r.limit() && waiting < traceWindow
}

// waiting counts the probes that matter and have been on their way for less than wait, and says when the first of
// them will have been for that long.
func (r *route) waiting(now time.Time, wait time.Duration) (count int, first time.Time) {
	for _, p := range r.probes[:min(r.next, r.limit())] {
		until := p.sent.User.Add(wait)
		if p.answered || !now.Before(until) {
			continue
		}
		if count++; count == 1 {
			first = until
		}
	}
	return count, first
}

// done says whether there is nothing left to send or to wait for.
func (r *route) done(now time.Time) bool {
	waiting, _ := r.waiting(now, r.wait())
	return r.next >= r.limit() && waiting == 0
}

// sent records that the next probe has left.
func (r *route) sent(before time.Time) {
	r.probes[r.next].sent.User = before
	r.next++
}

// stamped records the kernel's send stamp of a probe.
func (r *route) stamped(index int, kernel time.Time) {
	if index < r.next {
		r.probes[index].sent.Kernel = kernel
	}
}

// answer records what came back for a probe. Anything but "time exceeded" ends the route at its TTL.
func (r *route) answer(index int, from netip.Addr, at sock.Stamp, reason sock.Reason, target bool) {
	if index < 0 || index >= r.next || r.probes[index].answered {
		return
	}
	p := &r.probes[index]
	rtt, _ := sock.Elapsed(p.sent, at)
	if rtt > r.timeout {
		return
	}
	p.answered, p.from, p.rtt = true, from, rtt
	ttl := r.ttl(index)
	if reason != sock.TimeExceeded && (r.end == 0 || ttl < r.end) {
		r.end, r.reason, r.target = ttl, reason, target
	}
	if ttl > r.farTTL {
		r.farTTL, r.farRTT = ttl, rtt
	} else if ttl == r.farTTL {
		r.farRTT = max(r.farRTT, rtt)
	}
}

// settled says whether the hop at a TTL will change no more.
func (r *route) settled(ttl int, now time.Time) bool {
	for _, p := range r.probes[(ttl-1)*r.queries : ttl*r.queries] {
		if p.sent.User.IsZero() || !p.answered && now.Before(p.sent.User.Add(r.timeout)) {
			return false
		}
	}
	return true
}

// hop is what is known of one TTL.
func (r *route) hop(ttl int) measure.Hop {
	h := measure.Hop{TTL: ttl, Addresses: []string{}, RTTSeconds: make([]*float64, r.queries)}
	for i, p := range r.probes[(ttl-1)*r.queries : ttl*r.queries] {
		if !p.answered {
			continue
		}
		h.RTTSeconds[i] = new(p.rtt.Seconds())
		if from := p.from.String(); !slices.Contains(h.Addresses, from) {
			h.Addresses = append(h.Addresses, from)
		}
	}
	if ttl == r.end {
		h.Reply = string(r.reason)
	}
	return h
}

// length is the TTL of the last hop worth showing: the end of the route, or else the last that answered.
func (r *route) length() int {
	if r.end > 0 {
		return r.end
	}
	return r.farTTL
}

// counts returns how many probes were sent to the hops of the route and how many of them were answered.
func (r *route) counts() (sent, answered int) {
	for _, p := range r.probes[:min(r.next, r.limit())] {
		sent++
		if p.answered {
			answered++
		}
	}
	return sent, answered
}
