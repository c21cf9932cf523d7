package generated

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Fault is something that goes wrong in a History: with a host, a link between two sites, or a pair. What is empty does not select.
type Fault struct {
	Host           string    // whatever it sends or receives
	Source, Target string    // what the one sends, what the other receives; both: one pair
	Link           [2]string // two sites: what goes over the link between them, either way
	Since          time.Time
	Loss           float64 // ratio, of an echo and its answer together
	Delay          float64 // s, of a round trip
	Rate           float64 // the part of a transfer's rate that is left; 0: all of it
}

// strayLoss is what a Steady path loses without any reason.
const strayLoss = 1e-4

// shortest is how long a burst of loss lasts at the most where a History is Steady, in seconds.
const shortest = 600

// Hits says whether a fault is of a pair whose route leads over sites.
func (f *Fault) Hits(source, target *Host, sites []string) bool {
	switch {
	case f.Host != "":
		return source.Name == f.Host || target.Name == f.Host
	case f.Link[0] != "":
		for i := 1; i < len(sites); i++ {
			if one, other := sites[i-1], sites[i]; [2]string{one, other} == f.Link || [2]string{other, one} == f.Link {
				return true
			}
		}
		return false
	}
	return (f.Source == "" || f.Source == source.Name) && (f.Target == "" || f.Target == target.Name)
}

// Route is the sites on the way from a host to another, those of both included: as few as Links allow. nil: there is no way.
func (h *History) Route(source, target *Host) []string {
	before := map[string]string{source.Site: source.Site}
	for queue := []string{source.Site}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == target.Site {
			route := []string{at}
			for ; at != source.Site; at = before[at] {
				route = append(route, before[at])
			}
			slices.Reverse(route)
			return route
		}
		for _, l := range h.Links {
			next := l[1]
			if l[1] == at {
				next = l[0]
			} else if l[0] != at {
				continue
			}
			if _, seen := before[next]; !seen {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// happened is what a maker knows of a pair.
type happened struct {
	faults []*Fault
	hops   []measure.Hop
}

// happenings are those of all pairs.
func (h *History) happenings() []happened {
	all := make([]happened, h.pairs())
	for i := range all {
		source, target := h.pair(i)
		sites := h.Route(source, target)
		for k := range h.Faults {
			if h.Faults[k].Hits(source, target, sites) {
				all[i].faults = append(all[i].faults, &h.Faults[k])
			}
		}
		if len(h.Links) == 0 {
			continue
		}
		for k, site := range sites {
			all[i].hops = append(all[i].hops, measure.Hop{TTL: k + 1, Addresses: []string{site + "-gw"}})
		}
		all[i].hops = append(all[i].hops, measure.Hop{TTL: len(sites) + 1, Addresses: []string{target.Address}, Reply: "port unreachable"})
	}
	return all
}

// suffer makes of a path what faults make of it at a time, and says which part of its rate is left.
func (h *happened) suffer(p *path, at time.Time) (rate float64) {
	rate = 1
	for _, f := range h.faults {
		if at.Before(f.Since) {
			continue
		}
		p.base += f.Delay
		p.loss = 1 - (1-p.loss)*(1-f.Loss)
		if f.Rate > 0 {
			rate *= f.Rate
		}
	}
	return rate
}
