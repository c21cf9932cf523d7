package iperf3

import "time"

const (
	// paceTick is how long a paced sender of datagrams lets them gather, so that at high rates one wake-up and one call are for several. No
	// datagram is later than that by the pacing itself.
	paceTick = 50 * time.Microsecond
	// paceBehind is what a sender makes up for that woke late: what was due in that time. What was due before is let go, so that no burst is
	// longer than this at the rate asked for. Above paceFast bit/s, rates of a machine's own interfaces and not of long paths, it is
	// paceBehindFast: a busy machine keeps programs off their processor for a millisecond and more, which would leave a tenth of such a rate unsent.
	paceBehind     = 500 * time.Microsecond
	paceBehindFast = 2 * time.Millisecond
	paceFast       = 2_000_000_000
)

// pace says when the datagrams of a stream leave:
//
//	due      |  .  .  .  .  .  .  .  .  .  .        one each gap, or so many together each so many gaps
//	wake-up  |       ^        ^        ^            as many as are due
type pace struct {
	gap      float64 // ns from one datagram to the next
	together int     // datagrams that a wake-up is for, at the least
	behind   float64 // ns of due datagrams that are made up for, at the most
	due      float64 // ns since the start of the data: of the next datagram
}

// newPace paces datagrams of so many bytes at a rate in bit/s, from a time on; burst, above 1, leave together.
func newPace(bytes int, rate int64, burst int, from time.Duration) pace {
	p := pace{gap: float64(bytes) * 8e9 / float64(max(1, rate)), together: burst, behind: float64(paceBehind), due: float64(from)}
	if rate > paceFast {
		p.behind = float64(paceBehindFast)
	}
	if p.together <= 1 {
		p.together = 1 + int(float64(paceTick)/p.gap)
	}
	p.behind = max(p.behind, p.gap, float64(p.together-1)*p.gap)
	return p
}

// next is how many datagrams to send at the time now, at most a number, or, where that is 0, how long to sleep before asking again.
func (p *pace) next(now time.Duration, most int) (n int, wait time.Duration) {
	full := p.due + float64(p.together-1)*p.gap // when as many as leave together are due
	if float64(now) < full {
		return 0, time.Duration(full-float64(now)) + 1 // the rest of a nanosecond
	}
	p.due = max(p.due, float64(now)-p.behind)
	n = min(1+int((float64(now)-p.due)/p.gap), most)
	p.due += float64(n) * p.gap
	return n, 0
}
