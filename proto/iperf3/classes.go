package iperf3

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Class is a group of clients with limits of their own, at some hours.
type Class struct {
	Networks []netip.Prefix // it comes from one of them; none: from anywhere
	Hours    []Hours        // the test is asked for in one of them; none: at any time

	Refuse bool // it may not test
	// Limits as in Policy; 0: the policy's own.
	MaxDuration time.Duration
	MaxStreams  int
	MaxRate     int64
}

// Hours are a part of each day, in the time zone of Server.Now. Where To is not after From, they end on the next day.
type Hours struct{ From, To time.Duration } // since midnight

// include reports whether a moment is in the hours.
func (h Hours) include(now time.Time) bool {
	at := time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute
	if h.From < h.To {
		return h.From <= at && at < h.To
	}
	return at >= h.From || at < h.To
}

// of is the policy for a client that asks at a moment; in is false where it may not test.
func (p Policy) of(from netip.Addr, now time.Time) (own Policy, in bool) {
	from = from.Unmap().WithZone("")
	for _, c := range p.Classes {
		here := len(c.Networks) == 0 || slices.ContainsFunc(c.Networks, func(n netip.Prefix) bool { return n.Contains(from) })
		if !here || len(c.Hours) > 0 && !slices.ContainsFunc(c.Hours, func(h Hours) bool { return h.include(now) }) {
			continue
		}
		p.MaxDuration = cmp.Or(c.MaxDuration, p.MaxDuration)
		p.MaxStreams = min(cmp.Or(c.MaxStreams, p.MaxStreams), maxStreams)
		p.MaxRate = cmp.Or(c.MaxRate, p.MaxRate)
		return p, !c.Refuse
	}
	return p, true
}
