package probe

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// Several flows of a trace that goes on, at one hop:
//
//	flow   answered by          rows
//	0      a                    a          flows 0 and 3
//	1      b                    b, c       flows 1 and 2: packets of one flow come to either, so a lost one is of both
//	2      c, b                 -          flow 4: nobody answers
//	3      a
//	4
//
// A packet that was lost is counted where its flow goes.

// together are the hops of several flows, all of one TTL, as one; it shares nothing with them. Of one it is that one.
func together(hops []*liveHop) *liveHop {
	if len(hops) == 1 {
		return hops[0]
	}
	all := &liveHop{}
	weights := 0
	for _, h := range hops {
		all.sent, all.lost = all.sent+h.sent, all.lost+h.lost
		all.trips.Merge(&h.trips)
		all.spread.Merge(&h.spread)
		all.jitters.Merge(&h.jitters)
		if h.trips.Count() > 0 && !h.lastAt.Before(all.lastAt) {
			all.last, all.lastAt, all.jitter, all.told = h.last, h.lastAt, h.jitter, h.told
		}
		n := h.jitters.Count()
		weights += n
		all.smoothed += float64(n) * h.smoothed
		for _, a := range h.from {
			if i := slices.IndexFunc(all.from, func(b liveAddress) bool { return b.address == a.address }); i >= 0 {
				all.from[i].packets, all.from[i].place = all.from[i].packets+a.packets, max(all.from[i].place, a.place)
			} else {
				all.from = append(all.from, a)
			}
		}
	}
	all.smoothed /= float64(max(1, weights))
	all.recent = interleaved(hops)
	return all
}

// interleaved are the latest round trips of several flows, which take turns.
func interleaved(hops []*liveHop) (recent []float64) {
	for back := liveRecent; back > 0; back-- {
		for _, h := range hops {
			if i := len(h.recent) - back; i >= 0 {
				recent = append(recent, h.recent[i])
			}
		}
	}
	return recent[max(0, len(recent)-liveRecent):]
}

// parted are the hops of several flows by who answers: those that one address answers are together, and those that nobody does.
func parted(hops []*liveHop) (groups [][]*liveHop) {
	for _, h := range hops {
		group := []*liveHop{h}
		var others [][]*liveHop
		for _, g := range groups {
			if slices.ContainsFunc(g, h.meets) {
				group = append(g, group...)
			} else {
				others = append(others, g)
			}
		}
		groups = append(others, group)
	}
	slices.SortStableFunc(groups, func(a, b []*liveHop) int {
		x, y := least(a), least(b)
		switch {
		case !x.IsValid():
			return 1 // there is one such group at most
		case !y.IsValid():
			return -1
		}
		return x.Compare(y)
	})
	return groups
}

// meets says that somebody answers at both, or nobody at either.
func (h *liveHop) meets(other *liveHop) bool {
	if len(h.from) == 0 {
		return len(other.from) == 0
	}
	return slices.ContainsFunc(h.from, func(a liveAddress) bool {
		return slices.ContainsFunc(other.from, func(b liveAddress) bool { return a.address == b.address })
	})
}

// least is the lowest address that answers; the zero Addr: nobody does.
func least(hops []*liveHop) (lowest netip.Addr) {
	for _, h := range hops {
		for _, a := range h.from {
			if !lowest.IsValid() || a.address.Less(lowest) {
				lowest = a.address
			}
		}
	}
	return lowest
}

// routers are the rows of a hop that flows pass in several places, with the share that each address has of all flows.
func routers(ttl int, hops []*liveHop, share func(netip.Addr) float64) (all []measure.RouterRounds) {
	groups := parted(hops)
	if len(groups) < 2 {
		return nil
	}
	for _, g := range groups {
		h := together(g)
		r := measure.RouterRounds{HopRounds: h.rounds(ttl), Flows: len(g), Told: h.hop(ttl)}
		for _, a := range h.from {
			r.Share += share(a.address)
		}
		all = append(all, r)
	}
	return all
}

// latest is who answered last; "": nobody did.
func (h *liveHop) latest() string {
	if len(h.from) == 0 {
		return ""
	}
	return slices.MaxFunc(h.from, func(a, b liveAddress) int { return cmp.Compare(a.place, b.place) }).address.String()
}
