package probe

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// mtuTTL is what packets may live for, which are to come to the target: what Linux gives them.
const mtuTTL = 64

// mtuRefusals are how many packets of a size have to be refused, with what nobody off the path can know, to spare the wait for an answer.
const mtuRefusals = 2

// mtuRun is a measurement of one way under way. One goroutine sends and receives, so nothing in it is shared.
type mtuRun struct {
	wire          mtuWire
	seeker        narrowingSeeker // zero: what answers where `pathwise respond` does
	timeout, wait time.Duration
	sent          []mtuSent // by index
	last          time.Time // when the last one left
	answers       int
	told          []int    // sizes that routers told
	ttls          []mtuHop // who answers packets that come through to the end, by TTL from 1 on; nil: not asked yet
}

// mtuSent is a packet, and what was heard of it first, as far as it is known not to be of a stranger; nil: nothing was.
type mtuSent struct {
	size, ttl int
	at        time.Time
	heard     *mtuHeard
}

// arrived says that a packet came so far as its TTL lets it.
func (p mtuSent) arrived() bool {
	return p.heard != nil && (p.heard.passed || p.ttl < mtuTTL && p.heard.reason == sock.TimeExceeded)
}

func (p mtuSent) refused() bool { return p.heard != nil && p.heard.reason == sock.TooBig }

// contact sends small packets until one is answered, which tells how long answers take; false: none is.
func (r *mtuRun) contact(size int) (bool, error) {
	for _, wait := range contactWaits(r.timeout) {
		if err := r.send(size, mtuTTL); err != nil {
			return false, err
		}
		err := r.listen(r.last.Add(wait), func() bool { return r.answers > 0 || r.shut() })
		if err != nil || r.answers > 0 || r.shut() {
			return r.answers > 0, err
		}
	}
	return false, nil
}

// shut says that the target or a router says that nobody answers there.
func (r *mtuRun) shut() bool {
	return slices.ContainsFunc(r.sent, func(p mtuSent) bool {
		return p.heard != nil && p.heard.ours && p.heard.reason != sock.TooBig && p.heard.reason != sock.TimeExceeded
	})
}

// search tries sizes that live for so many hops until it is known which is the largest to come there.
func (r *mtuRun) search(s *mtuSearch, ttl int) error {
	for range mtuLimit {
		sizes := s.round()
		if sizes == nil {
			return nil
		}
		passed, silent, err := r.round(s, sizes, ttl)
		if err != nil {
			return err
		}
		s.tried(passed, silent)
	}
	return errMTUUnsteady
}

// errMTUUnsteady is of a path without a size from which on packets do not come through.
var errMTUUnsteady = fmt.Errorf("after %d rounds there is no size yet from which on packets do not come through: they come at one time and not at another", mtuLimit)

// round sends packets of some sizes, the largest first, again and again, but for those of which it is known already whether they come through. It is over at
// once when a router tells of a size that was not tried yet.
func (r *mtuRun) round(s *mtuSearch, sizes []int, ttl int) (passed int, silent map[int]bool, err error) {
	begin, own := len(r.sent), map[int]bool{}
	settled := func(size int) bool {
		refused := 0
		for _, p := range r.sent[begin:] {
			if p.arrived() && p.size >= size {
				return true
			}
			if p.size == size && p.refused() && p.heard.ours {
				refused++
			}
		}
		return own[size] || refused >= mtuRefusals
	}
	over := func() bool {
		return s.told != r.newlyTold(s, begin) || !slices.ContainsFunc(sizes, func(size int) bool { return !settled(size) })
	}
	for range mtuTries {
		for _, size := range sizes {
			if err = r.listen(r.last.Add(mtuGap), over); err != nil {
				return 0, nil, err
			}
			if over() {
				break
			}
			if settled(size) {
				continue
			}
			if err = r.send(size, ttl); errors.Is(err, errMTUOwn) {
				own[size] = true
			} else if err != nil {
				return 0, nil, err
			}
		}
	}
	if err = r.listen(r.last.Add(r.wait), over); err != nil {
		return 0, nil, err
	}
	for _, p := range r.sent[begin:] {
		if p.arrived() {
			passed = max(passed, p.size)
		}
	}
	told := r.newlyTold(s, begin)
	silent = map[int]bool{}
	for _, size := range sizes {
		if certain := settled(size); size > passed && (certain || told == s.told) {
			silent[size] = certain
		}
	}
	if told != s.told {
		s.told, r.told = told, append(r.told, told)
	}
	return passed, silent, nil
}

// newlyTold is the size that a router tells of since a packet, which may be the MTU and was not told before; else the one that was.
func (r *mtuRun) newlyTold(s *mtuSearch, begin int) int {
	if len(r.told) >= mtuMostTold {
		return s.told
	}
	for _, p := range r.sent[begin:] {
		if p.refused() && s.passes < p.heard.mtu && p.heard.mtu < min(p.size, s.fails()) && p.heard.mtu >= s.least && !slices.Contains(r.told, p.heard.mtu) {
			return p.heard.mtu
		}
	}
	return s.told
}

func (r *mtuRun) send(size, ttl int) error {
	before, err := r.wire.send(len(r.sent), size, ttl)
	if err != nil {
		return err
	}
	r.sent, r.last = append(r.sent, mtuSent{size: size, ttl: ttl, at: before}), before
	return nil
}

// listen hears what comes until a moment, or until enough came.
func (r *mtuRun) listen(until time.Time, enough func() bool) error {
	for !enough() {
		h, is, err := r.wire.hear(until, len(r.sent))
		if err != nil || !is {
			return err
		}
		p := &r.sent[h.index]
		if p.heard == nil || h.passed && !p.heard.passed || h.ours && !p.heard.ours {
			p.heard = &h
			if h.passed {
				r.answers++
				r.wait = min(r.timeout, max(mtuLeast, mtuTrips*time.Since(p.at)))
			}
		}
	}
	return nil
}
