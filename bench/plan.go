package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/schedule"
	"github.com/pathwise-net/pathwise/stat"
)

const (
	planRun   = 10 * time.Second      // each run fills its link for as long
	planFits  = 100                   // runs on demand
	planLong  = 1000 * 24 * time.Hour // longer than any mesh's cycle, to learn how long that is
	planSpare = 2                     // as many times as long as its cycle is the period of a test: there is room for runs on demand
)

// planFrom is when all plans begin.
var planFrom = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// plan prints what planning one cycle takes, how long the cycle is beside the least that is possible, and how soon a run on
// demand is placed in it.
func (b *bench) plan(ctx context.Context) error {
	fmt.Fprintf(b.out, "plan: a test of %v that fills links, each pair once in a cycle; planned again every %d cycles\n", planRun, planSpare)
	fmt.Fprintf(b.out, "%-38s%8s %23s %9s %28s %26s\n", "", "", "planned in, seconds", "MB", "cycle and bound, seconds", "a run on demand, ms")
	fmt.Fprintf(b.out, "%-38s%8s %11s %11s %9s %9s %9s %8s %8s %8s %8s %10s\n", "mesh", "runs", "by clock", "of a core", "allocated",
		"cycle", "bound", "ratio", "first", "median", "max", "conflicts")
	for _, n := range []int{10, 50, 200, 1000} {
		for _, m := range planMeshes(n) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := b.planOne(m.name, m.mesh); err != nil {
				return fmt.Errorf("plan %s: %w", m.name, err)
			}
		}
	}
	return nil
}

type namedMesh struct {
	name string
	mesh schedule.Mesh
}

// planMeshes are the meshes of n hosts whose cycles are looked at.
func planMeshes(n int) []namedMesh {
	full := schedule.Mesh{Tests: []schedule.Test{planTest(n, func(_, _ int) bool { return true })}}
	random := rand.New(rand.NewPCG(7, 1))
	sparse := schedule.Mesh{Tests: []schedule.Test{planTest(n, func(_, _ int) bool { return random.Float64() >= .2 })}}
	star := schedule.Mesh{Tests: []schedule.Test{planTest(n, func(i, j int) bool { return i == 0 || j == 0 })}}
	sites := full
	for i := range n {
		host := schedule.Interface{Name: hostName(i), Host: hostName(i)}
		full.Interfaces = append(full.Interfaces, host)
		host.Site = fmt.Sprint(i % 5)
		sites.Interfaces = append(sites.Interfaces, host)
	}
	sparse.Interfaces, star.Interfaces = full.Interfaces, full.Interfaces
	for i := range 5 {
		sites.Sites = append(sites.Sites, schedule.Site{Name: fmt.Sprint(i), AtOnce: max(2, n/20)})
	}
	return []namedMesh{
		{fmt.Sprintf("%d hosts, all pairs", n), full},
		{fmt.Sprintf("%d hosts, 20 %% excluded", n), sparse},
		{fmt.Sprintf("%d hosts, star", n), star},
		{fmt.Sprintf("%d hosts, 5 sites that let %d through", n, max(2, n/20)), sites},
	}
}

func planTest(n int, wanted func(source, target int) bool) schedule.Test {
	t := schedule.Test{Name: "bulk", Timing: schedule.Timing{Every: planLong},
		Demand: measure.Demand{DurationSeconds: planRun.Seconds(), Exclusive: true, Bytes: 1e9}}
	for i := range n {
		for j := range n {
			if i != j && wanted(i, j) {
				t.Pairs = append(t.Pairs, schedule.Pair{Source: int32(i), Target: int32(j)})
			}
		}
	}
	return t
}

// planOne prints a row.
func (b *bench) planOne(name string, m schedule.Mesh) error {
	p, err := schedule.New(m, 1)
	if err != nil {
		return err
	}
	cycle, _ := p.Cycle(planFrom)
	m.Tests[0].Timing.Every = planSpare * cycle
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	processor, err := processorTime(os.Getpid())
	if err != nil {
		return err
	}
	began := time.Now()
	if p, err = schedule.New(m, 1); err != nil {
		return err
	}
	runs := 0
	for range p.Runs(planFrom, planFrom.Add(planSpare*cycle)) {
		runs++
	}
	took := time.Since(began)
	now, err := processorTime(os.Getpid())
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	cycle, bound := p.Cycle(planFrom)
	conflicts := len(schedule.Verify(m, p.Runs(planFrom, planFrom.Add(planSpare*cycle))))
	fits, err := fitTimes(p, m)
	if err != nil {
		return err
	}
	s := stat.Summarize(fits)
	fmt.Fprintf(b.out, "%-38s%8d %11.3f %11.2f %9.1f %9.0f %9.0f %8.4f %8.3f %8.3f %8.3f %10d\n", name, runs, took.Seconds(),
		(now - processor).Seconds(), float64(after.TotalAlloc-before.TotalAlloc)/1e6, cycle.Seconds(), bound.Seconds(),
		cycle.Seconds()/bound.Seconds(), 1e3*fits[0], 1e3*s.Median, 1e3*s.Max, conflicts)
	return nil
}

// fitTimes are how many seconds it takes to place runs on demand, one at a time, beside all that is planned.
func fitTimes(p *schedule.Planner, m schedule.Mesh) (times []float64, err error) {
	hosts := len(m.Interfaces)
	for i := range planFits {
		pair := schedule.Pair{Source: int32(i % hosts), Target: int32((i + hosts/2) % hosts)}
		began := time.Now()
		_, err := p.Fit(planFrom.Add(time.Duration(i)*time.Minute), pair, m.Tests[0].Demand, planLong)
		if times = append(times, time.Since(began).Seconds()); err != nil {
			return nil, fmt.Errorf("place a run on demand: %w", err)
		}
	}
	return times, nil
}
