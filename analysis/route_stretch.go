package analysis

import (
	"maps"
	"slices"
)

// stretch is a time in which traffic took one route, or one of some by chance.
type stretch struct {
	routes   []Route // each time that one was seen
	kinds    []int   // of them
	route    Route   // of all that are regular, united
	flapping bool    // by stretches of their own, each of which lasted
}

const (
	// regularShare is the share of a stretch's traces that take its regular routes. Where those that were seen as often as lasting has it are fewer,
	// traffic has so many ways that each is seen once or twice, and all are regular.
	regularShare = 0.7
	// leastTurns is how often a route is there, and another one between, until both take turns, and how often traces switch at least.
	leastTurns = 3
)

func newStretch(routes []Route, kinds []int, part [2]int) *stretch {
	s := &stretch{routes: routes[part[0]:part[1]], kinds: kinds[part[0]:part[1]]}
	s.route = s.united(s.regular())
	return s
}

// with is a stretch and the one that follows it.
func (s *stretch) with(next *stretch) *stretch {
	all := &stretch{routes: slices.Concat(s.routes, next.routes), kinds: slices.Concat(s.kinds, next.kinds), flapping: s.flapping || next.flapping}
	all.route = all.united(all.regular())
	return all
}

// main is the kind that was seen most.
func (s *stretch) main() (kind int) {
	of, _ := s.results()
	most := 0
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if of[k] > most {
			kind, most = k, of[k]
		}
	}
	return kind
}

// as is the stretch with its regular routes as ones of another kind.
func (s *stretch) as(kind int) *stretch {
	regular, kinds := s.regular(), slices.Clone(s.kinds)
	for i, k := range kinds {
		if regular[k] {
			kinds[i] = kind
		}
	}
	return &stretch{routes: s.routes, kinds: kinds, route: s.route, flapping: s.flapping}
}

// united is the route of all traces of some kinds, of which there are some: a hop has the addresses of all of them.
func (s *stretch) united(of map[int]bool) (route Route) {
	first := true
	for i := range s.routes {
		switch {
		case !of[s.kinds[i]]:
		case first:
			route, first = s.routes[i].copied(), false
		default:
			route.merge(&s.routes[i])
		}
	}
	return route
}

// results counts the traces of each kind.
func (s *stretch) results() (of map[int]int, all int) {
	of = map[int]int{}
	for i, k := range s.kinds {
		of[k] += s.routes[i].Results
		all += s.routes[i].Results
	}
	return of, all
}

// regular are the kinds that are no passing ones; several only if they took turns.
func (s *stretch) regular() map[int]bool {
	of, all := s.results()
	regular, many := map[int]bool{}, 0
	for k, n := range of {
		if n >= lasting {
			regular[k] = true
			many += n
		}
	}
	if float64(many) < regularShare*float64(all) {
		for k := range of {
			regular[k] = true
		}
	}
	if order := s.order(regular); len(regular) > 1 && runsOf(order)-1 < leastTurns {
		return map[int]bool{s.main(): true}
	}
	return regular
}

// order is the kind of each trace of a stretch, of some kinds, or, where that is nil, of all.
func (s *stretch) order(of map[int]bool) (kinds []int) {
	for i, k := range s.kinds {
		if of == nil || of[k] {
			kinds = append(kinds, slices.Repeat([]int{k}, s.routes[i].Results)...)
		}
	}
	return kinds
}
