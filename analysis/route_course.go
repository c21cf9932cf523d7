package analysis

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Course is what traces of one test come to, in order of time: when traffic was moved to another route, and what looks like that and is not.
type Course struct {
	Moves   []Move    `json:"changes" doc:"Traffic was moved to another route, and stayed there"`
	Turns   []Turns   `json:"turns" doc:"Several routes took turns, which is no change"`
	Varying []Varying `json:"varying" doc:"Hops that did not always answer alike, though the route is the same"`
	Brief   []Brief   `json:"brief" doc:"Other routes that were seen once or a few times, and did not last"`

	Routes []Route `json:"-"` // each time that one was seen, as Routes has them
	Newest *Route  `json:"-"` // that traffic takes since the last change, of all traces that take it together; nil: none is known
}

// Move is a change of route that lasted. Traffic was moved after the last Result of Before, and before the first of After. Delays are medians of
// the round trips to the end, in seconds, with their 95 % intervals; nil where the end did not answer.
type Move struct {
	Before      Route     `json:"before"`
	After       Route     `json:"after"`
	DelayBefore *Estimate `json:"delay_before_seconds" doc:"Median round trip to the end, of up to 50 traces before"`
	DelayAfter  *Estimate `json:"delay_after_seconds" doc:"Median round trip to the end, of up to 50 traces after"`
	Step        *Estimate `json:"delay_step_seconds" doc:"By how much the round trip grew with the change"`
	Confidence  float64   `json:"confidence" doc:"How surely it is a change, and not the order in which traces took balanced routes by chance"`
}

// settled is how sure a change is that is told as soon as it is seen, and not looked at again when more is known.
const settled = 0.95

// Settled says that a change is so sure, and the route after it was seen so often, that it will hardly turn out to be none.
func (m *Move) Settled() bool { return m.After.Results >= lasting && m.Confidence >= settled }

// How routes take turns.
const (
	Balanced  = "balanced"  // each trace takes one by chance: its flow decides
	Flapping  = "flapping"  // more seldom, or more regularly, than chance has it: traffic is moved to and fro
	Addresses = "addresses" // the routes differ in addresses of routers alone, whose neighbours are the same
)

// Turns is a time in which several routes took turns.
type Turns struct {
	How      string    `json:"how" enum:"balanced,flapping,addresses" doc:"By flow, to and fro, or by several addresses of the same routers"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Results  int       `json:"results"`
	Switches int       `json:"switches" doc:"How often one trace took another route than the one before"`
	Routes   []Route   `json:"routes" doc:"The most frequent first"`
	TTLs     []int     `json:"ttls" doc:"At which they differ"`
}

// Brief is another route that did not last.
type Brief struct {
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Results int       `json:"results"`
	Result  string    `json:"result" doc:"ID of the first of them"`
	Hops    []Hop     `json:"hops"`
	Changed []int     `json:"changed" doc:"TTLs at which it differs from the route at that time, one at least"`
}

// lasting is how many Results a route must have that traffic was moved to: what is seen once or twice is gone before anybody looks.
const lasting = 3

// CourseOf judges traces of one test, in order of time. It is the one place that says what a change of route is. Traces that take one of several
// routes by chance, as flows do that routers balance, are one stretch: see stretchesOf. Stretches of the same two routes that come back again
// and again are flapping. A router that answers from another address, between the same neighbours and without a step of the delay, is the same one.
func CourseOf(traces []*measure.Result) Course {
	c := Course{Routes: Routes(ofOneRoute(traces)), Moves: []Move{}, Turns: []Turns{}, Varying: varyingOf(traces), Brief: []Brief{}}
	kinds := kindsOf(c.Routes)
	var held []*stretch
	for _, part := range stretchesOf(c.Routes, kinds) {
		held = append(held, newStretch(c.Routes, kinds, part))
	}
	held = c.joined(flapping(joinedAlike(held)))
	for i, s := range held {
		if t, any := s.turns(); any {
			c.Turns = append(c.Turns, t)
		}
		c.Brief = append(c.Brief, s.brief()...)
		if i > 0 {
			c.Moves = append(c.Moves, moveOf(held[i-1], s))
		}
	}
	if n := len(held); n > 0 {
		c.Newest = &held[n-1].route
	}
	slices.SortFunc(c.Varying, func(a, b Varying) int { return cmp.Compare(a.TTL, b.TTL) })
	return c
}

// joinedAlike are stretches of which neighbours differ in something, and not by chance.
func joinedAlike(all []*stretch) (held []*stretch) {
	for _, s := range all {
		if n := len(held); n > 0 && (len(Differing(&held[n-1].route, &s.route)) == 0 || confidence(held[n-1], s) < likely) {
			held[n-1] = held[n-1].with(s)
			continue
		}
		held = append(held, s)
	}
	return held
}

// joined are stretches without changes that are none. Each two that follow each other are looked at anew once one of them was joined with another.
func (c *Course) joined(all []*stretch) []*stretch {
	for i := 1; i < len(all); {
		one := c.one(all[i-1], all[i])
		if one == nil {
			i++
			continue
		}
		all[i-1] = one
		all = slices.Delete(all, i, i+1)
		i = max(1, i-1)
	}
	return all
}

// one is both of two stretches: they differ in nothing, or maybe by chance, now that others were joined with them; or a router answers from another
// address from then on. nil: traffic was moved.
func (c *Course) one(before, after *stretch) *stretch {
	m := moveOf(before, after)
	if len(m.After.Changed) == 0 || m.Confidence < likely {
		return before.with(after)
	}
	if !readdressed(&m.Before, &m.After) || m.steps() {
		return nil
	}
	for _, ttl := range m.After.Changed {
		c.Varying = append(c.Varying, Varying{TTL: ttl, How: Readdressed, Addresses: slices.Concat(before.route.At(ttl).Addresses, after.route.At(ttl).Addresses),
			Results: after.route.Results, Of: before.route.Results + after.route.Results, First: after.route.First})
	}
	return before.with(after.as(before.main()))
}

// readdressed says whether two routes may be one, of which routers answer from other addresses: each hop that differs has the same router before
// it, and the same behind it, which is not the end. A router answers from the address of the interface that a packet came by. So the one behind
// another router would answer from another address, too; the end has one alone.
func readdressed(a, b *Route) bool {
	ttls := Differing(a, b)
	if len(ttls) == 0 || len(a.Hops) != len(b.Hops) {
		return false
	}
	for _, ttl := range ttls {
		i := slices.IndexFunc(a.Hops, func(h Hop) bool { return h.TTL == ttl })
		if i < 1 || i+2 >= len(a.Hops) || !same(a.Hops[i-1], b.Hops[i-1]) || !same(a.Hops[i+1], b.Hops[i+1]) {
			return false
		}
	}
	return true
}

// same says that a router answered both times.
func same(a, b Hop) bool { return len(a.Addresses) > 0 && len(b.Addresses) > 0 && a.meets(b) }
