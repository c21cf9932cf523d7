package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// window plans [midnight, midnight+length).
func window(p *Planner, length time.Duration) []Run {
	return slices.Collect(p.Runs(midnight, midnight.Add(length)))
}

// TestEveryPairOnce plans whole days of meshes of all sorts with several seeds: no conflict, and every pair of an
// exclusive test exactly once in each cycle.
func TestEveryPairOnce(t *testing.T) {
	seeds := uint64(8)
	if raced {
		seeds = 2
	}
	overnight := Weekly([]time.Weekday{0, 1, 2, 3, 4, 5, 6}, 20*time.Hour, 6*time.Hour, time.UTC)
	noon := Weekly([]time.Weekday{0, 1, 2, 3, 4, 5, 6}, 11*time.Hour, 13*time.Hour, time.UTC)
	sited := hosts(12)
	for i := range sited {
		sited[i].Site = string(rune('a' + i%3))
	}
	meshes := map[string]Mesh{
		"two":      meshOf(2, bulk("b", full(0, 2), 10, time.Hour)),
		"five":     meshOf(5, bulk("b", full(0, 5), 10, time.Hour)),
		"tight":    meshOf(10, bulk("b", full(0, 10), 9, 3*time.Minute)),
		"excluded": meshOf(20, bulk("b", without(full(0, 20), .2, 3), 10, 6*time.Hour)),
		"three tools": meshOf(8, bulk("a", full(0, 8), 10, 2*time.Hour), bulk("b", full(0, 8), 3, 2*time.Hour),
			bulk("c", full(0, 8), 60, 2*time.Hour)),
		"periods": meshOf(8, bulk("a", full(0, 8), 5, 10*time.Minute), bulk("b", full(0, 8), 60, 6*time.Hour),
			bulk("c", full(0, 8), 20, time.Hour)),
		"odd periods": meshOf(8, bulk("a", full(0, 8), 5, 7*time.Minute), bulk("b", star(0, 0, 8), 30, 100*time.Minute)),
		"groups": meshOf(12, bulk("a", full(0, 6), 10, time.Hour), bulk("b", full(6, 12), 30, time.Hour),
			bulk("c", full(3, 9), 10, time.Hour)),
		"overloaded": meshOf(10, bulk("a", full(0, 10), 10, time.Minute), bulk("b", full(0, 10), 20, 10*time.Minute)),
		"sites": {Interfaces: sited, Sites: []Site{{Name: "a", AtOnce: 1}, {Name: "b", AtOnce: 2}},
			Tests: []Test{bulk("b", full(0, 12), 10, time.Hour)}},
		"closed": {Interfaces: hosts(6), Tests: []Test{bulk("b", full(0, 6), 10, 24*time.Hour)},
			Closures: []Closure{{Hosts: []string{"h1"}, Hours: overnight, Text: "night"},
				{Sources: []string{"h2"}, Targets: []string{"h3"}, Hours: noon, Text: "noon"}}},
		"closed and tight": {Interfaces: hosts(6), Tests: []Test{bulk("b", full(0, 6), 4000, 24*time.Hour)},
			Closures: []Closure{{Hosts: []string{"h1"}, Hours: noon, Text: "noon"}}},
		"closed and short": {Interfaces: hosts(6),
			Tests:    []Test{bulk("b", full(0, 6), 10, 24*time.Hour), bulk("c", full(0, 6), 10, time.Hour)},
			Closures: []Closure{{Tests: []string{"b"}, Hours: overnight, Text: "night"}}},
		"phase": {Interfaces: hosts(6), Phases: []Phase{{"deep", Timing{Every: 6 * time.Hour}}},
			Tests: []Test{bulk("a", full(0, 6), 10, 10*time.Minute), inPhase(bulk("b", full(0, 6), 30, 0)),
				inPhase(bulk("c", full(0, 6), 5, 0)), inPhase(lightTest("d", full(0, 6), 5, 0))}},
		"no guard": {Interfaces: hosts(6), Guard: -1, Tests: []Test{bulk("b", full(0, 6), 10, 100*time.Second)}},
	}
	for name, m := range meshes {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds {
				p := plan(t, m, seed)
				runs := window(p, 24*time.Hour)
				noConflict(t, m, runs)
				for i := range m.Tests {
					if !m.Tests[i].Demand.Exclusive {
						continue
					}
					period := int64(p.Period(i))
					first := (midnight.UnixNano() + period - 1) / period
					last := midnight.Add(24*time.Hour).UnixNano()/period - 1
					once(t, runs, int32(i), m.Tests[i].Pairs, numbers(first, last)...)
				}
				if t.Failed() {
					t.Fatalf("seed %d, findings %v", seed, p.Findings())
				}
			}
		})
	}
}

