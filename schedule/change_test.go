package schedule

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// named is a run by names, so that those of different meshes can be compared.
type named struct {
	Test, Source, Target string
	Start                int64
}

func names(m Mesh, runs []Run) (all []named) {
	for _, r := range runs {
		all = append(all, named{m.Tests[r.Test].Name, m.Interfaces[r.Source].Name, m.Interfaces[r.Target].Name, r.Start})
	}
	return all
}

func between(p *Planner, from, until time.Time) []Run { return slices.Collect(p.Runs(from, until)) }

// changing is a mesh with tests of all sorts among n hosts.
func changing(n int) Mesh {
	m := Mesh{Interfaces: hosts(n), Tests: []Test{
		bulk("bulk", full(0, n), 10, 2*time.Hour), bulk("fast", full(0, n), 2, 20*time.Minute),
		lightTest("ping", full(0, n), 5, time.Minute), poissonTest(lightTest("loss", full(0, n), 5, 2*time.Minute))}}
	m.Tests[2].Avoid, m.Tests[2].Slot = true, 20*time.Second
	return m
}

// TestChange adds and removes hosts in mid-cycle, and changes back, at many moments.
func TestChange(t *testing.T) {
	for _, hosts := range [][2]int{{8, 9}, {9, 8}, {8, 8}, {6, 12}} {
		first, step := midnight.UnixNano()/int64(time.Minute), 17
		if raced {
			step = 53
		}
		for minutes := 1; minutes < 120; minutes += step {
			old, m := changing(hosts[0]), changing(hosts[1])
			p := plan(t, old, 1)
			now := midnight.Add(time.Duration(minutes) * time.Minute)
			q, err := p.Change(m, now)
			if err != nil {
				t.Fatal(err)
			}
			before := between(p, midnight, now)
			after := between(q, now, midnight.Add(4*time.Hour))
			all := append(slices.Clone(before), after...)
			big := m
			if hosts[0] > hosts[1] {
				big = old
			}
			noConflict(t, big, all)

			// What is about to begin stays: of hosts that stay, all, and at the same moment.
			freeze := now.Add(DefaultFreeze)
			var want []named
			for _, r := range names(old, between(p, now, freeze)) {
				if r.Source != "h8" && r.Target != "h8" || hosts[1] > 8 {
					want = append(want, r)
				}
			}
			got := names(m, between(q, now, freeze))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%v, %v: the next %v (-old +new):\n%s", hosts, now, DefaultFreeze, diff)
			}

			// In the cycle that goes on no pair runs twice, and each that was there has its turn; in the next all do.
			stayed := full(0, min(hosts[0], hosts[1]))
			for test, cycle := range []time.Duration{2 * time.Hour, 20 * time.Minute} {
				number := now.Add(DefaultFreeze).UnixNano() / int64(cycle)
				once(t, keepPairs(all, min(hosts[0], hosts[1])), int32(test), stayed, number)
				once(t, all, int32(test), m.Tests[test].Pairs, number+1)
			}
			minute := now.UnixNano() / int64(time.Minute)
			once(t, keepPairs(all, min(hosts[0], hosts[1])), 2, stayed, numbers(max(minute-5, first+1), minute+5)...)

			if t.Failed() {
				t.Fatalf("%v hosts, changed at %v", hosts, now)
			}
		}
	}
}

func keepPairs(runs []Run, n int) (kept []Run) {
	for _, r := range runs {
		if int(r.Source) < n && int(r.Target) < n {
			kept = append(kept, r)
		}
	}
	return kept
}

// TestLightKeepsRhythm: a new host moves no light run of the others.
func TestLightKeepsRhythm(t *testing.T) {
	old, m := changing(8), changing(9)
	old.Tests, m.Tests = old.Tests[2:], m.Tests[2:]
	p := plan(t, old, 1)
	now := midnight.Add(17 * time.Minute)
	q, err := p.Change(m, now)
	if err != nil {
		t.Fatal(err)
	}
	want := names(old, between(p, now, now.Add(time.Hour)))
	got := names(m, keepPairs(between(q, now, now.Add(time.Hour)), 8))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs of pairs that stay (-old +new):\n%s", diff)
	}
}

// TestResume: a planner made again from its State, as JSON, plans the same; before a change the State is next to
// nothing.
func TestResume(t *testing.T) {
	p := plan(t, changing(8), 5)
	now := midnight.Add(50 * time.Minute)
	check := func(p *Planner, m Mesh, most int) {
		t.Helper()
		data, err := json.Marshal(p.State(now))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > most {
			t.Errorf("state has %d bytes, want %d at most: %s", len(data), most, data)
		}
		var s State
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		again, err := Resume(m, s, now.Add(time.Minute), nil)
		if err != nil {
			t.Fatal(err)
		}
		want, got := between(p, now, now.Add(5*time.Hour)), between(again, now, now.Add(5*time.Hour))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after a restart (-want +got):\n%s", diff)
		}
	}
	check(p, changing(8), 100)
	q, err := p.Change(changing(9), now)
	if err != nil {
		t.Fatal(err)
	}
	check(q, changing(9), 20_000)
	if _, err := Resume(changing(8), State{Schema: "x"}, now, nil); err == nil {
		t.Error("a state of another layout is read")
	}
}

// TestResumeChanged: a mesh that changed while nobody planned goes on from what was last seen of each pair.
func TestResumeChanged(t *testing.T) {
	old, m := changing(8), changing(9)
	p := plan(t, old, 5)
	now := midnight.Add(50 * time.Minute)
	before := between(p, midnight, now)
	seen := map[[3]string]time.Time{}
	for _, r := range before {
		n := names(old, []Run{r})[0]
		seen[[3]string{n.Test, n.Source, n.Target}] = r.Begin()
	}
	last := func(test, source, target string) time.Time { return seen[[3]string{test, source, target}] }
	q, err := Resume(m, p.State(now), now, last)
	if err != nil {
		t.Fatal(err)
	}
	all := append(before, between(q, now, midnight.Add(4*time.Hour))...)
	noConflict(t, m, all)
	once(t, keepPairs(all, 8), 0, full(0, 8), now.UnixNano()/int64(2*time.Hour))
	once(t, all, 0, full(0, 9), now.UnixNano()/int64(2*time.Hour)+1)
}

// TestChangeKeepsDemands: what was promised on demand is met by nothing of the plan that comes after.
func TestChangeKeepsDemands(t *testing.T) {
	for seed := range uint64(20) {
		m := meshOf(6, bulk("b", full(0, 6), 10, 10*time.Minute))
		p := plan(t, m, seed)
		now := midnight.Add(5 * time.Minute)
		var demands []Run
		for i := range 5 {
			run, err := p.Fit(now.Add(time.Duration(i+1)*time.Minute), Pair{0, 1}, tenSeconds, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			p.Commit(run)
			demands = append(demands, run)
		}
		m.Tests[0].Demand.DurationSeconds = 11
		q, err := p.Change(m, now)
		if err != nil {
			t.Fatal(err)
		}
		all := append(between(q, now, now.Add(time.Hour)), demands...)
		slices.SortFunc(all, compareRuns)
		noConflict(t, m, all)
		once(t, all, 0, full(0, 6), now.UnixNano()/int64(10*time.Minute)+1)
	}
}
