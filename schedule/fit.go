package schedule

import (
	"slices"
	"sort"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// BusyError says that what a run on demand needs is not free soon enough. Earliest is when it is; the zero Time, if that is
// not before the end of what was searched.
type BusyError struct{ Earliest, Searched time.Time }

func (e *BusyError) Error() string {
	if e.Earliest.IsZero() {
		return "not free before " + e.Searched.Format(time.RFC3339)
	}
	return "free at " + e.Earliest.Format(time.RFC3339)
}

// searchAhead is how far beyond its patience a run on demand is told when there is room, at the least.
const searchAhead = time.Hour

// Fit finds the time for a run on demand: at once for a light one, and for an exclusive one as soon as both interfaces,
// and limited sites between them, have room beside the runs of the plan and those committed, in open hours. It starts
// at most patience after now, or the error is a *BusyError. Commit the run to keep its place.
//
// What Runs has shown is found in microseconds; frames that it has not are planned first.
func (p *Planner) Fit(now time.Time, pair Pair, demand measure.Demand, patience time.Duration) (Run, error) {
	run := Run{Start: now.UnixNano(), Duration: time.Duration(demand.DurationSeconds * float64(time.Second)),
		Test: none, Pair: pair}
	latest := run.Start + int64(patience)
	length := run.Duration
	if demand.Exclusive {
		length += p.guard
	}
	end := latest + int64(max(searchAhead, patience))
	for run.Start <= end {
		next := run.Start
		if demand.Exclusive {
			next = p.quiet(p.held, pair, next, end, length)
			next = p.quietSites(pair, next, length)
		}
		next = p.closures.open(none, pair, next, run.Duration)
		if next == run.Start && next <= latest {
			return run, nil
		}
		if next == run.Start {
			return run, &BusyError{run.Begin(), time.Unix(0, end).UTC()}
		}
		run.Start = next
	}
	return run, &BusyError{Searched: time.Unix(0, end).UTC()}
}

// quietSites is the first time from at on at which the limited sites between a pair let one more run through.
func (p *Planner) quietSites(pair Pair, at int64, length time.Duration) int64 {
	from, to := p.sites[pair.Source], p.sites[pair.Target]
	if from == to {
		return at
	}
	for _, site := range [2]int32{from, to} {
		if site != none {
			at = p.quietSite(site, at, int64(length))
		}
	}
	return at
}

// quietSite joins what is committed and what is planned, since the link is full when both together fill it.
func (p *Planner) quietSite(site int32, at, length int64) int64 {
	joined := &busy{sites: make([][]span, len(p.mesh.Sites)), longest: p.held.longest}
	join := func(b *busy) {
		spans := b.sites[site]
		i := sort.Search(len(spans), func(i int) bool { return spans[i].from > at-b.longest })
		for ; i < len(spans) && spans[i].from < at+int64(searchAhead); i++ {
			joined.sites[site] = insert(joined.sites[site], spans[i])
		}
		joined.longest = max(joined.longest, b.longest)
	}
	join(p.held)
	for _, c := range p.components {
		last := floorDiv(at+int64(searchAhead), int64(c.frame))
		for n := floorDiv(at, int64(c.frame)); n <= last && c.crosses(site); n++ {
			join(p.frameOf(c, n).busy)
		}
	}
	return joined.freeSite(site, p.mesh.Sites[site].AtOnce, at, length)
}

// crosses says whether runs of the component cross a limited site's link.
func (c *component) crosses(site int32) bool { return slices.Contains(c.sites, site) }

// Commit gives an exclusive run on demand its place: what Fit finds later respects it, and so does the plan after a
// Change. Runs does not yield it.
func (p *Planner) Commit(r Run) {
	r.Test = none
	p.committed = append(slices.DeleteFunc(p.committed, func(old Run) bool {
		return old.End().UnixNano() < r.Start-int64(forget)
	}), r)
	p.hold()
}

// Release takes back what Commit gave to a run that is over before its time, or never was.
func (p *Planner) Release(r Run) {
	r.Test = none
	p.committed = slices.DeleteFunc(p.committed, func(old Run) bool { return old == r })
	p.hold()
}

// forget is how long a committed run is remembered after it is over: long enough for whoever still asks about it.
const forget = time.Hour

// hold works out when committed runs take what they need.
func (p *Planner) hold() {
	p.held = newBusy(len(p.mesh.Interfaces), len(p.mesh.Sites))
	for i := range p.committed {
		if r := &p.committed[i]; p.alone(r) {
			p.take(p.held, r)
		}
	}
}

// alone says whether a run is exclusive: those on demand are kept only if they are.
func (p *Planner) alone(r *Run) bool { return r.Test == none || p.mesh.Tests[r.Test].Demand.Exclusive }
