package schedule

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

var tenSeconds = measure.Demand{DurationSeconds: 10, Exclusive: true}

// TestFit fits in many runs on demand one after the other, and has all of them verified together with the plan.
func TestFit(t *testing.T) {
	sited := hosts(10)
	for i := range sited[:5] {
		sited[i].Site = "s"
	}
	for name, m := range map[string]Mesh{
		"empty":  {Interfaces: hosts(10)},
		"loose":  meshOf(10, bulk("b", full(0, 10), 10, time.Hour)),
		"frames": meshOf(10, bulk("b", full(0, 10), 2, 2*time.Minute)),
		"sites": {Interfaces: sited, Sites: []Site{{Name: "s", AtOnce: 1}},
			Tests: []Test{bulk("b", full(0, 10), 10, 20*time.Minute)}},
		"two": meshOf(10, bulk("b", full(0, 5), 10, time.Hour), bulk("c", full(5, 10), 10, 20*time.Minute)),
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, m, 1)
			random := rand.New(rand.NewPCG(1, 1))
			all := window(p, 3*time.Hour)
			for i := range 60 {
				now := midnight.Add(time.Duration(i) * time.Minute)
				pair := Pair{int32(random.IntN(5)), int32(5 + random.IntN(5))}
				run, err := p.Fit(now, pair, tenSeconds, time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				if run.Begin().Before(now) || run.Begin().After(now.Add(time.Hour)) {
					t.Errorf("asked at %v, starts %v", now, run.Begin())
				}
				p.Commit(run)
				all = append(all, run)
			}
			slices.SortFunc(all, compareRuns)
			noConflict(t, m, all)
		})
	}
}

// TestFitAtOnce: where nothing is in the way a run starts now; a light one always does.
func TestFitAtOnce(t *testing.T) {
	m := meshOf(4, bulk("b", full(0, 2), 3000, 2*time.Hour))
	p := plan(t, m, 1)
	first := window(p, 2*time.Hour)[0]
	now := first.Begin().Add(time.Minute)
	if run, err := p.Fit(now, Pair{2, 3}, tenSeconds, 0); err != nil || !run.Begin().Equal(now) {
		t.Errorf("free hosts: %v, %v", run.Begin(), err)
	}
	if run, err := p.Fit(now, Pair{0, 1}, measure.Demand{DurationSeconds: 1}, 0); err != nil || !run.Begin().Equal(now) {
		t.Errorf("a light run: %v, %v", run.Begin(), err)
	}
	_, err := p.Fit(now, Pair{0, 1}, tenSeconds, time.Minute)
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Earliest.Before(first.End()) || busy.Earliest.After(first.End().Add(time.Hour)) ||
		err.Error() != "free at "+busy.Earliest.Format(time.RFC3339) {
		t.Errorf("busy hosts until %v: %v", first.End(), err)
	}
	always := func(time.Time) (bool, time.Time) { return true, time.Time{} }
	m.Closures = []Closure{{Hosts: []string{"h2"}, Hours: always, Text: "always"}}
	_, err = plan(t, m, 1).Fit(now, Pair{2, 3}, tenSeconds, time.Hour)
	searched := now.Add(2 * time.Hour).Format(time.RFC3339)
	if !errors.As(err, &busy) || !busy.Earliest.IsZero() || err.Error() != "not free before "+searched {
		t.Errorf("a host that is always closed: %v", err)
	}
}

// thousand is a full mesh of n hosts with one exclusive test of ten seconds, and a light star.
func thousand(n int) Mesh {
	return Mesh{Interfaces: hosts(n), Tests: []Test{bulk("b", full(0, n), 10, 12*time.Hour),
		lightTest("l", star(0, 0, n), 1, 10*time.Minute)}}
}

// BenchmarkPlan plans one cycle of all 999,000 pairs of 1,000 hosts.
func BenchmarkPlan(b *testing.B) {
	m := thousand(1000)
	m.Tests = m.Tests[:1]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		n := 0
		for range plan(b, m, uint64(i)).Runs(midnight, midnight.Add(12*time.Hour)) {
			n++
		}
		if n != 999_000 {
			b.Fatal(n)
		}
	}
}

// BenchmarkSummarize plans the same, has it verified and reckons the load.
func BenchmarkSummarize(b *testing.B) {
	m := thousand(1000)
	m.Tests = m.Tests[:1]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := plan(b, m, uint64(i)).Summarize(midnight, midnight.Add(12*time.Hour))
		if s.Conflicts > 0 || s.ExclusiveRuns != 999_000 {
			b.Fatalf("%+v", s)
		}
	}
}

// BenchmarkFit fits a run on demand into that plan.
func BenchmarkFit(b *testing.B) {
	p := plan(b, thousand(1000), 1)
	for range p.Runs(midnight, midnight.Add(12*time.Hour)) {
	}
	random := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		now := midnight.Add(time.Duration(random.IntN(10*3600)) * time.Second)
		pair := Pair{int32(random.IntN(500)), int32(500 + random.IntN(500))}
		if _, err := p.Fit(now, pair, tenSeconds, 2*time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkColour colours 999,000 edges.
func BenchmarkColour(b *testing.B) {
	g := &graph{vertices: 1000, edges: full(0, 1000)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if left := newColouring(g, g.rounds(), nil, rand.New(rand.NewPCG(uint64(i), 1))).run(); left > 0 {
			b.Log(left, "edges left")
		}
	}
}
