package hops

import (
	"math"
	"net/netip"
)

// What makes a rate certain.
const (
	mostOff   = 0.11 // of a rate, either way: less than the 15 % that is promised, since an interval is no bound
	fewShare  = 0.5  // of the packets to a hop, below which what it answers is limited
	fewTrips  = 20   // to each end, from which on a hop has told enough whether it limits
	mostBent  = 0.25 // of the time that a link takes for the span of sizes
	clockPart = 2    // times what stamps may be off is what the interval of a link that is too fast consists of
)

// Links are the links of a route as far as they are known, in order.
func (s *Study) Links() []Link {
	var all []Link
	before, gone := line{}, 0 // silent hops since the one before
	known, ways := true, 1
	for ttl := 1; ttl <= s.length(); ttl++ {
		h := &s.hops[ttl-1]
		link := Link{TTL: ttl, From: h.from, Delay: -1, Queue: -1, Sent: h.sent, Answered: h.answered}
		l, ok := h.fit(s.sizes(ttl))
		switch {
		case h.answered == 0:
			link.Rate.Doubt = Silent
			gone++
			all = append(all, link)
			continue
		case !ok && h.limits():
			link.Rate.Doubt = Limited
		case !ok || !known:
			link.Rate.Doubt = Noisy
		default:
			link.Rate = difference(before, l, s.sizes(ttl).span())
			link.Queue = math.Max(0, l.queue-before.queue)
			if link.Rate.Known() && gone == 0 {
				link.Delay = math.Max(0, s.propagation(l)-s.propagation(before))
			}
			link.Rate.Doubt = h.doubt(link.Rate, l, before, s.sizes(ttl).span(), gone, max(ways, len(h.from)))
		}
		if s.late && link.Rate.Doubt == Noisy {
			link.Rate.Doubt = Late
		}
		before, known, gone, ways = l, ok, 0, len(h.from)
		all = append(all, link)
	}
	return all
}

// difference is the rate of the links between two hops.
func difference(before, l line, span float64) (e Estimate) {
	slope, off := l.slope-before.slope, hypot(l.off, before.off)
	if slope <= 0 {
		if slope+off > 0 {
			e.Low = 8 / (slope + off)
		}
		return e
	}
	e.BitsPerSecond, e.Low = 8/slope, 8/(slope+off)
	if slope > off {
		e.High = 8 / (slope - off)
	}
	return e
}

// doubt is why the rate of the link to a hop is not certain.
func (h *hop) doubt(e Estimate, l, before line, span float64, gone, ways int) Doubt {
	slope, off := l.slope-before.slope, hypot(l.off, before.off)
	switch {
	case gone > 0:
		return Together
	case slope+off <= 0:
		return Negative
	case ways > 1:
		return Several
	case slope*span*mostOff < clockPart*stamps:
		return Fast
	case off > mostOff*slope && h.limits():
		return Limited
	case off > mostOff*slope:
		return Noisy
	case math.Abs(l.bend-before.bend) > (mostBent*slope+2*off)*span:
		return Bent
	}
	return ""
}

// limits reports whether a hop answers so few packets that a limit is likely.
func (h *hop) limits() bool {
	return h.sent >= fewTrips && float64(h.answered) < fewShare*float64(h.sent)
}

// propagation is what the way to a hop takes beside the time that links need for each byte, in s, if the way back is like the way there: half of what a packet of
// no size and an answer of none would take.
func (s *Study) propagation(l line) float64 {
	if l.trips == 0 {
		return 0
	}
	ip := ipHeader4
	if s.IPv6 {
		ip = ipHeader6
	}
	answer := ip + icmpHeader + l.quoted
	if l.quoted == 0 {
		answer = ip + tcpHeader
	}
	return (l.start - l.slope*float64(answer)) / 2
}

// Narrowest is the place in links of the one that is surely the slowest; ok is false where another may be slower.
func Narrowest(links []Link) (at int, ok bool) {
	at = -1
	for i, l := range links {
		if l.Rate.Certain() && (at < 0 || l.Rate.BitsPerSecond < links[at].Rate.BitsPerSecond) {
			at = i
		}
	}
	if at < 0 {
		return 0, false
	}
	for i, l := range links {
		if !l.Rate.Certain() && i != at && l.Rate.Low < links[at].Rate.BitsPerSecond && l.Rate.Doubt != Silent {
			return 0, false
		}
	}
	return at, true
}

// Several hops may share an address; a link's own is the first that answered.
func (l Link) Address() (netip.Addr, bool) {
	if len(l.From) == 0 {
		return netip.Addr{}, false
	}
	return l.From[0], true
}

func hypot(a, b float64) float64 { return math.Hypot(a, b) }
