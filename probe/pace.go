package probe

import "time"

// pace keeps the moments at which packets are to leave, counted from a start. They follow from each other by the gaps alone, so that what a timer
// is late does not add up. After a stall, in which more than one packet should have left, the one that is due leaves late, and the others follow
// by their gaps from then on: what was missed is not sent in one burst, which would queue on the path and measure itself.
type pace struct {
	gap      func() time.Duration
	interval time.Duration // the mean of the gaps
	due      time.Duration // when the next packet is to leave
}

// leave notes that the packet that is due leaves now, and returns how late that is.
func (p *pace) leave(now time.Duration) (late time.Duration) {
	late = max(0, now-p.due)
	if late > p.interval {
		p.due = now
	}
	p.due += p.gap()
	return late
}
