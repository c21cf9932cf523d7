package endpoint

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Policy is what a Server allows. The zero value is one test at a time, in open mode, within the default limits.
type Policy struct {
	Modes   control.Mode // 0: open, and those that take a secret where there are keys
	Keys    Keys         // of clients that show one; nil: none
	Peer    netip.Addr   // the only host that may come; the zero value: any
	Tests   int          // control connections at the same time; 0: 1
	Limits  Limits       // of clients that are of no class
	Classes []Class      // of clients, of which the first that fits counts
	// Idle is how long a client may be silent where it is its turn; 0: IdleTimeout, and GreetTimeout until it is let in.
	Idle time.Duration
}

// Limits are those of one client. A zero is the default.
type Limits struct {
	Refuse   bool          // it may do nothing
	Sessions int           // of one control connection at once; 0: 16
	Longest  time.Duration // test, to the timeout after its last packet; 0: 5 minutes
	Packets  int           // of one session; 0: 200,000
	Rate     int           // packets a second of one session, over any second; 0: 10,000
	BitRate  int64         // bit/s of one session with headers of UDP and IP, over any second; 0: 100 Mbit/s
}

// Class is a group of clients with limits of their own.
type Class struct {
	Networks []netip.Prefix // it comes from one of them; none: from anywhere
	KeyIDs   []string       // it showed one of them; none: any, or none
	Limits   Limits
}

const (
	defaultSessions = 16
	defaultLongest  = 5 * time.Minute
	defaultPackets  = 200_000
	defaultRate     = 10_000
	defaultBitRate  = 100_000_000
	// headerBytes are those of IPv6 and UDP.
	headerBytes = 48
)

// withDefaults are what a policy says of the modes that a protocol has.
func (p Policy) withDefaults(has control.Mode) Policy {
	p.Tests, p.Idle = max(1, p.Tests), cmp.Or(max(0, p.Idle), IdleTimeout)
	if p.Modes == 0 {
		p.Modes = has
		if len(p.Keys) == 0 {
			p.Modes &^= control.Authenticated | control.Encrypted | control.Mixed
		}
	}
	p.Modes &= has
	return p
}

// LimitsOf are those of a client.
func (p Policy) LimitsOf(from netip.Addr, keyID string) Limits {
	l := p.Limits
	for _, c := range p.Classes {
		here := len(c.Networks) == 0 || slices.ContainsFunc(c.Networks, func(n netip.Prefix) bool { return n.Contains(from) })
		if here && (len(c.KeyIDs) == 0 || slices.Contains(c.KeyIDs, keyID)) {
			l = c.Limits
			break
		}
	}
	l.Sessions, l.Longest = cmp.Or(l.Sessions, defaultSessions), cmp.Or(l.Longest, defaultLongest)
	l.Packets, l.Rate = cmp.Or(l.Packets, defaultPackets), cmp.Or(l.Rate, defaultRate)
	l.BitRate = cmp.Or(l.BitRate, defaultBitRate)
	return l
}

// MostPackets is how many packets of so many bytes, without headers of UDP and IP, a session may have over any second; below 1: none.
func (l Limits) MostPackets(bytes int) int {
	return int(min(int64(l.Rate), l.BitRate/(int64(bytes+headerBytes)*8)))
}
