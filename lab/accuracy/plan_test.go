package accuracy

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose/knowledge"
)

// published is the plan whose figures are in docs/accuracy.md.
func published(t *testing.T) []Sample { return planned(t, DefaultSeed, 30) }

func planned(t *testing.T, seed uint64, each int) []Sample {
	t.Helper()
	plan, err := Plan(seed, each)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// A fault that binds on no path is an error.
func TestNoPathBinds(t *testing.T) {
	c := cause{name: "never", controls: controls, strength: func(*rand.Rand, *Path) (float64, bool) { return 0, false }}
	if _, err := c.sample(1, 0); !errors.Is(err, errNeverBinds) {
		t.Errorf("got %v", err)
	}
}

// Samples are enough of each cause, are cases that can be played, and lie in the bounds of their strata; their labs differ, also from
// those of the calibrations, whose seeds are below ten.
func TestPlan(t *testing.T) {
	counts, seeds, names := map[Sort]int{}, map[uint64]bool{}, map[string]bool{}
	of := map[string]int{}
	for _, s := range published(t) {
		counts[s.Sort]++
		of[s.Cause]++
		if s.Seed < leastSeed || seeds[s.Seed] || names[s.Name] {
			t.Errorf("%s: seed %d or its name is not its own", s.Name, s.Seed)
		}
		seeds[s.Seed], names[s.Name] = true, true
		p := s.Path
		if p.Rate < 1e6 || p.Rate > 1e9 || p.RTT < 2e-3 || p.RTT > 0.2 || p.Queue < 6e3 || p.Control == "" {
			t.Errorf("%s: its path is out of bounds: %+v", s.Name, p)
		}
		c, err := s.Parse()
		if err != nil {
			t.Errorf("%v\n%s", err, s.Case)
			continue
		}
		if c.Name != s.Name || c.Finding != s.Expect[0].Finding || c.Steps[len(c.Steps)-1].Diagnose == nil {
			t.Errorf("%s: its case is %s, finding %s, or has no diagnosis at its end", s.Name, c.Name, c.Finding)
		}
		for _, e := range s.Expect {
			for _, id := range append(e.Family, e.Finding) {
				if knowledge.OfFinding(id).ID == "" {
					t.Errorf("%s: there is no finding %s", s.Name, id)
				}
			}
		}
	}
	if counts[Fault] < 800 || counts[Healthy] < 200 || counts[Two] < 100 {
		t.Errorf("too few samples: %v", counts)
	}
	for cause, n := range of {
		if n < 20 {
			t.Errorf("%s: %d samples, want 20 at least", cause, n)
		}
	}
	for _, pair := range mimics {
		for _, one := range pair {
			if of[one] == 0 {
				t.Errorf("pair %v: no samples of %s", pair, one)
			}
		}
	}
}

// Strengths are such that the fault should bind: what its model leaves is below half of what the path carries.
func TestFaultsShouldBind(t *testing.T) {
	modelled := 0
	for _, s := range published(t) {
		if s.Leaves == 0 || s.Cause == "outage" || s.Cause == "cross-traffic" || strings.HasSuffix(s.Name, "-000") {
			continue
		}
		modelled++
		if most := 0.5 * payloadShare * s.Path.Rate; s.Leaves > most && !isSeen(&s) {
			t.Errorf("%s: %s leaves %.3g bit/s, want %.3g at most", s.Name, s.Says, s.Leaves, most)
		}
	}
	if modelled < 300 {
		t.Errorf("%d samples have a model: this shows little", modelled)
	}
}

func isSeen(s *Sample) bool {
	for i := range causes {
		if c := &causes[i]; c.name == s.Cause {
			for _, one := range c.seen {
				if one.Path == s.Path {
					return true
				}
			}
		}
	}
	return false
}

// Each congestion control and each band is drawn about as often as others, where causes leave the choice.
func TestStrata(t *testing.T) {
	strata := map[string]int{}
	for _, s := range published(t) {
		if s.Sort == Healthy {
			strata[s.Path.Stratum()]++
		}
	}
	if len(strata) != cells*len(controls) {
		t.Errorf("%d strata of healthy paths, want %d", len(strata), cells*len(controls))
	}
	for name, n := range strata {
		if n < 5 || n > 20 {
			t.Errorf("%s: %d healthy paths, want 5 to 20", name, n)
		}
	}
}

// The same seed gives the same plan, another one another, and a shorter plan is the beginning of a longer one.
func TestPlanRepeats(t *testing.T) {
	first, short, other := planned(t, 7, 4), planned(t, 7, 2), planned(t, 8, 4)
	if !reflect.DeepEqual(first, planned(t, 7, 4)) || !reflect.DeepEqual(first[:len(short)], short) {
		t.Error("one seed gives two plans")
	}
	same := 0
	for i := range other {
		if other[i].Case == first[i].Case {
			same++
		}
	}
	if same > len(shallowSeen)+len(reorderedSeen) {
		t.Errorf("another seed gives %d samples again", same)
	}
}
