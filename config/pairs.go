package config

import (
	"iter"
	"time"
)

// Pairs returns source and target of each pair of a test, by number of host: those whose hosts are online, whose source
// runs our programs, and that no exclusion parts at all times. A tool that measures its host has the host as both.
func (m *Mesh) Pairs(t *Test) iter.Seq2[int, int] {
	g := m.Group(t.Group)
	return func(yield func(int, int) bool) {
		for s, d := range g.all() {
			if !m.runs(s) || m.Hosts[d].Offline || parted(t.always, s, d) {
				continue
			}
			if !yield(s, d) {
				return
			}
		}
	}
}

// runs says whether a host can be a source now.
func (m *Mesh) runs(host int) bool {
	h := &m.Hosts[host]
	return !h.Offline && h.Reach != ReachResponder
}

// Active says whether a test is to run at all: it and its tool are online.
func (m *Mesh) Active(t *Test) bool { return !t.Offline && !m.Tool(t.Tool).Offline }

// Allowed says whether no hours keep a pair of a test from running at any moment between two times.
func (m *Mesh) Allowed(t *Test, source, target int, from, to time.Time) bool {
	for _, x := range t.timed {
		if x.parts(source, target) && x.during(from, to) {
			return false
		}
	}
	return true
}

// Timed says whether any hours apply to a test, so that Allowed need be asked.
func (t *Test) Timed() bool { return len(t.timed) > 0 }

// Excluded returns the exclusion that forbids a tool between two hosts between two times, or nil: for a run on demand.
func (m *Mesh) Excluded(tool string, source, target int, from, to time.Time) *Exclusion {
	for i := range m.Exclusions {
		x := &m.Exclusions[i]
		if len(x.Tests) == 0 && x.of(tool, "") && x.parts(source, target) && x.during(from, to) {
			return x
		}
	}
	return nil
}

// bind gives each test its exclusions: those that hold always, and those of some hours.
func (m *Mesh) bind() {
	for i := range m.Tests {
		t := &m.Tests[i]
		for j := range m.Exclusions {
			x := &m.Exclusions[j]
			switch {
			case !x.of(t.Tool, t.Name):
			case len(x.Hours) > 0:
				t.timed = append(t.timed, x)
			default:
				t.always = append(t.always, x)
			}
		}
	}
}

func parted(all []*Exclusion, source, target int) bool {
	for _, x := range all {
		if x.parts(source, target) {
			return true
		}
	}
	return false
}

// all returns every pair of the group, each once.
func (g *Group) all() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		switch g.Shape {
		case ShapeList:
			for _, h := range g.Left {
				if !yield(h, h) {
					return
				}
			}
		case ShapePairs:
			for _, p := range g.Pairs {
				if !yield(p[0], p[1]) {
					return
				}
			}
		case ShapeMesh:
			cross(g.Left, g.Left, nil, yield)
		default:
			left, right := set(g.Left), set(g.Right)
			if cross(g.Left, g.Right, nil, yield) && !g.OneWay { // not again those that both passes have
				cross(g.Right, g.Left, func(s, d int) bool { return left[s] && right[d] }, yield)
			}
		}
	}
}

// cross yields each of the sources with each other of the targets, but for those to skip. It says whether to go on.
func cross(sources, targets []int, skip func(s, d int) bool, yield func(int, int) bool) bool {
	for _, s := range sources {
		for _, d := range targets {
			if s == d || skip != nil && skip(s, d) {
				continue
			}
			if !yield(s, d) {
				return false
			}
		}
	}
	return true
}

func set(list []int) map[int]bool {
	all := map[int]bool{}
	for _, v := range list {
		all[v] = true
	}
	return all
}
