package lab

import "time"

// pace tells when packets come and go so fast that each one's own wake-up would cost more than it gains.
type pace struct {
	since, handled int64
	fast           bool
}

const (
	paceWindow = int64(time.Millisecond)
	paceLimit  = 50                     // in or out in a window: 25,000 packets/s through the lab, two and a half times what probes need
	moderation = 100 * time.Microsecond // as much lateness as a probe may see, and a batch of 12 at 1.5 Gbit/s
)

// busy reports whether more than paceLimit packets were handled in the last window; handled counts them since ever.
func (p *pace) busy(now, handled int64) bool {
	if elapsed := now - p.since; elapsed >= paceWindow {
		p.fast = (handled-p.handled)*paceWindow > paceLimit*elapsed
		p.since, p.handled = now, handled
	}
	return p.fast
}
