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
	what := fmt.Sprintf("packets of more than %d bytes ", n.Bytes)
	const silently = ", and nobody says why: a black hole"
	switch {
	case n.Refused:
		return fmt.Sprintf("%sare refused by hop %d (%s)", what, n.TTL, n.Address)
	case n.TTL == 0 && n.Before > 1:
		return what + "vanish at an unknown hop" + silently
	case n.TTL == 0:
		return what + "vanish on the link that this host is on" + silently
	case n.Before > n.TTL+1:
		return fmt.Sprintf("%svanish behind hop %d (%s) or beyond, before hop %d%s", what, n.TTL, n.Address, n.Before, silently)
	}
	return fmt.Sprintf("%svanish behind hop %d (%s)%s", what, n.TTL, n.Address, silently)
}
