package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// stretch is a time in which traffic took one route, or one of some by chance.
type stretch struct {
	routes   []Route // each time that one was seen
	kinds    []int   // of them
	route    Route   // of all that are regular: a hop has the addresses of all of them
	flapping bool    // by stretches of their own, each of which lasted
}

const (
	// regularShare is the share of a stretch's traces that take its regular routes. Where those that were seen as often as lasting has it are fewer,
	// traffic has so many ways that each is seen once or twice, and all are regular.
	regularShare = 0.7
	// turns is how often a route is there, and another one between, until both take turns, and how often traces switch at least.
	turns = 3
)

func newStretch(routes []Route, kinds []int, part [2]int) *stretch {
	s := &stretch{routes: routes[part[0]:part[1]], kinds: kinds[part[0]:part[1]]}
	s.unite()
	return s
}

// with is a stretch and the one that follows it.
func (s *stretch) with(next *stretch) *stretch {
	all := &stretch{routes: slices.Concat(s.routes, next.routes), kinds: slices.Concat(s.kinds, next.kinds), flapping: s.flapping || next.flapping}
	all.unite()
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

// unite makes the route of those that are regular.
func (s *stretch) unite() {
	regular := s.regular()
	first := true
	for i := range s.routes {
		switch {
		case !regular[s.kinds[i]]:
		case first:
			s.route, first = s.routes[i].copied(), false
		default:
			s.route.merge(&s.routes[i])
		}
	}
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
	if order := s.order(regular); len(regular) > 1 && runsOf(order)-1 < turns {
		return map[int]bool{s.main(): true}
	}
	return regular
}

// order is the kind of each trace of a stretch, of those that are asked for.
func (s *stretch) order(of map[int]bool) (kinds []int) {
	for i, k := range s.kinds {
		if of[k] {
			kinds = append(kinds, slices.Repeat([]int{k}, s.routes[i].Results)...)
		}
	}
	return kinds
}

// runsOf counts how often another kind begins.
func runsOf(kinds []int) (runs int) {
	for i, k := range kinds {
		if i == 0 || k != kinds[i-1] {
			runs++
		}
	}
	return runs
}

// flapping joins stretches of the same two routes that follow each other, each of which is there several times.
func flapping(all []*stretch) (held []*stretch) {
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && (end < i+2 || len(Differing(&all[end].route, &all[end-2].route)) == 0) {
			end++
		}
		if end-i < 2*turns-1 {
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
	united := map[int]*Route{}
	for i, k := range s.kinds {
		if !regular[k] {
			continue
		}
		if united[k] == nil {
			one := s.routes[i].copied()
			united[k] = &one
		} else {
			united[k].merge(&s.routes[i])
		}
	}
	if len(united) < 2 {
		return t, false
	}
	for _, k := range slices.Sorted(maps.Keys(united)) {
		t.Routes = append(t.Routes, *united[k])
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

// chanceLimit is how many standard deviations from what chance has it the number of runs may be: beyond are 2 of 100.
const chanceLimit = 2.33

// byChance says whether kinds follow each other as if each were drawn by itself: by how many runs of one kind there are (Wald and Wolfowitz, 1940;
// of more than two kinds Barton and David, 1957).
func byChance(order []int, runs int) bool {
	counts := map[int]float64{}
	for _, k := range order {
		counts[k]++
	}
	n, squares, cubes := float64(len(order)), 0., 0.
	for _, c := range counts {
		squares += c * c
		cubes += c * c * c
	}
	expected := (n*(n+1) - squares) / n
	variance := (squares*(squares+n*(n+1)) - 2*n*cubes - n*n*n) / (n * n * (n - 1))
	return variance <= 0 || math.Abs(float64(runs)-expected) <= chanceLimit*math.Sqrt(variance)
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
