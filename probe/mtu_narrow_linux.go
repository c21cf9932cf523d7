package probe

import (
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// reached is who answers packets that come through to the target, by the TTLs from 1 on: up to the target, or to the last that answers.
func (r *mtuRun) reached(passes int) ([]mtuHop, error) {
	var ttls []mtuHop
	for end := false; !end && len(ttls) < mtuHops; {
		begin := len(ttls)
		ttls = append(ttls, make([]mtuHop, mtuWave)...)
		if err := r.ask(passes, ttls, begin, nil); err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(ttls, func(h mtuHop) bool { return h.target }); at >= 0 {
			ttls, end = ttls[:at+1], true
		}
		end = end || !slices.ContainsFunc(ttls[begin:], func(h mtuHop) bool { return h.small.IsValid() })
	}
	for len(ttls) > 0 && ttls[len(ttls)-1] == (mtuHop{}) {
		ttls = ttls[:len(ttls)-1]
	}
	return ttls, nil
}

// step searches for the largest packet that comes to the end, which is a TTL, and returns the hops that one byte more passes, as mtuNarrowing has them; nil where
// this host sends no more. again says that one byte more did come there, with which the search goes on.
func (r *mtuRun) step(s *mtuSearch, end int, from netip.Addr, result *measure.Result) (hops []measure.Hop, again bool, err error) {
	if err = r.search(s, end); err != nil {
		return nil, false, err
	}
	if end == mtuTTL {
		result.Metrics[measure.PathMTU] = float64(s.passes)
	}
	if s.passes >= s.most || r.own(s.fails()) {
		return nil, false, nil
	}
	if r.ttls == nil {
		if r.ttls, err = r.reached(s.passes); err != nil {
			return nil, false, err
		}
	}
	if hops, again, err = r.narrowing(s.fails(), end, from); again {
		s.tried(s.fails(), nil)
	}
	return hops, again, err
}

// own says that no packet of a size was sent, since this host sends none so large.
func (r *mtuRun) own(size int) bool {
	return !slices.ContainsFunc(r.sent, func(p mtuSent) bool { return p.size == size })
}

// narrowing returns the hops that a packet passes which is too large to come to the end, which is a TTL, as mtuNarrowing has them. again says that such a packet did
// come there.
func (r *mtuRun) narrowing(fails, end int, from netip.Addr) (hops []measure.Hop, again bool, err error) {
	ttls := r.ttls
	for i := range ttls { // what became of smaller ones that were too large
		ttls[i].large, ttls[i].refused = netip.Addr{}, netip.Addr{}
	}
	err = r.ask(fails, ttls, 0, func(h mtuHop) bool { return h.small.IsValid() || h.target })
	for _, p := range r.sent {
		if p.size == fails && p.heard != nil && (p.heard.passed || p.ttl == end && p.arrived()) {
			return nil, true, err
		}
		if p.size == fails && p.refused() && p.ttl == end && p.heard.ours && len(ttls) > 0 {
			ttls[len(ttls)-1].refused = p.heard.from
		}
	}
	return mtuNarrowing(from, ttls), false, err
}

// ask sends packets of a size that live for more and more hops, from first+1 on, again and again to those of which nothing is heard; which says to which, and nil to all.
func (r *mtuRun) ask(size int, ttls []mtuHop, first int, which func(mtuHop) bool) error {
	begin, open := len(r.sent), map[int]bool{}
	for at := first; at < len(ttls); at++ {
		if which == nil || which(ttls[at]) {
			open[at+1] = true
		}
	}
	over := func() bool {
		for _, p := range r.sent[begin:] {
			if p.heard != nil {
				delete(open, p.ttl)
			}
		}
		return len(open) == 0
	}
	for range mtuTries {
		for ttl := first + 1; ttl <= len(ttls); ttl++ {
			if err := r.listen(r.last.Add(mtuGap), over); err != nil {
				return err
			}
			if over(); !open[ttl] {
				continue
			}
			if err := r.send(size, ttl); err != nil {
				return err
			}
		}
	}
	err := r.listen(r.last.Add(r.wait), over)
	for _, p := range r.sent[begin:] {
		h := &ttls[p.ttl-1]
		switch {
		case p.heard == nil:
		case p.refused() && p.heard.ours:
			h.refused = p.heard.from
		case p.heard.passed:
			h.target = true
		case p.heard.reason == sock.TimeExceeded && which == nil:
			h.small = p.heard.from
		case p.heard.reason == sock.TimeExceeded:
			h.large = p.heard.from
		}
	}
	return err
}
