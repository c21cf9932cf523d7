package analysis

import (
	"cmp"
	"maps"
	"slices"
)

// flapping joins stretches of the same two routes that follow each other, each of which is there several times.
func flapping(all []*stretch) (held []*stretch) {
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && (end < i+2 || len(Differing(&all[end].route, &all[end-2].route)) == 0) {
			end++
		}
		if end-i < 2*leastTurns-1 {
			held = append(held, all[i])
			i++
			continue
		}
		one := all[i]
		for _, next := range all[i+1 : end] {
			one = one.with(next)
		}
		one.flapping = true
		held = append(held, one)
		i = end
	}
	return held
}

// turns is how the regular routes of a stretch took turns; any: there are several, which differ.
func (s *stretch) turns() (t Turns, any bool) {
	regular := s.regular()
	if len(regular) < 2 {
		return t, false
	}
	for _, k := range slices.Sorted(maps.Keys(regular)) {
		t.Routes = append(t.Routes, s.united(map[int]bool{k: true}))
	}
	slices.SortStableFunc(t.Routes, func(a, b Route) int { return cmp.Compare(b.Results, a.Results) })
	t.TTLs = []int{}
	addresses := true
	for i := range t.Routes[1:] {
		r := &t.Routes[i+1]
		r.Changed = Differing(&t.Routes[0], r)
		t.TTLs = append(t.TTLs, r.Changed...)
		addresses = addresses && readdressed(&t.Routes[0], r)
	}
	slices.Sort(t.TTLs)
	t.TTLs = slices.Compact(t.TTLs)
	if len(t.TTLs) == 0 { // what was seen of each later makes them one
		return t, false
	}
	order := s.order(regular)
	runs := runsOf(order)
	t.First, t.Last, t.Results, t.Switches = s.route.First, s.route.Last, len(order), runs-1
	switch {
	case addresses:
		t.How = Addresses
	case s.flapping || !byChance(order, runs):
		t.How = Flapping
	default:
		t.How = Balanced
	}
	return t, true
}

// brief are the routes of a stretch that are not regular. One of which each hop is that of some regular route is none: where flows are balanced twice
// on the way, some combinations are seen seldom.
func (s *stretch) brief() (all []Brief) {
	regular := s.regular()
	for i := range s.routes {
		r := &s.routes[i]
		if changed := Differing(&s.route, r); !regular[s.kinds[i]] && len(changed) > 0 {
			all = append(all, Brief{First: r.First, Last: r.Last, Results: r.Results, Result: r.Result, Hops: r.Hops, Changed: changed})
		}
	}
	return all
}
