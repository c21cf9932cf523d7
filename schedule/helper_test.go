package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// midnight is when the tests' plans begin.
var midnight = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// hosts are n interfaces of n hosts.
func hosts(n int) []Interface {
	all := make([]Interface, n)
	for i := range all {
		all[i] = Interface{Name: fmt.Sprintf("h%d", i), Host: fmt.Sprintf("h%d", i)}
	}
	return all
}

// meshOf is a mesh of n hosts.
func meshOf(n int, tests ...Test) Mesh { return Mesh{Interfaces: hosts(n), Tests: tests} }

// full is every directed pair of hosts [from, until).
func full(from, until int) (pairs []Pair) {
	for i := from; i < until; i++ {
		for j := from; j < until; j++ {
			if i != j {
				pairs = append(pairs, Pair{int32(i), int32(j)})
			}
		}
	}
	return pairs
}

// star is every pair of a hub and n hosts from first on, both ways.
func star(hub, first, n int) (pairs []Pair) {
	for i := first; i < first+n; i++ {
		if i != hub {
			pairs = append(pairs, Pair{int32(hub), int32(i)}, Pair{int32(i), int32(hub)})
		}
	}
	return pairs
}

// without leaves out a share of pairs at random.
func without(pairs []Pair, share float64, seed uint64) (kept []Pair) {
	random := rand.New(rand.NewPCG(seed, 1))
	for _, p := range pairs {
		if random.Float64() >= share {
			kept = append(kept, p)
		}
	}
	return kept
}

// bulk is an exclusive test.
func bulk(name string, pairs []Pair, seconds float64, every time.Duration) Test {
	return Test{Name: name, Pairs: pairs, Demand: measure.Demand{DurationSeconds: seconds, Exclusive: true, Bytes: 1e9},
		Timing: Timing{Every: every}}
}

// light is a test that shares.
func lightTest(name string, pairs []Pair, seconds float64, every time.Duration) Test {
	return Test{Name: name, Pairs: pairs, Demand: measure.Demand{DurationSeconds: seconds, Bytes: 1e3},
		Timing: Timing{Every: every}}
}

func plan(t testing.TB, m Mesh, seed uint64) *Planner {
	t.Helper()
	p, err := New(m, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// once checks that each pair of the test has exactly one run in each of the cycles.
func once(t testing.TB, runs []Run, test int32, pairs []Pair, cycles ...int64) {
	t.Helper()
	type turn struct {
		cycle int64
		pair  Pair
	}
	seen := map[turn]int{}
	for _, r := range runs {
		if r.Test == test {
			seen[turn{r.Cycle, r.Pair}]++
		}
	}
	for _, cycle := range cycles {
		missing, several := 0, 0
		for _, p := range pairs {
			switch n := seen[turn{cycle, p}]; {
			case n == 0:
				missing++
			case n > 1:
				several++
			}
		}
		if missing+several > 0 {
			t.Errorf("cycle %d of test %d: of %d pairs, %d have no run and %d several", cycle, test, len(pairs), missing,
				several)
		}
	}
}

// noConflict checks that an independent eye finds no conflict.
func noConflict(t testing.TB, m Mesh, runs []Run) {
	t.Helper()
	for i, c := range Verify(m, func(yield func(Run) bool) {
		for _, r := range runs {
			if !yield(r) {
				return
			}
		}
	}) {
		if i < 3 {
			t.Errorf("%v %v: %s", c.Run.Begin(), c.Run, c.Why)
		}
	}
}
