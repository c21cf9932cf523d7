package lab

import "time"

// pace tells when packets come and go so fast that each one's own wake-up would cost more than it gains.
type pace struct {
	since, handled int64
	fast           bool
}

const (
	paceWindow = int64(time.Millisecond)
	paceLimit  = 50      // packets in or out in a window: 25,000 packets/s through the lab, two and a half times what probes need
	moderation = 100_000 // ns; as much lateness as a probe may see, and a batch of 12 at 1.5 Gbit/s
)

// busy reports whether more than paceLimit packets were handled in the last window; handled counts them since ever.
func (p *pace) busy(now, handled int64) bool {
	if elapsed := now - p.since; elapsed >= paceWindow {
		p.fast = (handled-p.handled)*paceWindow > paceLimit*elapsed
		p.since, p.handled = now, handled
	}
	return p.fast
}

// spinBudget lets the pump watch the clock for a share of the time only: a probe gets its packet to the microsecond,
// while an emulator on a small machine leaves its hosts time to run. It wakes as much early as sleeps end late, but for one
// in a hundred, which it learns from how they end.
type spinBudget struct {
	last, credit int64   // ns
	late         float64 // ns
}

const (
	spinMost     = 50_000    // ns; covers the wake-up of an idle virtual processor, and is what is taken for it at first
	spinLeast    = 5_000     // ns; no machine wakes faster
	spinShare    = 50        // percent of a core: what 10,000 packets/s, 100 µs apart, need at most
	spinCapacity = 2_000_000 // ns; a burst of 40 packets, then as the share allows
	spinStep     = 2_000     // ns; after a sleep that ended later than expected. A hundredth of it back after the others
)

func newSpinBudget() spinBudget { return spinBudget{late: spinMost} }

// allowance returns how many nanoseconds before the due time to wake.
func (s *spinBudget) allowance(now int64) int64 {
	s.credit = min(spinCapacity, s.credit+(now-s.last)*spinShare/100)
	s.last = now
	if early := int64(s.late); s.credit >= early {
		return early
	}
	return 0
}

func (s *spinBudget) spent(ns int64) { s.credit -= ns }

// slept learns from a sleep that ended so many nanoseconds after it should have. It follows the 99th percentile: it rises by
// a step and falls by a hundredth of one, which balance where one in a hundred is above.
func (s *spinBudget) slept(over int64) {
	if float64(over) > s.late {
		s.late += spinStep
	} else {
		s.late -= spinStep / 100
	}
	s.late = min(max(s.late, spinLeast), spinMost)
}
