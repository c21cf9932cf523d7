package schedule

import (
	"cmp"
	"slices"
	"time"
)

// due is when a pair of a light test is to run, from the start of its cycle.
type due struct {
	after int64
	pair  int32
}

// light is a test whose runs share interfaces with others. Each pair has a moment of its own in the cycle, from its
// name, so that no host is hit by all at once and a change of the mesh moves nobody.
type light struct {
	test   int32
	grid   grid
	window time.Duration // over which a cycle's runs are spread
	fresh  bool          // drawn anew for each cycle
	cycles map[int64][]due
}

// phaseSpread is the least time over which the light runs of a phase or of a cron test are spread, if they have that
// much: enough for hosts not to be hit by all at once, little beside an hour.
const phaseSpread = time.Minute

func newLights(p *Planner) []*light {
	lights := make([]*light, len(p.mesh.Tests))
	for i := range p.mesh.Tests {
		t := &p.mesh.Tests[i]
		if t.Demand.Exclusive {
			continue
		}
		timing := p.mesh.timing(t)
		l := &light{test: int32(i), grid: grid{p.period[i], timing.Next}, window: p.period[i], cycles: map[int64][]due{}}
		if l.fresh = t.Phase != "" || timing.Next != nil; l.fresh {
			l.window = min(p.period[i], max(phaseSpread, p.phaseLength(t.Phase)))
		}
		lights[i] = l
	}
	return lights
}

// phaseLength is how long the exclusive runs of a phase take.
func (p *Planner) phaseLength(phase string) time.Duration {
	var longest time.Duration
	for _, c := range p.components {
		for _, class := range c.classes {
			for _, t := range class.tests {
				if phase != "" && p.mesh.Tests[t].Phase == phase {
					longest = max(longest, class.window)
				}
			}
		}
	}
	return longest
}

// dues are a cycle's runs, by time.
func (l *light) dues(p *Planner, cy cycle) []due {
	t := &p.mesh.Tests[l.test]
	timing := p.mesh.timing(t)
	random := timing.Next == nil && timing.Sampling != Periodic
	key := cy.number
	if !l.fresh && !random {
		key = 0 // the same in each
	}
	if known, ok := l.cycles[key]; ok {
		return known
	}
	all := make([]due, 0, len(t.Pairs))
	for i, pair := range t.Pairs {
		name := p.pairKey(l.test, pair)
		s := stream(name)
		shift := s.shift()
		if !random {
			if l.fresh {
				s = stream(combine(name, uint64(cy.number)))
				shift = s.shift()
			}
			all = append(all, due{int64(shift * float64(l.window)), int32(i)})
			continue
		}
		s = stream(combine(name, uint64(cy.number)))
		arrivals(s, shift, timing.Sampling, l.grid.every, l.grid.every, func(at int64) {
			all = append(all, due{at, int32(i)})
		})
	}
	slices.SortFunc(all, func(a, b due) int { return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.pair, b.pair)) })
	return keep(l.cycles, kept(l.grid.every), key, all)
}

// between calls each for the runs drawn for [from, until), in order within a cycle.
func (l *light) between(p *Planner, from, until int64, each func(Run)) {
	t := &p.mesh.Tests[l.test]
	run := Run{Duration: duration(t), Slot: t.Slot, Test: l.test}
	l.grid.cycles(from, until, func(cy cycle) {
		all := l.dues(p, cy)
		i, _ := slices.BinarySearchFunc(all, from-cy.start, func(d due, at int64) int { return cmp.Compare(d.after, at) })
		for ; i < len(all) && cy.start+all[i].after < until; i++ {
			run.Start, run.Cycle, run.Pair = cy.start+all[i].after, cy.number, t.Pairs[all[i].pair]
			each(run)
		}
	})
}

// settle says when a light run really begins: put off while its pair is closed, or an exclusive run is in its way; ok
// is false if it is closed for its whole slot. One that continues the run before it is not put off: where it is closed, it is left out.
func (p *Planner) settle(r *Run) (ok bool) {
	drawn, need := r.Start, &p.mesh.Tests[r.Test].Demand
	open := p.closures.open(r.Test, r.Pair, drawn, r.Duration)
	if open > drawn+int64(r.Slot) || need.Continuous && open > drawn {
		return false
	}
	r.Start = open
	if latest := drawn + int64(r.Slot); p.mesh.Tests[r.Test].Avoid && !need.Together && !need.Continuous {
		for at := open; at <= latest; {
			next := p.quiet(p.inherited, r.Pair, at, latest, r.Duration)
			next = p.closures.open(r.Test, r.Pair, next, r.Duration)
			if next == at {
				r.Start = at
				break
			}
			at = next
		}
	}
	r.Slot -= time.Duration(r.Start - drawn)
	return true
}

// draw calls each for the times of a memoryless test in [from, until).
func (p *Planner) draw(test int32, from, until int64, each func(at, cell int64, pair Pair)) {
	period := int64(p.period[test])
	sampling := p.mesh.timing(&p.mesh.Tests[test]).Sampling
	for cell := floorDiv(from, period); cell*period < until; cell++ {
		for _, pair := range p.mesh.Tests[test].Pairs {
			key := p.pairKey(test, pair)
			own := stream(key)
			s := stream(combine(key, uint64(cell)))
			arrivals(s, own.shift(), sampling, p.period[test], p.period[test], func(at int64) {
				if at += cell * period; at >= from && at < until {
					each(at, cell, pair)
				}
			})
		}
	}
}

// pairKey names the random numbers of a pair in a test by their names, so that they outlive a change of the mesh.
func (p *Planner) pairKey(test int32, pair Pair) uint64 {
	if p.mesh.Tests[test].Demand.Together {
		return combine(p.seed, p.testNames[test])
	}
	return combine(p.seed, p.testNames[test], p.names[pair.Source], p.names[pair.Target])
}
