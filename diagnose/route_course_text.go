package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/quantity"
)

// MoveText says what a change of route changed, and what it did to the round trip: hop 2: A is now B, as many hops, round trip 10.0 ms before, 11.0 ms
// after: 1.00 ms more (0.98 ms to 1.02 ms).
func MoveText(m *analysis.Move) string {
	before, after := m.Before, m.After
	before.Trips, after.Trips = nil, nil // said better below
	text := RouteText(&before, &after)
	if m.Step == nil {
		return text
	}
	text += fmt.Sprintf(", round trip %s before, %s after: ", quantity.FormatSeconds(m.DelayBefore.Value), quantity.FormatSeconds(m.DelayAfter.Value))
	low, high := quantity.FormatSeconds(max(m.Step.Low, -m.Step.High)), quantity.FormatSeconds(max(m.Step.High, -m.Step.Low))
	switch {
	case m.Step.Low > 0:
		return text + fmt.Sprintf("%s more (%s to %s)", quantity.FormatSeconds(m.Step.Value), low, high)
	case m.Step.High < 0:
		return text + fmt.Sprintf("%s less (%s to %s)", quantity.FormatSeconds(-m.Step.Value), low, high)
	}
	return text + "no difference to be told"
}

// TurnsText says which routes took turns, and how.
func TurnsText(t *analysis.Turns) string {
	var hops []string
	for _, ttl := range t.TTLs[:min(len(t.TTLs), mostTold)] {
		var addresses []string
		for i := range t.Routes {
			for _, a := range t.Routes[i].At(ttl).Addresses {
				if !slices.Contains(addresses, a) {
					addresses = append(addresses, a)
				}
			}
		}
		hops = append(hops, fmt.Sprintf("hop %d is %s", ttl, either(addresses)))
	}
	if n := len(t.TTLs) - mostTold; n > 0 {
		hops = append(hops, fmt.Sprintf("and %d more hops", n))
	}
	text := strings.Join(hops, ", ")
	if n := len(t.Routes); t.How == analysis.Addresses {
		return "one route, of which routers answer from several addresses: " + text
	} else if t.How == analysis.Balanced {
		return fmt.Sprintf("balanced by flow over %d routes: %s", n, text)
	} else {
		return fmt.Sprintf("flapping between %d routes, %d times so far: %s", n, t.Switches, text)
	}
}

// mostTold is how many hops, or addresses of one, a line has room for.
const mostTold = 4

// either lists addresses of which one is there at a time.
func either(addresses []string) string {
	if n := len(addresses) - mostTold; n > 0 {
		return fmt.Sprintf("%s or one of %d more", strings.Join(addresses[:mostTold], ", "), n)
	}
	if n := len(addresses); n > 1 {
		return strings.Join(addresses[:n-1], ", ") + " or " + addresses[n-1]
	}
	return strings.Join(addresses, "")
}

// VaryingText says how a hop did not always answer alike.
func VaryingText(v *analysis.Varying) string {
	switch v.How {
	case analysis.ByPacket:
		return fmt.Sprintf("hop %d: balanced by packet: %s answer packets of one flow", v.TTL, strings.Join(v.Addresses, ", "))
	case analysis.Silent:
		return fmt.Sprintf("hop %d: %s does not answer each time, but it forwards", v.TTL, either(v.Addresses))
	}
	return fmt.Sprintf("hop %d: %s, between the same routers and with the same round trip: taken for one router that answers from another of its addresses",
		v.TTL, strings.Join(v.Addresses, " is now "))
}
