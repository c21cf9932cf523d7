package echo

import (
	"math"
	"net/netip"
	"time"
)

// Fate is what has become of a request.
type Fate uint8

// Each request is first Sent, and later one of Answered, Lost and Refused, once. Duplicate is a further reply to one that was answered.
const (
	Sent Fate = iota
	Answered
	Lost      // no reply came within the timeout (RFC 2680 section 2.4)
	Refused   // an ICMP error came, or this host could not send it
	Duplicate // RFC 5560
)

func (f Fate) String() string {
	return [...]string{"sent", "answered", "lost", "refused", "duplicate"}[f]
}

// Event is something that became of a request.
type Event struct {
	Target   int    // its index among those of the Pinger
	Sequence uint32 // of the requests to that target, from 0
	Fate     Fate
	SentAt   time.Duration // when the request left, after the run began
	RTT      time.Duration // of Answered and Duplicate
	Kernel   bool          // RTT is by the kernel's clock, within microseconds of the wire; else it may be a millisecond too long
	TTL      int           // of the reply, or the ICMP error, on arrival; 0: not known
	From     netip.Addr    // who replied, where that is not the target; who sent the ICMP error; else the zero value
	Why      string        // of Refused, for people
	MTU      int           // of Refused because the packet was too big, in bytes; 0: not told
}

// Counts are what became of the requests to one target. Those under way are Sent less Answered, Lost and Refused.
type Counts struct {
	Sent, Answered, Lost, Refused uint64
	Duplicates                    uint64
	Late                          uint64 // replies that came after their request was given up as lost
	Least, Most, Sum              time.Duration
	squares                       float64 // of round trips, s^2
}

// add counts an event.
func (c *Counts) add(e Event) {
	switch e.Fate {
	case Sent:
		c.Sent++
	case Lost:
		c.Lost++
	case Refused:
		c.Refused++
	case Duplicate:
		c.Duplicates++
	case Answered:
		if c.Answered == 0 || e.RTT < c.Least {
			c.Least = e.RTT
		}
		c.Answered++
		c.Most = max(c.Most, e.RTT)
		c.Sum += e.RTT
		c.squares += e.RTT.Seconds() * e.RTT.Seconds()
	}
}

// Mean is the mean round trip; 0 where none was answered.
func (c Counts) Mean() time.Duration {
	if c.Answered == 0 {
		return 0
	}
	return c.Sum / time.Duration(c.Answered)
}

// Stddev is the standard deviation of the round trips, of a sample; 0 where fewer than two were answered.
func (c Counts) Stddev() time.Duration {
	if c.Answered < 2 {
		return 0
	}
	n := float64(c.Answered)
	mean := c.Sum.Seconds() / n
	return time.Duration(math.Sqrt(max(0, (c.squares-n*mean*mean)/(n-1))) * float64(time.Second))
}
