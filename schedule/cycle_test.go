package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestCycleLength holds one whole cycle against the lower bound. Run it with -v and without -race to see all ratios.
func TestCycleLength(t *testing.T) {
	type mesh struct {
		name  string
		mesh  Mesh
		most  float64 // ratio of cycle to bound
		seeds int
	}
	var meshes []mesh
	add := func(name string, m Mesh, most float64, seeds int) {
		meshes = append(meshes, mesh{name, m, most, seeds})
	}
	const long = 1000 * 24 * time.Hour // every cycle fits
	for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 9} {
		add(fmt.Sprintf("mesh of %d", n), meshOf(n, bulk("b", full(0, n), 10, time.Hour)), 1, 50)
	}
	for n, seeds := range map[int]int{10: 50, 50: 5, 200: 2, 1000: 1} {
		one := func(pairs []Pair) Test { return bulk("b", pairs, 10, long) }
		add(fmt.Sprintf("mesh of %d", n), meshOf(n, one(full(0, n))), 1.01, seeds)
		add(fmt.Sprintf("mesh of %d, 20 %% excluded", n), meshOf(n, one(without(full(0, n), .2, 7))), 1.01, seeds)
		add(fmt.Sprintf("star of %d", n), meshOf(n, one(star(0, 0, n))), 1.01, seeds)
		add(fmt.Sprintf("star of %d, 20 %% excluded", n), meshOf(n, one(without(star(0, 0, n), .2, 7))), 1.01, seeds)
		add(fmt.Sprintf("mesh of %d, three tools", n), meshOf(n, bulk("a", full(0, n), 10, long),
			bulk("b", full(0, n), 4, long), bulk("c", full(0, n), 30, long)), 1.01, min(seeds, 5))
		for _, limit := range []int{1, 2, max(3, n/20)} {
			m := meshOf(n, one(full(0, n)))
			for i := range m.Interfaces {
				m.Interfaces[i].Site = fmt.Sprint(i % 5)
			}
			for i := range 5 {
				m.Sites = append(m.Sites, Site{Name: fmt.Sprint(i), AtOnce: limit})
			}
			add(fmt.Sprintf("mesh of %d, five sites that let %d through", n, limit), m, 1.01, min(seeds, 3))
		}
	}
	slices.SortStableFunc(meshes, func(a, b mesh) int { return len(a.mesh.Interfaces) - len(b.mesh.Interfaces) })
	for _, m := range meshes {
		if raced && len(m.mesh.Interfaces) > 200 {
			continue
		}
		worst, cycle, bound := 0.0, time.Duration(0), time.Duration(0)
		for seed := range m.seeds {
			p := plan(t, m.mesh, uint64(seed))
			length, least := p.Cycle(midnight)
			if ratio := float64(length) / float64(least); ratio > worst {
				worst, cycle, bound = ratio, length, least
			}
		}
		t.Logf("%-50s cycle %10v  bound %10v  ratio %.4f  (worst of %d)", m.name, cycle, bound, worst, m.seeds)
		if worst > m.most || worst < 1 {
			t.Errorf("%s: %.4f of the bound, want 1 to %.2f", m.name, worst, m.most)
		}
	}
}
