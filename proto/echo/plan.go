package echo

import "time"

// plan says when each request leaves. All requests of a family are numbered in the order in which they leave; the targets have places in
// an order that stays, and each round asks each of them once:
//
//	number = sequence · targets + place
//
// The requests of a round are spread evenly over the interval, so that there are no bursts.
type plan struct {
	targets  int
	interval time.Duration
	count    int           // rounds; 0: no end
	slipped  time.Duration // how much later than planned everything leaves by now
}

func (p plan) number(sequence, place uint32) uint64 {
	return uint64(sequence)*uint64(p.targets) + uint64(place)
}

func (p plan) parts(number uint64) (sequence, place uint32) {
	return uint32(number / uint64(p.targets)), uint32(number % uint64(p.targets))
}

// ended reports whether there is no request of that number.
func (p plan) ended(number uint64) bool {
	return p.count > 0 && number >= uint64(p.count)*uint64(p.targets)
}

// due is when a request leaves, after the run began.
func (p plan) due(number uint64) time.Duration {
	sequence, place := p.parts(number)
	return p.slipped + time.Duration(sequence)*p.interval + time.Duration(place)*p.interval/time.Duration(p.targets)
}

// mostLate is how late requests may leave together. A process that was stopped for longer goes on from there instead of sending what was
// missed in one burst.
const mostLate = 10 * time.Millisecond

// slip moves the plan if the next request is too late.
func (p *plan) slip(next uint64, now time.Duration) {
	if late := now - p.due(next); late > mostLate {
		p.slipped += late
	}
}
