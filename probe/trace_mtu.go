package probe

import (
	"fmt"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// checkMTU says what does not go with MTU.
func (t Trace) checkMTU() error {
	switch {
	case t.MTU && t.Multipath:
		return &input.Error{Field: "mtu", Value: "true", Remedy: "leave away multipath, whose ways may have an MTU each"}
	case t.MTU && t.Both:
		return &input.Error{Field: "mtu", Value: "true", Remedy: "leave away both; mtu HOST --proto stamp measures the way back"}
	}
	return nil
}

// narrowingOf is what the hops say that mtuNarrowing returns, of packets of more than some bytes.
func narrowingOf(hops []measure.Hop, bytes int) measure.Narrowing {
	n := measure.Narrowing{Before: 1, Bytes: bytes}
	for _, h := range hops {
		if n.Before = h.TTL + 1; len(h.Addresses) > 0 {
			n.TTL, n.Address = h.TTL, h.Addresses[0]
		}
		n.Refused = h.Reply == mtuRefused
	}
	return n
}

// narrowingLine says where packets become too large.
func narrowingLine(n measure.Narrowing) string {
	return narrowingText(largerThan(n.Bytes), n, "", fmt.Sprintf("before hop %d", n.Before))
}

func largerThan(bytes int) string { return fmt.Sprintf("packets of more than %d bytes", bytes) }

// byNobody is said of packets that vanish where nobody refuses them.
const byNobody = ", and nobody says why: a black hole"

// backNarrowsLine says where the packets of a Result become too large on the way back: of which size they are, unless the line before has said it, as that of an MTU; "": nowhere.
func backNarrowsLine(r *measure.Result) string {
	n := r.Samples.BackNarrows
	switch {
	case n == nil:
		return ""
	case r.Kind == "mtu":
		return narrowingBackLine("larger packets", *n)
	}
	return narrowingBackLine(largerThan(n.Bytes), *n)
}

// narrowingBackLine says where packets become too large on the way back, whose hops count from the far end.
func narrowingBackLine(packets string, n measure.Narrowing) string {
	const way = "on the way back "
	switch {
	case n.TTL == 0 && n.Refused:
		return "the far end itself sends no " + packets + " back"
	case n.TTL == 0 && n.Before == 1:
		return way + packets + " vanish on the link that the far end is on" + byNobody
	}
	return way + narrowingText(packets, n, " from there", "where hops answer nothing")
}

// narrowingText says what becomes of packets that are too large. from says where hops count from, where that is not this host. silent says where they may
// vanish as well, where hops behind the last that is known to get them do not answer.
func narrowingText(packets string, n measure.Narrowing, from, silent string) string {
	switch {
	case n.Refused:
		return fmt.Sprintf("%s are refused by hop %d%s (%s)", packets, n.TTL, from, n.Address)
	case n.TTL == 0 && n.Before > 1:
		return packets + " vanish at an unknown hop" + byNobody
	case n.TTL == 0:
		return packets + " vanish on the link that this host is on" + byNobody
	case n.Before > n.TTL+1:
		return fmt.Sprintf("%s vanish behind hop %d%s (%s) or beyond, %s%s", packets, n.TTL, from, n.Address, silent, byNobody)
	}
	return fmt.Sprintf("%s vanish behind hop %d%s (%s)%s", packets, n.TTL, from, n.Address, byNobody)
}
