package diagnose

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// A way that takes longer is told where clocks allow it, and no clock that is off makes one.
func TestDelayAsymmetry(t *testing.T) {
	for _, c := range []struct {
		name           string
		there, back    float64 // seconds, of a round trip of 50 ms
		error          float64
		want           string // the first word of the place; "": it is no finding
		forwardOfClock float64
	}{
		{"alike", 0.025, 0.025, 0.001, "", 0},
		{"a detour there", 0.04, 0.01, 0.001, "path from bob to carol", 0},
		{"a detour back", 0.01, 0.04, 0.001, "path from carol to bob", 0},
		{"a fifth longer", 0.03, 0.02, 0.001, "", 0},
		{"a clock that may explain it", 0.04, 0.01, 0.01, "", 0},
		{"a clock that is off by as much as it may be", 0.025, 0.025, 0.01, "", 0.01},
		{"clocks that nothing keeps", 0.04, 0.01, 0.04, "", 0},
	} {
		r := measure.NewResult("owd", testStart)
		r.Metrics[measure.OneWay(measure.Forward, "min")] = c.there + c.forwardOfClock
		r.Metrics[measure.OneWay(measure.Reverse, "min")] = c.back - c.forwardOfClock
		r.Metrics[measure.OneWayError] = c.error
		d := Diagnose(append(with(fullPath).results(), r))
		checkFindings(t, d)
		got := ""
		for _, f := range d.Findings {
			if f.ID == delayAsymmetry.ID {
				got += f.Where
			}
		}
		if got != c.want || d.Verdict != Healthy {
			t.Errorf("%s: %q and %s, want %q", c.name, got, d.Verdict, c.want)
		}
	}
}

// One-way delays are asked for where both ends say how right their clocks are, these are right enough for the round trip, and the ways differ in
// their hops.
func TestOneWayIsAsked(t *testing.T) {
	for _, c := range []struct {
		name string
		off  float64 // each clock, in seconds; 0: nothing keeps it
		back float64 // hops, of 5 there
		want bool
	}{{"kept", 0.001, 7, true}, {"badly kept", 0.02, 7, false}, {"not kept", 0, 7, false}, {"as many hops", 0.001, 5, false}} {
		results := with(fullPath).results()
		for _, r := range results {
			r.Parameters["peer"] = "pathwise"
			if r.Kind == "throughput" && c.off > 0 {
				r.Clock.ErrorSeconds, r.TargetClock = &c.off, &measure.Clock{ErrorSeconds: &c.off}
			}
		}
		s := gather(results).ways[measure.Forward]
		s.set(HopsThere, exactly(5, nil))
		s.set(HopsBack, exactly(c.back, nil))
		plan := append(Plan(time.Second, measure.Forward), Step{Name: "both-ways"}) // which is asked for, too
		step, asked := ask(rules, s, plan)
		if asked = asked && step.Name == "owd"; asked != c.want {
			t.Errorf("%s: asked %v: %+v", c.name, asked, step)
		}
	}
}
