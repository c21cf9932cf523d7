package schedule

import (
	"fmt"
	"time"
)

// Last is when a pair of a test, by the names of test and interfaces, was last planned to begin; the zero Time: never.
type Last func(test, source, target string) time.Time

// Resume makes the planner again that gave the State. If the mesh has changed since, the new one holds from its Freeze
// after now on, and last says which pairs had their turn; a nil last knows of none but those in the State. The error is
// bad input, or says that the State cannot be read.
func Resume(m Mesh, s State, now time.Time, last Last) (*Planner, error) {
	if s.Schema != StateSchema {
		return nil, fmt.Errorf("read state of the plan: schema is %q, not %q", s.Schema, StateSchema)
	}
	q, err := New(m, s.Seed)
	if err != nil {
		return nil, err
	}
	r := rename(s.Tests, s.Interfaces, q)
	if s.Mesh == m.Fingerprint() {
		if !s.Since.IsZero() {
			q.since, q.begun = s.Since.UnixNano(), s.Begun.UnixNano()
		}
		q.done = s.Done
		q.inherit(r.runs(s.Committed))
		return q, nil
	}
	since := now.Add(q.freeze).UnixNano()
	q.takeOver(since, r.runs(s.Committed))
	q.eachCycle(since, func(test int32, cy cycle) {
		turns := r.turns(s.Done, test, cy, since)
		for _, pair := range m.Tests[test].Pairs {
			if last == nil {
				break
			}
			at := last(m.Tests[test].Name, m.Interfaces[pair.Source].Name, m.Interfaces[pair.Target].Name)
			if !at.IsZero() && at.UnixNano() >= cy.start {
				turns.set(pair, len(m.Interfaces))
			}
		}
		q.mark(turns)
	})
	return q, nil
}

// Change makes a planner for a mesh that takes this one's place. What begins within the Freeze of the new mesh after
// now stays as it was; pairs that had their turn in the cycle that goes on have no second one; light runs of pairs that
// stay keep their moments. Runs of tests or interfaces that are gone are gone.
func (p *Planner) Change(next Mesh, now time.Time) (*Planner, error) {
	q, err := New(next, p.seed)
	if err != nil {
		return nil, err
	}
	since := now.Add(q.freeze).UnixNano()
	var tests, interfaces []string
	for i := range p.mesh.Tests {
		tests = append(tests, p.mesh.Tests[i].Name)
	}
	for _, i := range p.mesh.Interfaces {
		interfaces = append(interfaces, i.Name)
	}
	r := rename(tests, interfaces, q)
	q.takeOver(since, r.runs(p.promised(now.UnixNano(), since)))
	q.eachCycle(since, func(test int32, cy cycle) {
		turns := r.turns(p.done, test, cy, since)
		if old := r.oldTest(test); old != none {
			p.eachTurn(old, cy, p.period[old] == q.period[test], since, func(pair Pair) {
				if pair, ok := r.pair(pair); ok {
					turns.set(pair, len(q.mesh.Interfaces))
				}
			})
		}
		q.mark(turns)
	})
	return q, nil
}

// promised is what this planner has told for the time before since and what is not over by now.
func (p *Planner) promised(now, since int64) []Run {
	var kept []Run
	for _, r := range p.committed {
		if r.Start+int64(r.Slot+r.Duration+p.guard) > now {
			kept = append(kept, r)
		}
	}
	for _, c := range p.components {
		for _, r := range p.exclusive(nil, c, max(p.since, now-int64(c.longest()+p.guard)), since) {
			if r.Start+int64(r.Slot+r.Duration+p.guard) > now {
				kept = append(kept, r)
			}
		}
	}
	for _, l := range p.lights {
		if l == nil {
			continue
		}
		l.between(p, max(p.since, now-int64(p.mesh.Tests[l.test].Slot)), since, func(r Run) {
			if p.settle(&r) && r.Start >= now {
				kept = append(kept, r)
			}
		})
	}
	return kept
}

// longest is the longest time for which a run of the component may hold its interfaces.
func (c *component) longest() (d time.Duration) {
	for _, class := range c.classes {
		for _, t := range class.test {
			d = max(d, t.duration+t.slot)
		}
	}
	return max(d, c.slowest)
}

