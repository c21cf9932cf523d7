package schedule

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// frame is a planned stretch of a component's time.
type frame struct {
	runs     []Run // by start
	unplaced int   // runs for which there was no room
	busy     *busy // with slots
}

// kept is how many frames or cycles of some length stay in memory: those of a few hours, in which windows are read and
// runs on demand fitted in; and few of long ones, which may hold a million runs.
func kept(length time.Duration) int { return 3 + int(3*time.Hour/max(length, time.Second)) }

// keep makes room in a cache by dropping what is oldest, and puts v in.
func keep[T any](cache map[int64]T, most int, key int64, v T) T {
	for len(cache) >= most {
		oldest := int64(never)
		for k := range cache {
			oldest = min(oldest, k)
		}
		delete(cache, oldest)
	}
	cache[key] = v
	return v
}

// frameOf plans frame number n of a component, or remembers it.
func (p *Planner) frameOf(c *component, n int64) *frame {
	if f, known := c.frames[n]; known {
		return f
	}
	f := p.planFrame(c, n)
	slices.SortFunc(f.runs, compareRuns)
	p.setSlots(c, f, (n+1)*int64(c.frame))
	f.busy = p.busyWith(f.runs)
	if f.unplaced > 0 {
		keep(c.unplaced, rememberUnplaced, n, f.unplaced)
	}
	return keep(c.frames, kept(c.frame), n, f)
}

// rememberUnplaced is how many frames with runs that had no room are remembered: more than a Summary looks at.
const rememberUnplaced = 10_000

func compareRuns(a, b Run) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Test, b.Test),
		cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
}

func (p *Planner) planFrame(c *component, n int64) *frame {
	places := p.layout(c, n)
	random := rand.New(rand.NewPCG(combine(p.seed, uint64(n)), 'f'))
	var filled []position
	var content [][]edge
	total := 0
	for _, at := range places {
		if edges := p.roundsOf(c, at.class, at.cycle).edges[at.number]; len(edges) > 0 {
			filled, content = append(filled, at), append(content, edges)
			total += len(edges)
		}
	}
	p.setApart(c, filled, content, random)
	f := &frame{runs: make([]Run, 0, total)}
	for i, at := range filled {
		for _, e := range content[i] {
			f.runs = append(f.runs, c.classes[at.class].run(e, at.start, at.cycle))
		}
	}
	late := append(p.leftovers(c, n, places), p.arrivals(c, n)...)
	late = append(late, p.displaced(f)...)
	if len(late) > 0 {
		p.squeeze(c, f, late, max(n*int64(c.frame), p.begun), (n+1)*int64(c.frame))
	}
	return f
}

// displaced takes out of a frame what would meet runs that another planner promised.
func (p *Planner) displaced(f *frame) (wishes []wish) {
	f.runs = slices.DeleteFunc(f.runs, func(r Run) bool {
		length := int64(r.Duration + p.guard)
		meets := p.inherited.free(r.Source, r.Start, length) != r.Start ||
			p.inherited.free(r.Target, r.Start, length) != r.Start
		if meets {
			wishes = append(wishes, wish{r, r.Start, never})
		}
		return meets
	})
	return wishes
}

// run is the run of an edge of the class.
func (c *class) run(e edge, start, cycle int64) Run {
	i := c.edgeTest(int(e.number))
	return Run{Start: start, Duration: c.test[i].duration, Slot: c.test[i].slot, Cycle: cycle, Test: c.tests[i],
		Pair: e.Pair}
}

// roundsOf is the colouring of one cycle of a class.
func (p *Planner) roundsOf(c *component, index int, number int64) *rounds {
	class := c.classes[index]
	if r, known := class.colourings[number]; known {
		return r
	}
	open := p.openings(class, p.times(c, index, class.cycle(number)))
	return keep(class.colourings, kept(class.period), number, class.colour(p.seed, number, p.doneIn(class, number), open))
}

// cycle is the cycle of that number: of a grid by function, numbers are seconds since 1970.
func (c *class) cycle(number int64) cycle {
	at := number * 1e9
	if c.grid.next == nil {
		at = number * int64(c.grid.every)
	}
	cy, _ := c.grid.at(at)
	return cy
}

// openAt says whether nothing keeps an edge from running at a time.
func (p *Planner) openAt(c *class, e int, at int64) bool {
	if at == never {
		return false
	}
	i := c.edgeTest(e)
	return p.closures.open(c.tests[i], c.graph.edges[e], at, c.test[i].duration) == at
}

// setSlots shortens the slots of exclusive runs to what the plan leaves free after them, and their hosts' hours.
func (p *Planner) setSlots(c *component, f *frame, until int64) {
	next := make([]int64, len(p.mesh.Interfaces))
	for i := range next {
		next[i] = until
	}
	following, last := until, until // the next start of any run of the component; and of the run before
	for i := len(f.runs) - 1; i >= 0; i-- {
		r := &f.runs[i]
		if r.Start < last {
			following, last = last, r.Start
		}
		end := r.Start + int64(r.Duration+p.guard)
		room := min(next[r.Source], next[r.Target]) - end
		if p.sites[r.Source] != p.sites[r.Target] { // another may wait for the site's link
			room = min(room, following-end)
		}
		if closes := p.closures.closes(r.Test, r.Pair, r.Start); closes != never {
			room = min(room, closes-r.Start-int64(r.Duration))
		}
		r.Slot = max(0, min(r.Slot, time.Duration(room)))
		next[r.Source], next[r.Target] = r.Start, r.Start
	}
}
