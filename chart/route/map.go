package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// mapTop is where what is below the title begins.
const mapTop = 32.0

// Map draws a route as an SVG: its hops one below the other with their delays, and above them, if the place of any is known, where they are, on a grid of
// latitude and longitude. Lines are straight on the drawing, and say nothing of where cables lie; a dashed one passes hops whose place is not known.
func Map(r *measure.Result) []byte {
	w := wayOf(r)
	spots := w.spots()
	top := mapTop
	if len(spots) > 0 {
		top += mapHigh + margin
	}
	var d drawing
	d.begin(stripWide, top+w.high()+margin, w.title)
	if len(spots) > 0 {
		d.places(w, spots)
	}
	d.strip(w, top)
	return d.end()
}

// spot is a place on the map, with all nodes that are there.
type spot struct {
	at    measure.Position
	city  string
	nodes []int
}

// spots are the places of a route, in the order in which it meets them.
func (w *way) spots() (all []spot) {
	for i, n := range w.nodes {
		at, ok := n.position()
		if !ok {
			continue
		}
		same := slices.IndexFunc(all, func(s spot) bool { return s.at == at })
		if same < 0 {
			same = len(all)
			all = append(all, spot{at: at, city: n.known.Place.City})
		}
		all[same].nodes = append(all[same].nodes, i)
	}
	return all
}

// label is the hops at a place, and what it is called: "1 to 3 Geneva".
func (s spot) label(w way) string {
	var hops []int
	for _, i := range s.nodes {
		hops = append(hops, w.nodes[i].ttl)
	}
	slices.Sort(hops)
	hops = slices.Compact(hops)
	var parts []string
	for i := 0; i < len(hops); {
		end := i
		for end+1 < len(hops) && hops[end+1] == hops[end]+1 {
			end++
		}
		if end-i > 1 {
			parts = append(parts, fmt.Sprintf("%d to %d", hops[i], hops[end]))
		} else {
			for _, hop := range hops[i : end+1] {
				parts = append(parts, fmt.Sprint(hop))
			}
		}
		i = end + 1
	}
	if hops[0] == 0 {
		parts[0] = strings.Replace(parts[0], "0", "source", 1)
	}
	return strings.TrimSpace(strings.Join(parts, ", ") + " " + s.city)
}

// leg is the way from one place to the next.
type leg struct {
	from, to int // spots
	sure     bool
	delay    string // by how much the round trip is longer at its end; "": not known, or not longer
}

// legs are the ways between places: along each link, and past nodes whose place is not known.
func (w *way) legs(spots []spot) (all []leg) {
	of := map[int]int{} // the spot of a node
	for s, spot := range spots {
		for _, n := range spot.nodes {
			of[n] = s
		}
	}
	var follow func(from, at int, sure bool, been map[int]bool)
	follow = func(from, at int, sure bool, been map[int]bool) {
		for _, l := range w.links {
			if l.From != at || been[l.To] {
				continue
			}
			to, placed := of[l.To]
			if !placed {
				been[l.To] = true
				follow(from, l.To, false, been)
				continue
			}
			one := leg{from: of[from], to: to, sure: sure && l.Certain, delay: later(w.nodes[from], w.nodes[l.To])}
			if one.from != to && !slices.ContainsFunc(all, func(o leg) bool { return o.from == one.from && o.to == one.to }) {
				all = append(all, one)
			}
		}
	}
	for n := range w.nodes {
		if _, placed := of[n]; placed {
			follow(n, n, true, map[int]bool{})
		}
	}
	return all
}

// later is by how much the round trip to one node is longer than to another.
func later(from, to node) string {
	before := 0.0
	if from.rtt != nil {
		before = *from.rtt
	} else if from.ttl > 0 {
		return ""
	}
	if to.rtt == nil || *to.rtt <= before {
		return ""
	}
	return "+" + quantity.FormatSeconds(*to.rtt-before)
}
