package twin

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// addHops makes the routers and links. No hop lies farther than one behind it, or than the target: a router that
// answers late is held to what came back from beyond it. What lies between hops that answered is divided evenly among
// those that did not.
func (t *Twin) addHops(e *evidence, trip roundTrip) {
	hops := e.route()
	distance := make([]float64, len(hops)+1) // round trips; NaN: not known
	distance[len(hops)] = trip.seconds
	nearest := trip.seconds
	for i := len(hops) - 1; i >= 0; i-- {
		v, ok := hops[i].Least()
		if !ok {
			distance[i] = math.NaN()
			continue
		}
		nearest = min(nearest, v)
		distance[i] = nearest
	}
	fillGaps(distance)
	before := 0.0
	for i, d := range distance {
		t.Links = append(t.Links, Link{Notes: []string{t.delayNote(i, len(distance), hops, d-before, trip)}})
		delay := half(d - before)
		t.Links[i].Shape.Delay = &delay
		before = d
	}
	for i, h := range hops {
		t.Routers = append(t.Routers, router(i, h))
	}
}

func (t *Twin) delayNote(i, n int, hops []measure.Hop, share float64, trip roundTrip) string {
	switch {
	case n == 1:
		return fmt.Sprintf("delay: half of the least round trip each way (%s); there is no one-way figure", trip.from)
	case i == n-1:
		return fmt.Sprintf("delay: half of what is left of the least round trip (%s)", trip.from)
	case len(hops[i].Addresses) == 0:
		return "delay: assumed, an even part of what lies between the hops that answered"
	}
	return fmt.Sprintf("delay: half of %s, by which the least answer of hop %d is later than the one before",
		quantity.FormatSeconds(share), hops[i].TTL)
}

// route returns the routers of the longest trace that there is, without the target.
func (e *evidence) route() []measure.Hop {
	var hops []measure.Hop
	for _, r := range e.traces {
		h := r.Samples.Hops
		if reaches(r) {
			h = h[:len(h)-1]
		}
		if len(h) > len(hops) {
			hops = h
		}
	}
	return hops
}

// fillGaps puts straight lines where the distance is not known. The last one is.
func fillGaps(distance []float64) {
	before, last := 0.0, -1
	for i, d := range distance {
		if math.IsNaN(d) {
			continue
		}
		for k := last + 1; k < i; k++ {
			distance[k] = before + (d-before)*float64(k-last)/float64(i-last)
		}
		before, last = d, i
	}
}

func router(i int, h measure.Hop) Router {
	r := Router{Name: fmt.Sprintf("hop%d", i+1)}
	switch len(h.Addresses) {
	case 0:
		r.Silent, r.Note = true, "answered no probe"
	case 1:
		r.Note = h.Addresses[0]
	default:
		r.Note = fmt.Sprintf("%s, and %d more: parallel ways, of which the twin has one", h.Addresses[0], len(h.Addresses)-1)
	}
	if len(h.Addresses) > 0 && !isAddress(h.Addresses[0]) {
		r.Note = "an address that cannot be read"
	}
	return r
}

func isAddress(text string) bool { _, err := netip.ParseAddr(text); return err == nil }

// longest returns the link with most delay, the last of several: the nearer to the target, the less it disturbs the
// hops.
func (t *Twin) longest() int {
	best := 0
	for i, l := range t.Links {
		if *l.Shape.Delay >= *t.Links[best].Shape.Delay {
			best = i
		}
	}
	return best
}

// takeSerialization takes off the narrow link's delay what its rate adds to the packets that the round trip was
// measured with, so that the twin's round trip is the path's.
func (t *Twin) takeSerialization(narrow int, trip roundTrip, b bottleneck) {
	bits := float64(link.Overhead{Link: link.Ethernet}.Frame(trip.bytes) * 8)
	total := 0.0
	for _, rate := range []float64{b.forward.rate, b.reverse.rate} {
		if rate > 0 {
			total += bits / rate
		}
	}
	if total < time.Microsecond.Seconds() {
		return
	}
	l := &t.Links[narrow]
	delay := max(0, *l.Shape.Delay-half(total))
	l.Shape.Delay = &delay
	note := fmt.Sprintf("  less %s that the rates take for %d bytes there and back", quantity.FormatSeconds(total),
		trip.bytes)
	l.Notes = slices.Insert(l.Notes, 1, note)
}

// half of a round trip, to the microsecond: hosts are no more exact.
func half(seconds float64) notation.Delay {
	return notation.Delay(time.Duration(math.Round(seconds/2*1e6)) * time.Microsecond)
}
