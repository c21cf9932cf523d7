package schedule

import "time"

// PlanSchema names the JSON layout of a Summary.
const PlanSchema = "pathwise.plan/1"

// Summary is a plan in figures, as `pathwise mesh plan --json` shows it.
type Summary struct {
	Schema            string    `json:"schema"`
	From              time.Time `json:"from"`
	Until             time.Time `json:"until"`
	Hosts             int       `json:"hosts"`
	Runs              int       `json:"runs"` // that begin between From and Until
	ExclusiveRuns     int       `json:"exclusive_runs"`
	CycleSeconds      float64   `json:"cycle_seconds"`       // as Cycle says
	LowerBoundSeconds float64   `json:"lower_bound_seconds"` // as Cycle says
	PlanningSeconds   float64   `json:"planning_seconds"`    // for the caller to fill in: the planner has no clock
	Conflicts         int       `json:"conflicts"`           // that Verify found
	Unplaced          int       `json:"unplaced"`            // exclusive runs for which there was no room
	Findings          []Finding `json:"findings"`
	Load              Load      `json:"load"`
}

// Load is what the tests come to in a day.
type Load struct {
	Tests      []TestLoad `json:"tests"`
	Interfaces []UseLoad  `json:"interfaces"`
	Sites      []UseLoad  `json:"sites"`
	Hosts      []UseLoad  `json:"hosts,omitempty"` // with a budget for several interfaces together
}

// TestLoad is one test.
type TestLoad struct {
	Test          string  `json:"test"`
	Pairs         int     `json:"pairs"`
	PeriodSeconds float64 `json:"period_seconds"`
	RunsPerDay    float64 `json:"runs_per_day"`
	BytesPerDay   float64 `json:"bytes_per_day"`
}

// UseLoad is one interface, the link of one site, or one host.
type UseLoad struct {
	Name        string  `json:"name"`
	RunsPerDay  float64 `json:"runs_per_day"`
	BytesPerDay float64 `json:"bytes_per_day"`
	BudgetBytes float64 `json:"budget_bytes_per_day,omitempty"`
	// ExclusiveRatio is the part of the day that goes to exclusive runs and their guard; of a site, divided by what it
	// lets through at once.
	ExclusiveRatio float64 `json:"exclusive_ratio"`
}

// Summarize plans a window and says what came of it.
func (p *Planner) Summarize(from, until time.Time) Summary {
	s := Summary{Schema: PlanSchema, From: from.UTC(), Until: until.UTC(), Findings: append([]Finding{}, p.findings...)}
	hosts := map[string]bool{}
	for _, i := range p.mesh.Interfaces {
		hosts[i.Host] = true
	}
	s.Hosts = len(hosts)
	found := Verify(p.mesh, func(yield func(Run) bool) {
		for r := range p.Runs(from, until) {
			s.Runs++
			if p.mesh.Tests[r.Test].Demand.Exclusive {
				s.ExclusiveRuns++
			}
			if !yield(r) {
				return
			}
		}
	})
	s.Conflicts = len(found)
	for _, c := range p.components {
		for n, missing := range c.unplaced {
			if n*int64(c.frame) < until.UnixNano() && (n+1)*int64(c.frame) > from.UnixNano() {
				s.Unplaced += missing
			}
		}
	}
	length, bound := p.Cycle(from)
	s.CycleSeconds, s.LowerBoundSeconds = length.Seconds(), bound.Seconds()
	s.Load = p.Load()
	return s
}

// Load reckons what the tests come to in a day, with the periods that are kept.
func (p *Planner) Load() Load {
	l := Load{Tests: []TestLoad{}, Interfaces: []UseLoad{}, Sites: []UseLoad{}}
	for i := range p.mesh.Tests {
		t := &p.mesh.Tests[i]
		runs := float64(len(t.Pairs)) * day.Seconds() / p.period[i].Seconds()
		bytes := 0.0
		for j := range t.Pairs {
			bytes += t.bytesOf(j) * day.Seconds() / p.period[i].Seconds()
		}
		l.Tests = append(l.Tests, TestLoad{t.Name, len(t.Pairs), p.period[i].Seconds(), runs, bytes})
	}
	for i, u := range p.uses() {
		load := UseLoad{u.name, p.perDay(u.runs), p.perDay(u.bytes), u.budget, p.perDay(u.alone) / day.Seconds()}
		switch site := i - len(p.mesh.Interfaces); {
		case site < 0:
			l.Interfaces = append(l.Interfaces, load)
		case site < len(p.mesh.Sites):
			load.ExclusiveRatio /= float64(max(1, p.mesh.Sites[site].AtOnce))
			l.Sites = append(l.Sites, load)
		default:
			l.Hosts = append(l.Hosts, load)
		}
	}
	return l
}

// Cycle is how long one whole exclusive cycle takes, every pair of every exclusive test once, with nothing between the
// rounds but the guard; and a bound below which no plan can be. Both are of the component that takes longest.
//
// The bound is the largest of: the exclusive time of the busiest interface; all pairs' time over half the interfaces in
// use, rounded down; for each site, the time of the pairs that cross its link over what it lets through at once, and of
// those that touch it over what it can do at once; and the bytes of a cycle over what a budget allows in a day.
func (p *Planner) Cycle(at time.Time) (length, bound time.Duration) {
	for _, c := range p.components {
		var sum time.Duration
		for i, class := range c.classes {
			if cy, ok := class.grid.at(at.UnixNano()); ok {
				sum += time.Duration(p.roundsOf(c, i, cy.number).used) * class.length
			} else {
				sum += time.Duration(class.least) * class.length
			}
		}
		length, bound = max(length, sum), max(bound, c.bound())
	}
	for _, u := range p.uses() {
		inCycle := 0.0
		for i, bytes := range u.bytes {
			if p.mesh.Tests[i].Demand.Exclusive {
				inCycle += bytes
			}
		}
		if u.budget > 0 {
			least := time.Duration(inCycle / u.budget * float64(day))
			length, bound = max(length, least), max(bound, least)
		}
	}
	return length, bound
}

// bound is the lower bound of a component without budgets.
func (c *component) bound() time.Duration {
	switch len(c.classes) {
	case 0:
		return 0
	case 1:
		return time.Duration(c.classes[0].least) * c.classes[0].length // rounds are whole
	}
	t := newTally(&c.classes[0].graph)
	for _, class := range c.classes {
		for _, e := range class.graph.edges {
			t.add(e, int64(class.length))
		}
	}
	return time.Duration(t.bound(func(sum, by int64) int64 { return sum / by }))
}
