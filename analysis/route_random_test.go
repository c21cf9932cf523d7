package analysis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// randomTraces are traces of flows that are balanced at two hops of five, two ways each. Where quiet is more than 0, so often a hop is silent.
func randomTraces(random *rand.Rand, traces int, quiet float64) (all []*measure.Result) {
	at := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for i := range traces {
		hops := [][]string{{"x"}, {[]string{"a", "b"}[random.IntN(2)]}, {[]string{"c", "d"}[random.IntN(2)]}, {"y"}, {"z"}}
		for k := range hops[:4] {
			if random.Float64() < quiet {
				hops[k] = nil
			}
		}
		all = append(all, traceOf(fmt.Sprint(i), at.Add(time.Duration(i)*time.Minute), hops...))
	}
	return all
}

// Whatever traces of balanced flows come to, each change, each other route and all that take turns say where they differ; and it is seldom a change, the
// seldomer the more traces there are.
func TestRandomCourse(t *testing.T) {
	const series = 150
	for _, c := range []struct {
		traces int
		quiet  float64
		most   int // of all series that have a change
	}{{6, 0, 3}, {12, 0, 0}, {30, 0, 0}, {12, 0.2, 4}, {30, 0.2, 0}} {
		moved := 0
		for seed := range uint64(series) {
			course := CourseOf(randomTraces(rand.New(rand.NewPCG(seed, 2)), c.traces, c.quiet))
			moved += min(1, len(course.Moves))
			nowhere := 0
			for _, m := range course.Moves {
				if len(m.After.Changed) == 0 || m.Confidence < likely {
					nowhere++
				}
			}
			for _, b := range course.Brief {
				if len(b.Changed) == 0 {
					nowhere++
				}
			}
			for _, turns := range course.Turns {
				if len(turns.TTLs) == 0 {
					nowhere++
				}
			}
			if nowhere > 0 {
				t.Errorf("%+v, seed %d: %d parts of the course differ nowhere: %s", c, seed, nowhere, course.text())
			}
		}
		if moved > c.most {
			t.Errorf("%+v: %d of %d series have a change", c, moved, series)
		}
	}
}

// Routers that answer from several addresses by turns are one node each in a graph, though one of them is silent on some of the routes.
func TestRandomGraph(t *testing.T) {
	at := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	ways := [][][]string{
		hopsBy("x", "a", "y", "p", "r", "q", "z"),
		hopsBy("x", "a2", "y", "p", "", "q", "z"),
		hopsBy("x", "a", "y", "p", "r2", "q", "z"),
	}
	by := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 4))
		p := TracedPair{Source: "home", Target: "z"}
		for i := range 30 {
			p.Traces = append(p.Traces, traceOf(fmt.Sprint(i), at.Add(time.Duration(i)*time.Minute), ways[random.IntN(len(ways))]...))
		}
		p.Course = CourseOf(p.Traces)
		g := GraphOf([]TracedPair{p})
		if len(p.Course.Turns) == 0 || p.Course.Turns[0].How != Addresses || len(p.Course.Turns[0].Routes) < len(ways) {
			continue
		}
		by++
		several := ""
		for _, n := range g.Nodes {
			if len(n.Addresses) > 1 {
				several += fmt.Sprint(n.Addresses)
			}
		}
		// Where the route that is compared with the others is the silent one, r and r2 are not known to be one.
		if want := "[a a2][r r2]"; several != want && (several != "[a a2]" || slices.Contains(p.Course.Turns[0].TTLs, 5)) {
			t.Errorf("seed %d: routers with several addresses are %s, want %s: %s", seed, several, want, p.Course.text())
		}
	}
	if by < 20 {
		t.Errorf("%d series have routers that take turns with their addresses, want 20 at least", by)
	}
}