func numbers(first, last int64) (all []int64) {
	for n := first; n <= last; n++ {
		all = append(all, n)
	}
	return all
}

func inPhase(t Test) Test {
	t.Phase = "deep"
	return t
}

// TestSameMeshSamePlan: a planner made again plans the same, whatever was asked before and in whatever windows.
func TestSameMeshSamePlan(t *testing.T) {
	m := Mesh{Interfaces: hosts(7), Tests: []Test{
		bulk("a", full(0, 7), 10, 20*time.Minute), bulk("b", full(0, 7), 30, time.Hour),
		poissonTest(bulk("c", full(0, 7), 5, 5*time.Hour)),
		lightTest("d", full(0, 7), 5, time.Minute), poissonTest(lightTest("e", full(0, 7), 5, 3*time.Minute))}}
	m.Tests[3].Avoid, m.Tests[3].Slot = true, 20*time.Second
	want := window(plan(t, m, 1), 3*time.Hour)
	p := plan(t, m, 1)
	window(p, 24*time.Hour)
	var got []Run
	for at := midnight; at.Before(midnight.Add(3 * time.Hour)); at = at.Add(13 * time.Minute) {
		until := at.Add(13 * time.Minute)
		if last := midnight.Add(3 * time.Hour); until.After(last) {
			until = last
		}
		got = append(got, slices.Collect(p.Runs(at, until))...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("windows of 13 minutes differ from one of 3 hours (-want +got):\n%s", diff)
	}
	if other := window(plan(t, m, 2), 3*time.Hour); cmp.Equal(want, other) {
		t.Error("another seed gives the same plan")
	}
}

func poissonTest(t Test) Test {
	t.Timing.Sampling = Poisson
	return t
}

// TestFreshOrder: cycles differ in their order and in which pairs share a round.
func TestFreshOrder(t *testing.T) {
	p := plan(t, meshOf(10, bulk("b", full(0, 10), 10, time.Hour)), 1)
	runs := window(p, 2*time.Hour)
	together := func(runs []Run) map[[2]Pair]bool {
		shared := map[[2]Pair]bool{}
		for _, a := range runs {
			for _, b := range runs {
				if a.Start == b.Start && a.Pair != b.Pair {
					shared[[2]Pair{a.Pair, b.Pair}] = true
				}
			}
		}
		return shared
	}
	first, second := together(runs[:90]), together(runs[90:])
	same := 0
	for pair := range first {
		if second[pair] {
			same++
		}
	}
	if same > len(first)/2 {
		t.Errorf("%d of %d pairs of runs share a round in both cycles", same, len(first))
	}
	empty := map[int]bool{} // the position that is not needed
	for cycle := range int64(10) {
		for i, edges := range p.roundsOf(p.components[0], 0, cycle).edges {
			if len(edges) == 0 {
				empty[i] = true
			}
		}
	}
	if len(empty) < 3 {
		t.Errorf("of 19 positions, only %d were ever left empty", len(empty))
	}
}

// TestApart counts pairs that are in adjacent rounds, in the other direction or with another tool.
func TestApart(t *testing.T) {
	for _, n := range []int{4, 6, 10, 30} {
		m := meshOf(n, bulk("a", full(0, n), 10, 6*time.Hour), bulk("b", full(0, n), 20, 6*time.Hour))
		met, rounds := 0, 0
		for seed := range uint64(10) {
			var last, now map[[2]int32]bool
			start := int64(-1)
			for _, r := range window(plan(t, m, seed), 6*time.Hour) {
				if r.Start != start {
					last, now, start = now, map[[2]int32]bool{}, r.Start
					rounds++
				}
				key := [2]int32{min(r.Source, r.Target), max(r.Source, r.Target)}
				now[key] = true
				if last[key] {
					met++
				}
			}
		}
		t.Logf("%d hosts: %d of %d rounds' neighbours meet", n, met, rounds)
		if most := map[int]int{4: 5, 6: 5}[n]; met > most {
			t.Errorf("%d hosts: %d pairs in adjacent rounds, want at most %d", n, met, most)
		}
	}
}

// TestLongDoesNotStarveShort: in each tenth of the cycle, each tool has about a tenth of its rounds.
func TestLongDoesNotStarveShort(t *testing.T) {
	m := meshOf(20, bulk("short", full(0, 20), 2, 6*time.Hour), bulk("long", full(0, 20), 120, 6*time.Hour))
	for seed := range uint64(5) {
		parts := [2][10]int{}
		for _, r := range window(plan(t, m, seed), 6*time.Hour) {
			parts[r.Test][(r.Start-midnight.UnixNano())*10/int64(6*time.Hour)]++
		}
		for tool, counts := range parts {
			for _, n := range counts {
				if n < 380/10-20 || n > 380/10+20 { // two rounds of ten runs
					t.Errorf("seed %d, tool %d: %v runs in tenths of the cycle", seed, tool, counts)
					break
				}
			}
		}
	}
}

// TestPhaseRunsTogether: rounds of a phase follow each other from the beginning of its cycle on.
func TestPhaseRunsTogether(t *testing.T) {
	m := Mesh{Interfaces: hosts(6), Phases: []Phase{{"deep", Timing{Every: 6 * time.Hour}}},
		Tests: []Test{inPhase(bulk("a", full(0, 6), 10, 0)), inPhase(bulk("b", full(0, 6), 20, 0))}}
	runs := window(plan(t, m, 1), 6*time.Hour)
	last := runs[len(runs)-1].End()
	if need := 12 * 32 * time.Second; last.Sub(midnight) > need {
		t.Errorf("a phase of %d runs ends %v after it began, want %v at most", len(runs), last.Sub(midnight), need)
	}
	noConflict(t, m, runs)
}

// TestCron: cycles begin when the function says.
func TestCron(t *testing.T) {
	daily := func(after time.Time) time.Time { // 02:00 and 14:00
		next := after.UTC().Truncate(12 * time.Hour).Add(2 * time.Hour)
		for !next.After(after) {
			next = next.Add(12 * time.Hour)
		}
		return next
	}
	test := bulk("b", full(0, 6), 10, 0)
	test.Timing = Timing{Next: daily, Text: "0 2,14 * * *"}
	ping := lightTest("p", full(0, 6), 1, 0)
	ping.Timing = test.Timing
	m := meshOf(6, test, ping, bulk("c", full(0, 6), 10, time.Hour))
	runs := window(plan(t, m, 1), 24*time.Hour)
	noConflict(t, m, runs)
	for _, hour := range []int{2, 14} {
		begin := midnight.Add(time.Duration(hour) * time.Hour)
		once(t, runs, 0, test.Pairs, begin.Unix())
		once(t, runs, 1, test.Pairs, begin.Unix())
	}
	for _, r := range runs {
		begin := time.Unix(r.Cycle, 0)
		if r.Test < 2 && (r.Begin().Before(begin) || r.Begin().After(begin.Add(5*time.Minute))) {
			t.Errorf("%v begins at %v", r, r.Begin())
		}
	}
}

// TestPoissonGaps holds the gaps of random tests against their distributions: the mean, and what part is beyond it.
func TestPoissonGaps(t *testing.T) {
	for _, c := range []struct {
		sampling Sampling
		test     Test
	}{
		{Poisson, lightTest("l", full(0, 10), 1, time.Minute)},
		{Geometric, lightTest("l", full(0, 10), 1, time.Minute)},
		{Poisson, bulk("x", full(0, 10), 1, 10*time.Minute)},
	} {
		c.test.Timing.Sampling = c.sampling
		m := meshOf(10, c.test)
		p := plan(t, m, 3)
		runs := window(p, 24*time.Hour)
		noConflict(t, m, runs)
		last, gaps, sum, beyond := map[Pair]int64{}, 0, 0.0, 0
		mean := float64(p.Period(0))
		for _, r := range runs {
			if before, ok := last[r.Pair]; ok {
				gaps++
				sum += float64(r.Start - before)
				if float64(r.Start-before) > mean {
					beyond++
				}
			}
			last[r.Pair] = r.Start
		}
		ratio, part := sum/float64(gaps)/mean, float64(beyond)/float64(gaps)
		t.Logf("%v %s: %d gaps, mean %.4f of the period, %.4f of them longer (1/e is 0.3679)", c.sampling, c.test.Name,
			gaps, ratio, part)
		if ratio < .96 || ratio > 1.04 || part < .34 || part > .40 {
			t.Errorf("%v: mean %.3f of the period, %.3f longer", c.sampling, ratio, part)
		}
	}
}

// TestLightSpread: a host's light runs are spread over the period, and keep their rhythm.
func TestLightSpread(t *testing.T) {
	m := meshOf(100, lightTest("l", full(0, 100), 1, time.Minute))
	runs := window(plan(t, m, 1), 2*time.Minute)
	first := map[Pair]int64{}
	perSecond := [60]int{}
	for _, r := range runs {
		if before, ok := first[r.Pair]; ok {
			if gap := r.Start - before; gap != int64(time.Minute) {
				t.Fatalf("%v runs again after %v", r.Pair, time.Duration(gap))
			}
			continue
		}
		first[r.Pair] = r.Start
		if r.Source == 0 || r.Target == 0 {
			perSecond[(r.Start-midnight.UnixNano())/1e9]++
		}
	}
	if len(first) != 9900 || slices.Max(perSecond[:]) > 12 {
		t.Errorf("%d pairs; a host has up to %d runs a second, on average 3.3", len(first), slices.Max(perSecond[:]))
	}
}

// TestTogether: runs of a test whose hosts measure each other all begin at the same moment, also beside exclusive ones.
func TestTogether(t *testing.T) {
	group := lightTest("g", []Pair{{0, 0}, {1, 1}, {2, 2}, {3, 3}}, 20, 10*time.Minute)
	group.Demand.Together, group.Avoid, group.Slot = true, true, time.Minute
	starts := map[int64]int{}
	for _, r := range window(plan(t, meshOf(4, bulk("b", full(0, 4), 10, 10*time.Minute), group), 1), time.Hour) {
		if r.Test == 1 {
			starts[r.Start]++
		}
	}
	for at, n := range starts {
		if n != 4 {
			t.Errorf("%d of 4 hosts begin at %v", n, time.Unix(0, at).UTC())
		}
	}
	if len(starts) != 6 {
		t.Errorf("%d moments in an hour, want 6", len(starts))
	}
}

// TestContinuous: runs that continue each other begin one after the other at the period, also beside exclusive ones, but for those that are closed.
func TestContinuous(t *testing.T) {
	stream := lightTest("s", full(0, 2), 60, time.Minute)
	stream.Demand.Continuous, stream.Avoid, stream.Slot = true, true, 10*time.Second
	m := meshOf(2, bulk("b", full(0, 2), 10, 10*time.Minute), stream)
	m.Closures = []Closure{{Tests: []string{"s"}, Hours: func(at time.Time) (bool, time.Time) {
		from := at.Truncate(time.Hour).Add(30 * time.Minute)
		switch {
		case at.Before(from):
			return false, from
		case at.Before(from.Add(5 * time.Minute)):
			return true, from.Add(5 * time.Minute)
		}
		return false, from.Add(time.Hour)
	}}}
	p := plan(t, m, 1)
	last, gaps := map[Pair]int64{}, map[Pair][]time.Duration{}
	for _, r := range window(p, 2*time.Hour) {
		if r.Test != 1 {
			continue
		}
		if gap := time.Duration(r.Start - last[r.Pair]); last[r.Pair] != 0 && gap != time.Minute {
			gaps[r.Pair] = append(gaps[r.Pair], gap)
		}
		last[r.Pair] = r.Start
	}
	for pair, all := range gaps {
		if len(all) != 2 || all[0] < 6*time.Minute || all[0] > 7*time.Minute || all[0]%time.Minute != 0 {
			t.Errorf("%v: gaps of %v, want two of those that are closed", pair, all)
		}
	}
	if len(last) != 2 || len(gaps) != 2 || len(p.Findings()) != 0 {
		t.Errorf("runs of %d pairs, gaps of %d, findings %v", len(last), len(gaps), p.Findings())
	}
}

// TestAvoid: light runs keep out of the way of exclusive ones as far as their slot reaches.
func TestAvoid(t *testing.T) {
	ping := lightTest("l", full(0, 6), 1, time.Minute)
	m := meshOf(6, bulk("b", full(0, 6), 10, 10*time.Minute), ping)
	meet := func(runs []Run) (n int) {
		for _, a := range runs {
			for _, b := range runs {
				shares := a.Source == b.Source || a.Source == b.Target || a.Target == b.Source || a.Target == b.Target
				if a.Test == 0 && b.Test == 1 && shares && a.Begin().Before(b.End()) && b.Begin().Before(a.End()) {
					n++
				}
			}
		}
		return n
	}
	before := window(plan(t, m, 1), 20*time.Minute)
	m.Tests[1].Avoid, m.Tests[1].Slot = true, 30*time.Second
	after := window(plan(t, m, 1), 20*time.Minute)
	if had, has := meet(before), meet(after); had < 20 || has != 0 {
		t.Errorf("%d light runs meet exclusive ones, %d when they avoid them", had, has)
	}
	if d := len(after) - len(before); d < -3 || d > 3 { // put off over the end, or over the beginning
		t.Errorf("%d runs, %d without avoiding", len(after), len(before))
	}
	for _, r := range after {
		if r.Slot < 0 || r.Test == 1 && r.Slot > 30*time.Second {
			t.Errorf("slot %v", r.Slot)
		}
	}
}

// TestSlots: an exclusive run may begin as late as its slot says without meeting another.
func TestSlots(t *testing.T) {
	test := bulk("b", full(0, 6), 10, 5*time.Minute)
	test.Slot = time.Minute
	m := meshOf(6, test)
	runs := window(plan(t, m, 1), 20*time.Minute)
	for i, a := range runs {
		for _, b := range runs[i+1:] {
			shares := a.Source == b.Source || a.Source == b.Target || a.Target == b.Source || a.Target == b.Target
			if shares && a.End().Add(a.Slot+DefaultGuard).After(b.Begin()) {
				t.Fatalf("%v of %v may last beyond %v", a, a.Begin(), b.Begin())
			}
		}
	}
	if longest := slices.MaxFunc(runs, func(a, b Run) int { return int(a.Slot - b.Slot) }).Slot; longest < 5*time.Second {
		t.Errorf("the longest slot is %v", longest)
	}
}

// TestFindings: what cannot be met is said, and the period stretched.
func TestFindings(t *testing.T) {
	limited := hosts(4)
	limited[0].BytesPerDay = 60e9 // of 144 GB that 6 pairs of 1 GB each hour come to
	stretched := func(kind Kind, test, where string, needs, has float64, pairs int) Finding {
		return Finding{Kind: kind, Test: test, Where: where, NeedsSeconds: needs, HasSeconds: has,
			RunsLeftOutPerDay: float64(pairs) * 86400 * (1/has - 1/needs)}
	}
	uneven := bulk("b", []Pair{{0, 1}, {1, 0}, {2, 3}}, 10, time.Hour)
	uneven.Bytes = []float64{2e9, 3e9, 9e9}
	slower := bulk("b", full(0, 2), 10, time.Hour)
	slower.Beyond = []Beyond{{"h2", OverRate, 4, 1e9, 1e8, 96}, {"X", OverBudget, 2, 5e9, 1e9, 48}}
	twoPorts := hosts(4)
	twoPorts[0].Host, twoPorts[1].Host = "h", "h"
	for _, c := range []struct {
		name string
		mesh Mesh
		want []Finding
	}{
		{"fits", meshOf(4, bulk("b", full(0, 4), 10, time.Hour)), nil},
		{"just fits", meshOf(4, bulk("b", full(0, 4), 9, time.Minute)), nil},
		{"cycle too long", meshOf(4, bulk("b", full(0, 4), 10, time.Minute)),
			[]Finding{stretched(CycleTooLong, "b", "", 77, 60, 12)}},
		{"light run too long", meshOf(2, lightTest("l", full(0, 2), 90, time.Minute)),
			[]Finding{stretched(RunTooLong, "l", "", 90, 60, 2)}},
		{"exclusive run too long", meshOf(2, bulk("b", full(0, 2), 90, time.Minute)),
			[]Finding{stretched(RunTooLong, "b", "", 273, 60, 2)}},
		{"overloaded", meshOf(4, bulk("a", full(0, 4), 9, 2*time.Minute), bulk("b", full(0, 4), 19, 2*time.Minute)),
			[]Finding{stretched(Overloaded, "a", "", 190, 120, 12), stretched(Overloaded, "b", "", 190, 120, 12)}},
		{"over budget", Mesh{Interfaces: limited, Tests: []Test{bulk("b", full(0, 4), 10, time.Hour)}},
			[]Finding{stretched(OverBudget, "b", "h0", 8640, 3600, 12)}},
		{"over budget by what each pair moves", Mesh{Interfaces: limited, Tests: []Test{uneven}}, // 24 * 5 GB of 60
			[]Finding{stretched(OverBudget, "b", "h0", 7200, 3600, 3)}},
		{"over a host's budget", Mesh{Interfaces: twoPorts, Hosts: []Host{{"h", 60e9}}, Tests: []Test{bulk("b", []Pair{{0, 2}, {3, 1}, {2, 3}}, 10, time.Hour)}},
			nil},
		{"over a host's budget by both its interfaces", Mesh{Interfaces: twoPorts, Hosts: []Host{{"h", 24e9}}, Tests: []Test{bulk("b", []Pair{{0, 2}, {3, 1}, {2, 3}}, 10, time.Hour)}},
			[]Finding{stretched(OverBudget, "b", "h", 7200, 3600, 3)}},
		{"left out", meshOf(4, slower), []Finding{
			{Kind: OverRate, Test: "b", Where: "h2", PairsLeftOut: 4, NeedsBitsPerSecond: 1e9, HasBitsPerSecond: 1e8, RunsLeftOutPerDay: 96},
			{Kind: OverBudget, Test: "b", Where: "X", PairsLeftOut: 2, NeedsBytes: 5e9, HasBytes: 1e9, RunsLeftOutPerDay: 48}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan(t, c.mesh, 1)
			got := p.Findings()
			slices.SortStableFunc(got, func(a, b Finding) int { return strings.Compare(a.Test, b.Test) })
			if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for i := range c.mesh.Tests {
				for _, f := range got {
					if f.Test == c.mesh.Tests[i].Name && f.PairsLeftOut == 0 && p.Period(i).Seconds() != f.NeedsSeconds {
						t.Errorf("period is %v, finding says %g s", p.Period(i), f.NeedsSeconds)
					}
				}
			}
			noConflict(t, c.mesh, window(p, 2*time.Hour))
		})
	}
}

// TestBadMesh: what contradicts itself is refused in one line.
func TestBadMesh(t *testing.T) {
	good := func() Mesh { return meshOf(3, bulk("b", full(0, 3), 10, time.Hour)) }
	for name, spoil := range map[string]func(*Mesh){
		"name twice":      func(m *Mesh) { m.Interfaces[1].Name = "h0" },
		"test twice":      func(m *Mesh) { m.Tests = append(m.Tests, m.Tests[0]) },
		"no period":       func(m *Mesh) { m.Tests[0].Timing.Every = 0 },
		"no duration":     func(m *Mesh) { m.Tests[0].Demand.DurationSeconds = 0 },
		"unknown phase":   func(m *Mesh) { m.Tests[0].Phase = "x" },
		"pair out of it":  func(m *Mesh) { m.Tests[0].Pairs = []Pair{{0, 3}} },
		"exclusive alone": func(m *Mesh) { m.Tests[0].Pairs = []Pair{{1, 1}} },
		"no hours":        func(m *Mesh) { m.Closures = []Closure{{Hosts: []string{"h1"}}} },
	} {
		m := good()
		spoil(&m)
		_, err := New(m, 1)
		var bad interface{ BadInput() bool }
		if bad, _ = err.(interface{ BadInput() bool }); bad == nil || !bad.BadInput() {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if _, err := New(Mesh{}, 1); err != nil {
		t.Errorf("an empty mesh: %v", err)
	}
}
