package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomMesh is a mesh of anything that a mesh can have.
func randomMesh(random *rand.Rand) Mesh {
	n := 2 + random.IntN(9)
	m := meshOf(n)
	m.Phases = []Phase{{Name: "deep", Timing: Timing{Every: time.Duration(1+random.IntN(6)) * time.Hour}}}
	pick := func(all ...float64) float64 { return all[random.IntN(len(all))] }
	if random.IntN(3) == 0 {
		for i := range m.Interfaces {
			m.Interfaces[i].Site = fmt.Sprint(random.IntN(3))
		}
		for i := range 1 + random.IntN(2) {
			m.Sites = append(m.Sites, Site{Name: fmt.Sprint(i), AtOnce: 1 + random.IntN(3)})
		}
	}
	for i := range 1 + random.IntN(4) {
		pairs := full(0, n)
		switch random.IntN(4) {
		case 0:
			pairs = star(random.IntN(n), 0, n)
		case 1:
			pairs = full(n/2, n)
		case 2:
			pairs = without(pairs, .3, random.Uint64())
		}
		every := time.Duration(pick(1, 5, 7, 10, 60, 100, 360) * float64(time.Minute))
		test := bulk(fmt.Sprint("t", i), pairs, pick(0.5, 2, 10, 10, 30, 200), every)
		test.Demand.Exclusive = random.IntN(4) > 0
		test.Slot = time.Duration(pick(0, 0, 5, 60) * float64(time.Second))
		test.Avoid = random.IntN(2) == 0
		switch random.IntN(6) {
		case 0:
			test.Timing.Sampling = Poisson
		case 1:
			test.Phase = "deep"
		case 2:
			test.Timing = Timing{Next: func(t time.Time) time.Time { return t.Truncate(every).Add(every) }, Text: every.String()}
		}
		m.Tests = append(m.Tests, test)
	}
	for range random.IntN(3) - 1 {
		from := time.Duration(random.IntN(24)) * time.Hour
		all := []time.Weekday{0, 1, 2, 3, 4, 5, 6}
		m.Closures = append(m.Closures, Closure{Hosts: []string{fmt.Sprint("h", random.IntN(n))}, Text: from.String(),
			Hours: Weekly(all, from, from+time.Duration(1+random.IntN(8))*time.Hour, time.UTC)})
	}
	return m
}

// TestRandomMeshes plans meshes of anything: never a conflict, no run twice, and none left out without a word.
func TestRandomMeshes(t *testing.T) {
	seeds := uint64(30)
	if raced {
		seeds = 5
	}
	for seed := range seeds {
		m := randomMesh(rand.New(rand.NewPCG(seed, 1)))
		p := plan(t, m, seed)
		runs := slices.Collect(p.Runs(midnight.Add(-time.Hour), midnight.Add(8*time.Hour))) // some begin before their cycle
		noConflict(t, m, runs)
		type turn struct {
			test  int32
			cycle int64
			pair  Pair
		}
		seen := map[turn]bool{}
		for _, r := range runs {
			k := turn{r.Test, r.Cycle, r.Pair}
			if seen[k] && m.timing(&m.Tests[r.Test]).Sampling == Periodic {
				t.Errorf("%v runs twice in a cycle", k)
			}
			seen[k] = true
		}
		missing, admitted, random := 0, 0, false
		for i := range m.Tests {
			test := &m.Tests[i]
			if !test.Demand.Exclusive || len(m.Closures) > 0 || test.Timing.Next != nil || m.timing(test).Sampling != Periodic {
				continue
			}
			period := int64(p.Period(i))
			for c := midnight.UnixNano()/period + 1; (c+2)*period < midnight.Add(8*time.Hour).UnixNano(); c++ {
				for _, pair := range test.Pairs {
					if !seen[turn{int32(i), c, pair}] {
						missing++
					}
				}
			}
		}
		for _, c := range p.components {
			random = random || c.arriving != nil // those with a short slot are often missed
			for _, n := range c.unplaced {
				admitted += n
			}
		}
		if missing > admitted || admitted > len(runs)/20 && !random && len(m.Closures) == 0 {
			t.Errorf("%d runs are missing, %d of %d were said to have no room", missing, admitted, len(runs))
		}
		if t.Failed() {
			t.Fatalf("seed %d: findings %v", seed, p.Findings())
		}
	}
}
