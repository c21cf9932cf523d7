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
// while an emulator on a small machine leaves its hosts time to run.
type spinBudget struct {
	last, credit int64
}

const (
	spinEarly    = 50_000    // ns; covers the wake-up of an idle virtual processor
	spinShare    = 50        // percent of a core: what 10,000 packets/s, 100 µs apart, need
	spinCapacity = 2_000_000 // ns; a burst of 40 packets, then as the share allows
)

// allowance returns how many nanoseconds before the due time to wake.
func (s *spinBudget) allowance(now int64) int64 {
	s.credit = min(spinCapacity, s.credit+(now-s.last)*spinShare/100)
	s.last = now
	if s.credit < spinEarly {
		return 0
	}
	return spinEarly
}

func (s *spinBudget) spent(ns int64) { s.credit -= ns }
