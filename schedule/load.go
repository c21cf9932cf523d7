package schedule

import (
	"slices"
	"time"
)

const day = 24 * time.Hour

// use is what tests move through one interface, or all of a host, or across one site's link.
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
		slices.ContainsFunc(m.Hosts, func(h Host) bool { return h.BytesPerDay > 0 }) ||
		slices.ContainsFunc(m.Sites, func(s Site) bool { return s.BytesPerDay > 0 })
}

// perDay returns what something is used for in a day, of what each test uses of it in a cycle.
func (p *Planner) perDay(inCycle []float64) (sum float64) {
	for test, n := range inCycle {
		if n > 0 {
			sum += n * day.Seconds() / p.period[test].Seconds()
		}
	}
	return sum
}

// bytesOf returns how many bytes a run of one pair of the test moves.
func (t *Test) bytesOf(pair int) float64 {
	if t.Bytes != nil {
		return t.Bytes[pair]
	}
	return t.Demand.Bytes
}

// uses returns what each interface is used for, then each site, then each host that has a limit of its own.
func (p *Planner) uses() []use {
	tests := len(p.mesh.Tests)
	var all []use
	add := func(name string, budget float64) int {
		all = append(all, use{name, budget, make([]float64, tests), make([]float64, tests), make([]float64, tests)})
		return len(all) - 1
	}
	for _, i := range p.mesh.Interfaces {
		add(i.Name, i.BytesPerDay)
	}
	sites, hosts := map[string]int{}, map[string]int{}
	for _, s := range p.mesh.Sites {
		sites[s.Name] = add(s.Name, s.BytesPerDay)
	}
	for _, h := range p.mesh.Hosts {
		hosts[h.Name] = add(h.Name, h.BytesPerDay)
	}
	siteOf, hostOf := make([]int, len(p.mesh.Interfaces)), make([]int, len(p.mesh.Interfaces))
	for i, iface := range p.mesh.Interfaces {
		siteOf[i], hostOf[i] = indexOr(sites, iface.Site), indexOr(hosts, iface.Host)
	}
	for i := range p.mesh.Tests {
		t := &p.mesh.Tests[i]
		alone := 0.0
		if t.Demand.Exclusive {
			alone = (duration(t) + p.guard).Seconds()
		}
		for j, pair := range t.Pairs {
			ends := [6]int{int(pair.Source), int(pair.Target), siteOf[pair.Source], siteOf[pair.Target], hostOf[pair.Source], hostOf[pair.Target]}
			for k := 0; k < len(ends); k += 2 {
				switch same := ends[k] == ends[k+1]; {
				case same && k == 2:
					ends[k], ends[k+1] = none, none // not across the link
				case same:
					ends[k+1] = none // a tool of the host itself
				}
			}
			for _, end := range ends {
				if end != none {
					all[end].bytes[i] += t.bytesOf(j)
					all[end].runs[i]++
					all[end].alone[i] += alone
				}
			}
		}
	}
	return all
}

// indexOr is the index of a name, or none.
func indexOr(index map[string]int, name string) int {
	if i, known := index[name]; known {
		return i
	}
	return none
}