// eachTurn calls each for the pairs of an exclusive test that this planner gave a run in a cycle before since. same
// says whether the cycle is one of this planner's; if not, only times can tell.
func (p *Planner) eachTurn(test int32, cy cycle, same bool, since int64, each func(Pair)) {
	if len(p.mesh.Tests[test].Pairs) == 0 {
		return
	}
	of := p.component[p.mesh.Tests[test].Pairs[0].Source]
	if of == none || !p.mesh.Tests[test].Demand.Exclusive {
		return
	}
	c := p.components[of] // a run may begin a little before its cycle
	for _, r := range p.exclusive(nil, c, max(p.since, cy.start-int64(c.frame)), since) {
		if r.Test == test && (same && r.Cycle == cy.number || !same && r.Start >= cy.start) {
			each(r.Pair)
		}
	}
}

// takeOver lets the plan begin at since, after what was promised is over.
func (p *Planner) takeOver(since int64, promised []Run) {
	p.since, p.begun = since, since
	p.inherit(promised)
	for i := range promised {
		if r := &promised[i]; r.Test != none && p.alone(r) {
			p.begun = max(p.begun, r.Start+int64(r.Slot+r.Duration+p.guard))
		}
	}
}

func (p *Planner) inherit(promised []Run) {
	p.committed = promised
	p.hold()
	p.inherited = p.held
}

// eachCycle calls each for the exclusive tests that have cycles, with the one that goes on.
func (p *Planner) eachCycle(at int64, each func(test int32, cy cycle)) {
	for _, c := range p.components {
		for _, class := range c.classes {
			if cy, ok := class.grid.at(at); ok {
				for _, t := range class.tests {
					each(t, cy)
				}
			}
		}
	}
}

func (p *Planner) mark(t Turns) {
	if t.Pairs != nil {
		p.done = append(p.done, t)
	}
}

// doneIn says which edges of a class had their turn in a cycle; nil: none.
func (p *Planner) doneIn(c *class, number int64) func(e int) bool {
	turns := make([]*Turns, len(c.tests))
	any := false
	for i, test := range c.tests {
		for j := range p.done {
			if p.done[j].Test == test && p.done[j].Cycle == number {
				turns[i], any = &p.done[j], true
			}
		}
	}
	if !any {
		return nil
	}
	return func(e int) bool {
		t := turns[c.edgeTest(e)]
		return t != nil && t.has(c.graph.edges[e], len(p.mesh.Interfaces))
	}
}

// renaming turns indices of an earlier mesh into those of a new one; none for what is gone.
type renaming struct {
	tests, interfaces []int32
	now               int // interfaces of the new mesh
}

func rename(tests, interfaces []string, to *Planner) renaming {
	byName := map[string]int32{}
	for i := range to.mesh.Tests {
		byName[to.mesh.Tests[i].Name] = int32(i)
	}
	r := renaming{tests: lookUp(tests, byName), now: len(to.mesh.Interfaces)}
	clear(byName)
	for i, iface := range to.mesh.Interfaces {
		byName[iface.Name] = int32(i)
	}
	r.interfaces = lookUp(interfaces, byName)
	return r
}

func lookUp(names []string, index map[string]int32) []int32 {
	found := make([]int32, len(names))
	for i, name := range names {
		found[i] = none
		if j, ok := index[name]; ok {
			found[i] = j
		}
	}
	return found
}

func (r *renaming) pair(p Pair) (Pair, bool) {
	p = Pair{r.interfaces[p.Source], r.interfaces[p.Target]}
	return p, p.Source != none && p.Target != none
}

func (r *renaming) oldTest(now int32) int32 {
	for old, t := range r.tests {
		if t == now {
			return int32(old)
		}
	}
	return none
}

func (r *renaming) runs(old []Run) (kept []Run) {
	for _, run := range old {
		pair, ok := r.pair(run.Pair)
		if run.Test != none {
			run.Test = r.tests[run.Test]
			ok = ok && run.Test != none
		}
		if ok {
			run.Pair = pair
			kept = append(kept, run)
		}
	}
	return kept
}

// turns returns the turns that a test had in cycles which were not over at since, as turns of the new cycle.
func (r *renaming) turns(old []Turns, test int32, cy cycle, since int64) Turns {
	t := Turns{Test: test, Cycle: cy.number, End: cy.end}
	for i := range old {
		if old[i].End <= since || r.tests[old[i].Test] != test {
			continue
		}
		for s := range r.interfaces {
			for u := range r.interfaces {
				was := Pair{int32(s), int32(u)}
				if pair, ok := r.pair(was); ok && old[i].has(was, len(r.interfaces)) {
					t.set(pair, r.now)
				}
			}
		}
	}
	return t
}
