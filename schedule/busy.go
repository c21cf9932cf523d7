package schedule

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
)

// span is when something is in use, from its first nanosecond to before its last.
type span struct{ from, until int64 }

// busy is when interfaces, and the links of limited sites, are taken by exclusive runs.
type busy struct {
	interfaces [][]span // of each, in order, none overlapping
	sites      [][]span // of each, by from; as many at a time as the site lets through
	longest    int64    // span of all
}

func newBusy(interfaces, sites int) *busy {
	return &busy{interfaces: make([][]span, interfaces), sites: make([][]span, sites)}
}

// busyWith is when runs, sorted by start, take what they need.
func (p *Planner) busyWith(runs []Run) *busy {
	b := newBusy(len(p.mesh.Interfaces), len(p.mesh.Sites))
	counts := make([]int32, len(p.mesh.Interfaces))
	for i := range runs {
		counts[runs[i].Source]++
		counts[runs[i].Target]++
	}
	all := make([]span, 2*len(runs))
	for i, n := range counts {
		b.interfaces[i], all = all[:0:n], all[n:]
	}
	for i := range runs {
		p.take(b, &runs[i])
	}
	return b
}

// take enters a run, with its slot: it may still begin until then.
func (p *Planner) take(b *busy, r *Run) {
	s := span{r.Start, r.Start + int64(r.Slot+r.Duration+p.guard)}
	b.longest = max(b.longest, s.until-s.from)
	for _, v := range [2]int32{r.Source, r.Target} {
		b.interfaces[v] = insert(b.interfaces[v], s)
	}
	if from, to := p.sites[r.Source], p.sites[r.Target]; from != to {
		for _, site := range [2]int32{from, to} {
			if site != none {
				b.sites[site] = insert(b.sites[site], s)
			}
		}
	}
}

func insert(spans []span, s span) []span {
	i := len(spans)
	for i > 0 && spans[i-1].from > s.from {
		i--
	}
	return slices.Insert(spans, i, s)
}

// free is the first time from at on at which nothing takes the interface for as long as length.
func (b *busy) free(v int32, at, length int64) int64 {
	spans := b.interfaces[v]
	i := sort.Search(len(spans), func(i int) bool { return spans[i].until > at })
	for ; i < len(spans) && spans[i].from < at+length; i++ {
		at = max(at, spans[i].until)
	}
	return at
}

// freeSite is the first time from at on at which the site's link has room for one more for as long as length.
func (b *busy) freeSite(site int32, atOnce int, at, length int64) int64 {
	spans := b.sites[site]
	for {
		i := sort.Search(len(spans), func(i int) bool { return spans[i].from > at-b.longest })
		var ends []int64 // of what goes on, soonest first
		next := at
		for ; i < len(spans) && spans[i].from < at+length && next == at; i++ {
			begin := max(spans[i].from, at)
			for len(ends) > 0 && ends[0] <= begin {
				ends = ends[1:]
			}
			if spans[i].until > begin {
				j, _ := slices.BinarySearch(ends, spans[i].until)
				ends = slices.Insert(ends, j, spans[i].until)
			}
			if len(ends) >= atOnce {
				next = ends[0]
			}
		}
		if next == at {
			return at
		}
		at = next
	}
}

// wish is a run that is to be fitted in at its start or after it.
type wish struct {
	Run
	earliest, latest int64 // start
}

// squeeze fits wishes into what a frame has free, each at the first such time after its start, or else before.
func (p *Planner) squeeze(c *component, f *frame, wishes []wish, from, until int64) {
	b := p.busyWith(p.withoutSlots(f.runs))
	slices.SortStableFunc(wishes, func(a, b wish) int { return compareRuns(a.Run, b.Run) })
	for _, w := range wishes {
		latest := min(w.latest, until-int64(w.Duration+p.guard))
		start := p.firstFit(b, &w.Run, max(w.Start, from), latest)
		if start == never {
			start = p.firstFit(b, &w.Run, max(w.earliest, from), latest)
		}
		if start == never {
			f.unplaced++
			continue
		}
		w.Start = start
		one := w.Run
		one.Slot = 0
		p.take(b, &one)
		f.runs = append(f.runs, w.Run)
	}
}

// withoutSlots copies runs as the planner knows them before it gives slots.
func (p *Planner) withoutSlots(runs []Run) []Run {
	runs = slices.Clone(runs)
	for i := range runs {
		runs[i].Slot = 0
	}
	slices.SortFunc(runs, compareRuns)
	return runs
}

// firstFit is the first time from at on, and not after latest, at which both interfaces and the sites between them have
// room for the run and its pair is open; never, if there is none.
func (p *Planner) firstFit(b *busy, r *Run, at, latest int64) int64 {
	length := int64(r.Duration + p.guard)
	from, to := p.sites[r.Source], p.sites[r.Target]
	for at <= latest {
		next := at
		for _, other := range [2]*busy{b, p.inherited} {
			next = other.free(r.Target, other.free(r.Source, next, length), length)
		}
		if from != to {
			for _, site := range [2]int32{from, to} {
				if site != none {
					next = b.freeSite(site, p.mesh.Sites[site].AtOnce, next, length)
				}
			}
		}
		next = p.closures.open(r.Test, r.Pair, next, r.Duration)
		if next == at {
			return at
		}
		at = next
	}
	return never
}

// leftovers are the edges for which the colouring of their cycle found no position: each is tried in one frame, at an
// open time of its cycle drawn at random.
func (p *Planner) leftovers(c *component, n int64, places []position) []wish {
	var wishes []wish
	seen := map[[2]int64]bool{}
	for _, at := range places {
		key := [2]int64{int64(at.class), at.cycle}
		if seen[key] {
			continue
		}
		seen[key] = true
		class := c.classes[at.class]
		r := p.roundsOf(c, at.class, at.cycle)
		if len(r.left) == 0 {
			continue
		}
		times := p.times(c, at.class, class.cycle(at.cycle))
		random := rand.New(rand.NewPCG(combine(p.seed, class.key), uint64(at.cycle)))
		for _, e := range r.left {
			when := int64(never)
			for try := 0; try < 4*len(times) && !p.openAt(class, int(e), when); try++ {
				when = times[random.IntN(len(times))]
			}
			if when != never && floorDiv(when, int64(c.frame)) == n {
				wishes = append(wishes, wish{class.run(edge{e, class.graph.edges[e]}, when, at.cycle), class.cycle(at.cycle).start, never})
			}
		}
	}
	return wishes
}

// arrivals are the runs of exclusive tests at random times that fall into a frame. A run may begin within its slot, or
// within a period if it has none.
func (p *Planner) arrivals(c *component, n int64) []wish {
	var wishes []wish
	from, until := max(n*int64(c.frame), p.since), (n+1)*int64(c.frame)
	for _, i := range c.arriving {
		t := &p.mesh.Tests[i]
		slot := cmp.Or(t.Slot, p.period[i])
		p.draw(i, from, until, func(at, cell int64, pair Pair) {
			run := Run{Start: at, Duration: duration(t), Slot: t.Slot, Cycle: cell, Test: i, Pair: pair}
			wishes = append(wishes, wish{run, from, at + int64(slot)})
		})
	}
	return wishes
}
