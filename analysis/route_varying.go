package analysis

import (
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// How a hop answers that is always the same one.
const (
	ByPacket    = "by packet"       // several routers answer packets of one flow
	Silent      = "silent at times" // in some traces nobody answers there, though what is beyond does
	Readdressed = "readdressed"     // the router answers from another address from some time on
)

// Varying is a hop that did not always answer alike, though the route is the same.
type Varying struct {
	TTL       int       `json:"ttl"`
	How       string    `json:"how" enum:"by packet,silent at times,readdressed"`
	Addresses []string  `json:"addresses"`
	Results   int       `json:"results" doc:"Traces that show it"`
	Of        int       `json:"of" doc:"Traces that could"`
	First     time.Time `json:"first" doc:"The first of them"`
}

// ownPorts is in the note of a trace whose packets were of several flows: see probe.
const ownPorts = "a port of its own"

// oneFlow says that all packets of a trace were of one flow.
func oneFlow(r *measure.Result) bool {
	return (r.Samples.Route == nil || r.Samples.Route.Answers != "connections") &&
		!slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, ownPorts) })
}

// varyingOf are hops at which several routers answer one flow, and those that are silent in some traces.
func varyingOf(traces []*measure.Result) []Varying {
	type seen struct{ several, silent *Varying }
	var hops []seen // by TTL
	for _, r := range traces {
		list, _ := hopsOf(r.Samples.Hops)
		for i, h := range list {
			for len(hops) < h.TTL {
				ttl := len(hops) + 1
				hops = append(hops, seen{&Varying{TTL: ttl, How: ByPacket}, &Varying{TTL: ttl, How: Silent}})
			}
			at := hops[h.TTL-1]
			at.silent.of(r, len(h.Addresses) == 0 && i < len(list)-1, h.Addresses)
			if oneFlow(r) && len(h.Addresses) > 0 {
				at.several.of(r, len(h.Addresses) > 1, h.Addresses)
			}
		}
	}
	all := []Varying{}
	for _, at := range hops {
		if at.several.Results >= lasting {
			all = append(all, *at.several)
		}
		if n := at.silent.Results; n > 0 && n < at.silent.Of {
			all = append(all, *at.silent)
		}
	}
	return all
}

// of counts a trace, whether it shows it or not.
func (v *Varying) of(r *measure.Result, shows bool, addresses []string) {
	v.Of++
	if shows {
		if v.Results++; v.Results == 1 {
			v.First = r.Started
		}
	}
	for _, a := range addresses {
		if (v.How == Silent || shows) && !slices.Contains(v.Addresses, a) {
			v.Addresses = append(v.Addresses, a)
		}
	}
}

// around is how many traces before and after one are looked at for others in which several routers answer at the same hop.
const around = 5

// ofOneRoute are traces without hops at which routers of two routes answered: where traffic is moved while a trace is under way, two answer at a hop,
// which would make one route of both. Such a hop counts as silent there. Where packets are balanced, other traces nearby show it, too.
func ofOneRoute(traces []*measure.Result) []*measure.Result {
	several := make([]map[int]bool, len(traces)) // TTLs
	for i, r := range traces {
		for _, h := range r.Samples.Hops {
			if len(h.Addresses) > 1 {
				if several[i] == nil {
					several[i] = map[int]bool{}
				}
				several[i][h.TTL] = true
			}
		}
	}
	all := slices.Clone(traces)
	for i := range traces {
		for ttl := range several[i] {
			near := 0
			for _, other := range several[max(0, i-around):min(len(several), i+around+1)] {
				if other[ttl] {
					near++
				}
			}
			if near < lasting {
				all[i] = withoutHop(all[i], ttl)
			}
		}
	}
	return all
}

// withoutHop is a trace in which nobody answered at a TTL. The end stays.
func withoutHop(r *measure.Result, ttl int) *measure.Result {
	c := *r
	c.Samples.Hops = slices.Clone(r.Samples.Hops)
	for i, h := range c.Samples.Hops {
		if h.TTL == ttl && h.Reply == "" {
			c.Samples.Hops[i].Addresses = nil
		}
	}
	return &c
}
