package owamp

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Policy is what a Server allows. The zero value is one test at a time, in open mode, within the default limits.
type Policy struct {
	Modes   control.Mode // 0: open, and authenticated and encrypted where there are keys
	Keys    Keys         // of clients that show one; nil: none
	Peer    netip.Addr   // the only host that may come; the zero value: any
	Tests   int          // control connections at the same time; 0: 1
	Limits  Limits       // of clients that are of no class
	Classes []Class      // of clients, of which the first that fits counts
	Memory  int64        // bytes of records, of sessions under way and of those that may still be fetched; 0: 64 MiB
}

// Limits are those of one client. A zero is the default.
type Limits struct {
	Refuse   bool          // it may do nothing
	Sessions int           // of one control connection at once; 0: 16
	Longest  time.Duration // session, from its first packet to the timeout after its last; 0: 5 minutes
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
	// SecuredModes are those that take a secret.
	SecuredModes = control.Authenticated | control.Encrypted
	// Modes are those that OWAMP has; the mixed one is of TWAMP alone.
	Modes = control.Open | SecuredModes
)

const (
	defaultModes    = control.Open
	defaultSessions = 16
	defaultLongest  = 5 * time.Minute
	defaultPackets  = 200_000
	defaultRate     = 10_000
	defaultBitRate  = 100_000_000
	defaultMemory   = 64 << 20
	// headerBytes are those of IPv6 and UDP.
	headerBytes = 48
)

func (p Policy) withDefaults() Policy {
	p.Tests, p.Memory = max(1, p.Tests), cmp.Or(p.Memory, defaultMemory)
	if p.Modes == 0 {
		p.Modes = defaultModes
		if len(p.Keys) > 0 {
			p.Modes |= SecuredModes
		}
	}
	p.Modes &= Modes
	return p
}

// limitsOf are those of a client.
func (p Policy) limitsOf(from netip.Addr, keyID string) Limits {
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

// admit says whether a session is within the limits.
func (l Limits) admit(t Terms, id control.SID, m control.Mode) control.Accept {
	if t.Packets > l.Packets || t.Timeout > l.Longest {
		return control.Never
	}
	bits := int64(control.PacketBytes(m, t.Padding)+headerBytes) * 8
	most := min(int64(l.Rate), l.BitRate/bits) // packets over any second
	if most < 1 {
		return control.Never
	}
	schedule := NewSchedule(id, t.Slots)
	var last time.Duration
	backlog, drain := 0.0, float64(most)/float64(time.Second) // packets of a bucket that so many a second leave
	for range t.Packets {
		due := schedule.Next()
		backlog = max(0, backlog-float64(due-last)*drain) + 1
		last = due
		if backlog > float64(most) || due > l.Longest-t.Timeout || due < 0 {
			return control.Never
		}
	}
	return control.OK
}
