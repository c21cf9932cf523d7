package schedule

import (
	"slices"
	"time"
)

const day = 24 * time.Hour

// use is what tests move through one interface, or across one site's link.
type use struct {
	name   string
	budget float64   // bytes a day; 0: no limit
	bytes  []float64 // by test: in one cycle
	runs   []float64 // by test: in one cycle
	alone  []float64 // by test: seconds of exclusive use in one cycle, with the guard
}

// budgeted says whether the mesh has any budget of bytes.
func (m *Mesh) budgeted() bool {
	return slices.ContainsFunc(m.Interfaces, func(i Interface) bool { return i.BytesPerDay > 0 }) ||
		slices.ContainsFunc(m.Sites, func(s Site) bool { return s.BytesPerDay > 0 })
}

// perDay sums what it has of each test in a cycle to a day.
func (p *Planner) perDay(inCycle []float64) (sum float64) {
	for test, n := range inCycle {
		if n > 0 {
			sum += n * day.Seconds() / p.period[test].Seconds()
		}
	}
	return sum
}

// uses are those of all interfaces, then of all sites.
func (p *Planner) uses() []use {
	tests := len(p.mesh.Tests)
	all := make([]use, 0, len(p.mesh.Interfaces)+len(p.mesh.Sites))
	add := func(name string, budget float64) {
		all = append(all, use{name, budget, make([]float64, tests), make([]float64, tests), make([]float64, tests)})
	}
	siteOf := map[string]int{}
	for _, i := range p.mesh.Interfaces {
		add(i.Name, i.BytesPerDay)
	}
	for _, s := range p.mesh.Sites {
		siteOf[s.Name] = len(all)
		add(s.Name, s.BytesPerDay)
	}
	of := make([]int, len(p.mesh.Interfaces))
	for i, iface := range p.mesh.Interfaces {
		of[i] = none
		if s, known := siteOf[iface.Site]; known {
			of[i] = s
		}
	}
	for i := range p.mesh.Tests {
		t := &p.mesh.Tests[i]
		alone := 0.0
		if t.Demand.Exclusive {
			alone = (duration(t) + p.guard).Seconds()
		}
		for _, pair := range t.Pairs {
			ends := [4]int{int(pair.Source), int(pair.Target), of[pair.Source], of[pair.Target]}
			if pair.Source == pair.Target {
				ends[1] = none // a tool of the host itself
			}
			if ends[2] == ends[3] {
				ends[2], ends[3] = none, none // not across the link
			}
			for _, end := range ends {
				if end != none {
					all[end].bytes[i] += t.Demand.Bytes
					all[end].runs[i]++
					all[end].alone[i] += alone
				}
			}
		}
	}
	return all
}
