package analysis

import "slices"

// nearEnds puts the ends of routes of single traces where they are. A trace sends a packet for each distance until the end answers, so that the
// end seems one hop further away for each answer of it that is lost: a silent hop stands before it. Where one of the traces before and after,
// the nearest that reached the end, found the same end within those silent hops, it is there. Three such traces in a row are a longer way.
func nearEnds(routes []Route) []Route {
	near := slices.Clone(routes)
	for i := range near {
		r := &near[i]
		if !r.Whole {
			continue
		}
		ttl := r.end().TTL
		for _, other := range []*Route{wholeBefore(routes, i), wholeAfter(routes, i)} {
			if other != nil && r.mayEndAt(other.end()) {
				ttl = min(ttl, other.end().TTL)
			}
		}
		r.endAt(ttl)
	}
	return near
}

// wholeBefore is the newest route before another one that reached its end; nil: there is none.
func wholeBefore(routes []Route, at int) *Route {
	for i := at - 1; i >= 0; i-- {
		if routes[i].Whole {
			return &routes[i]
		}
	}
	return nil
}

// wholeAfter is the oldest after it.
func wholeAfter(routes []Route, at int) *Route {
	for i := at + 1; i < len(routes); i++ {
		if routes[i].Whole {
			return &routes[i]
		}
	}
	return nil
}

// end is the last hop.
func (r *Route) end() Hop { return r.Hops[len(r.Hops)-1] }

// mayEndAt says whether the end of a route may be a hop that is nearer: the same answered there, and nobody does in this route from there up to
// its end.
func (r *Route) mayEndAt(end Hop) bool {
	return len(end.Addresses) > 0 && end.meets(r.end()) && !slices.ContainsFunc(r.Hops[:len(r.Hops)-1], func(h Hop) bool {
		return h.TTL >= end.TTL && len(h.Addresses) > 0
	})
}

// endAt moves the end to a distance, and leaves out what is silent behind it.
func (r *Route) endAt(ttl int) {
	end := r.end()
	end.TTL = ttl
	before := slices.DeleteFunc(slices.Clone(r.Hops[:len(r.Hops)-1]), func(h Hop) bool { return h.TTL >= ttl })
	r.Hops = append(before, end)
}
