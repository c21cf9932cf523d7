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
	return narrowingText(fmt.Sprintf("packets of more than %d bytes", n.Bytes), n, fmt.Sprintf("before hop %d", n.Before))
}

// narrowingText says what becomes of packets that are too large. silent says where they may vanish as well, where hops behind the last that is known to get them do not answer.
func narrowingText(packets string, n measure.Narrowing, silent string) string {
	const nobody = ", and nobody says why: a black hole"
	switch {
	case n.Refused:
		return fmt.Sprintf("%s are refused by hop %d (%s)", packets, n.TTL, n.Address)
	case n.TTL == 0 && n.Before > 1:
		return packets + " vanish at an unknown hop" + nobody
	case n.TTL == 0:
		return packets + " vanish on the link that this host is on" + nobody
	case n.Before > n.TTL+1:
		return fmt.Sprintf("%s vanish behind hop %d (%s) or beyond, %s%s", packets, n.TTL, n.Address, silent, nobody)
	}
	return fmt.Sprintf("%s vanish behind hop %d (%s)%s", packets, n.TTL, n.Address, nobody)
}
