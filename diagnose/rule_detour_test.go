package diagnose

import (
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// A round trip that is longer than by way of another host goes a detour, if it is longer by more than least round trips differ and no queue makes it so.
func TestDetour(t *testing.T) {
	for name, c := range map[string]struct {
		straight, usual float64 // round trips of the path
		via             Via
		severity        measure.Severity // "": nothing is found
	}{
		"twice as long":                {0.022, 0.0221, Via{Host: "c", SourceRoundTrip: 0.006, TargetRoundTrip: 0.005}, measure.Warning},
		"a fifth longer":               {0.012, 0.0121, Via{Host: "c", SourceRoundTrip: 0.006, TargetRoundTrip: 0.004}, measure.Info},
		"Leeds: less than a tenth":     {0.011, 0.0111, Via{Host: "c", SourceRoundTrip: 0.0062, TargetRoundTrip: 0.0042}, ""},
		"less than a millisecond":      {0.0012, 0.0012, Via{Host: "c", SourceRoundTrip: 0.0002, TargetRoundTrip: 0.0002}, ""},
		"as long":                      {0.011, 0.011, Via{Host: "c", SourceRoundTrip: 0.006, TargetRoundTrip: 0.005}, ""},
		"a queue stands":               {0.022, 0.040, Via{Host: "c", SourceRoundTrip: 0.006, TargetRoundTrip: 0.005}, ""},
		"half of the way is not known": {0.022, 0.022, Via{Host: "c", SourceRoundTrip: 0.006}, ""},
		"no other host":                {0.022, 0.022, Via{}, ""},
	} {
		slow := with(func(p *path) { p.rtt, p.usual = c.straight, c.usual })
		d := DiagnoseKnowing(slow.results(), Known{Via: c.via})
		var found []measure.Finding
		for _, f := range d.Findings {
			if f.ID == "detour" {
				found = append(found, f)
			}
		}
		switch {
		case c.severity == "" && len(found) == 0:
		case len(found) != 1 || found[0].Severity != c.severity || found[0].Way != measure.Forward:
			t.Errorf("%s: want %q, once: %+v", name, c.severity, found)
		case !strings.Contains(found[0].Explanation, "By way of c it would take"):
			t.Errorf("%s: %s", name, found[0].Explanation)
		}
	}
}

// A history says so, too, without any change; what is only a little longer is no verdict.
func TestHistoryOfDetour(t *testing.T) {
	for verdict, straight := range map[string]float64{"detour": 0.022, Unchanged: 0.0125} {
		h := &History{Source: "a", Target: "b", Series: []Looked{{Metric: measure.RTTMin}},
			Via: &Via{Host: "c", SourceRoundTrip: 0.006, TargetRoundTrip: 0.005, StraightSeconds: straight}}
		d := DiagnoseHistory(h)
		checkFindings(t, d)
		if d.Verdict != verdict || len(d.Findings) != 1 || d.Findings[0].ID != "detour" {
			t.Errorf("%v s: %s, %+v", straight, d.Verdict, d.Findings)
		}
	}
}
