package schedule

import (
	"iter"
	"slices"
	"time"
)

// chunk is the stretch of time whose runs are gathered and sorted at once: short, to hold few of them in memory.
const chunk = time.Minute

// Runs yields the runs that begin in [from, until), by start. Windows that follow each other yield each run once. While
// the sequence is read, the planner must not be used for anything else.
func (p *Planner) Runs(from, until time.Time) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		var some []Run
		end := until.UnixNano()
		for at := from.UnixNano(); at < end; at += int64(chunk) {
			some = p.gather(some[:0], at, min(at+int64(chunk), end))
			for _, r := range some {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// gather appends the runs that begin in [from, until), sorted.
func (p *Planner) gather(some []Run, from, until int64) []Run {
	for _, r := range p.committed {
		if r.Test != none && r.Start >= from && r.Start < until {
			some = append(some, r)
		}
	}
	for _, c := range p.components {
		some = p.exclusive(some, c, max(from, p.since), until)
	}
	for _, l := range p.lights {
		if l == nil {
			continue
		}
		drawn := from - int64(p.mesh.Tests[l.test].Slot) // runs may have been put off until now
		l.between(p, max(drawn, p.since), until, func(r Run) {
			if p.settle(&r) && r.Start >= from && r.Start < until {
				some = append(some, r)
			}
		})
	}
	slices.SortFunc(some, compareRuns)
	return some
}

// exclusive appends the runs of a component that begin in [from, until).
func (p *Planner) exclusive(some []Run, c *component, from, until int64) []Run {
	for n := floorDiv(from, int64(c.frame)); n*int64(c.frame) < until; n++ {
		runs := p.frameOf(c, n).runs
		i, _ := slices.BinarySearchFunc(runs, from, func(r Run, at int64) int {
			if r.Start < at {
				return -1
			}
			return 1
		})
		for ; i < len(runs) && runs[i].Start < until; i++ {
			some = append(some, runs[i])
		}
	}
	return some
}

// quiet is the first time from at on at which no exclusive run, planned or held, uses the interfaces of the pair for as
// long as length; or some time after latest, where there is none until then.
func (p *Planner) quiet(held *busy, pair Pair, at, latest int64, length time.Duration) int64 {
	for at <= latest {
		next := at
		for _, v := range [2]int32{pair.Source, pair.Target} {
			next = p.quietPlan(v, held.free(v, next, int64(length)), latest, length)
		}
		if next == at {
			break
		}
		at = next
	}
	return at
}

// quietPlan is the first time from at on at which no planned exclusive run uses an interface for as long as length; or some time
// after latest, where there is none until then. Runs that are held, and not planned, do not count.
func (p *Planner) quietPlan(v int32, at, latest int64, length time.Duration) int64 {
	of := p.component[v]
	if of == none {
		return at
	}
	c := p.components[of]
	for n := floorDiv(at, int64(c.frame)); at <= latest && n*int64(c.frame) < at+int64(length); n++ {
		at = p.frameOf(c, n).busy.free(v, at, int64(length))
	}
	return at
}
