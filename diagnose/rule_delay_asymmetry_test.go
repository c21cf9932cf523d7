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
		{"a clock that is off by more than its kernel says", 0.025, 0.025, 0.001, "", 0.04},
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

// By recordings of paths of 50 ms: ways of 45 and 5 ms and of 15 and 35 ms are told, as a remark, and ways of 22 and 28 ms and of paths that are alike
// are not, though the clocks are as well kept.
func TestDelayAsymmetryRecorded(t *testing.T) {
	for fault, want := range map[string]string{
		"delay-asymmetry": "path from a to b", "longer-back": "path from b to a", "ways-nearly-alike": "", "healthy-50mbit": "",
	} {
		d, got := readRecording(t, "testdata/faults/"+fault+".json.gz").Diagnose(), ""
		for _, f := range d.Findings {
			if f.ID == delayAsymmetry.ID && f.Severity == measure.Info {
				got += f.Where
			}
		}
		if got != want || d.Verdict != Healthy {
			t.Errorf("%s: told of %q, and the verdict is %s; want %q", fault, got, d.Verdict, want)
		}
	}
}

// Clocks that are kept and seem to be apart make ways suspect that are not alike, unless they are further apart than any way could make them seem.
func TestClocksSeemApart(t *testing.T) {
	for _, c := range []struct {
		name               string
		least, most, error float64 // seconds, of a round trip of 50 ms
		want               bool
	}{
		{"alike", -0.026, 0.025, 0.001, false},
		{"longer there", -0.006, 0.046, 0.001, true},
		{"longer back", -0.046, 0.006, 0.001, true},
		{"clocks that may explain it", -0.006, 0.046, 0.015, false},
		{"a clock that is wrong", 1.97, 2.03, 0.001, false},
		{"one that is behind", -2.03, -1.97, 0.001, false},
	} {
		s := &Subject{}
		s.set(EmptyRoundTrip, exactly(0.05, nil))
		s.set(ClocksMost, exactly(c.error, nil))
		s.set(ClockAhead, Fact{Value: (c.least + c.most) / 2, Low: c.least, High: c.most})
		if got := seemApart(s); got != c.want {
			t.Errorf("%s: %v", c.name, got)
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
