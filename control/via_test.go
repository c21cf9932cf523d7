package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
)

// The host by way of which a round trip is the shortest is known where both of its parts are, by enough runs, whichever end measured them.
func TestViaOf(t *testing.T) {
	cell := func(source, target string, least, most float64) archive.Cell {
		return archive.Cell{Pair: archive.Pair{Source: source, Target: target}, Merged: archive.Merged{Count: viaRuns, Quantiles: []float64{least, most}}}
	}
	straight, near, far := cell("a", "b", 0.020, 0.030), cell("a", "c", 0.004, 0.005), cell("c", "b", 0.006, 0.007)
	seldom := far
	seldom.Count = viaRuns - 1
	for name, c := range map[string]struct {
		cells []archive.Cell
		want  diagnose.Via
	}{
		"one other host":           {[]archive.Cell{straight, near, far}, diagnose.Via{Host: "c", SourceRoundTrip: 0.005, TargetRoundTrip: 0.007, StraightSeconds: 0.020}},
		"measured from the others": {[]archive.Cell{cell("b", "a", 0.02, 0.03), cell("c", "a", 0.004, 0.005), cell("b", "c", 0.006, 0.007)}, diagnose.Via{Host: "c", SourceRoundTrip: 0.005, TargetRoundTrip: 0.007, StraightSeconds: 0.020}},
		"the shorter of both":      {[]archive.Cell{near, far, cell("b", "c", 0.001, 0.002)}, diagnose.Via{Host: "c", SourceRoundTrip: 0.005, TargetRoundTrip: 0.002}},
		"the shortest of two":      {[]archive.Cell{near, far, cell("a", "d", 0.001, 0.002), cell("d", "b", 0.001, 0.002)}, diagnose.Via{Host: "d", SourceRoundTrip: 0.002, TargetRoundTrip: 0.002}},
		"half of a way":            {[]archive.Cell{straight, near, cell("d", "b", 0.001, 0.002)}, diagnose.Via{}},
		"measured too seldom":      {[]archive.Cell{straight, near, seldom}, diagnose.Via{}},
		"nothing":                  {nil, diagnose.Via{}},
	} {
		if diff := cmp.Diff(c.want, viaOf(c.cells, "a", "b")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A diagnosis of a mesh finds a detour by what its archive has of other pairs of late; of long ago, or over a family that was asked for, it says nothing.
func TestDiagnosisFindsDetour(t *testing.T) {
	const three = "hosts: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3}\n"
	for name, c := range map[string]struct {
		before time.Duration
		family string
		found  bool
	}{"of late": {time.Hour, "", true}, "of long ago": {30 * time.Hour, "", false}, "over one family": {time.Hour, "ipv4", false}} {
		b, _ := newPath(t, three+someTests)
		for _, pair := range [][2]string{{"a", "c"}, {"c", "b"}} {
			for i := range viaRuns {
				r := measure.NewResult("ping", b.now.Add(-c.before-time.Duration(i)*time.Minute))
				r.Source.Name, r.Target.Name, r.Tool, r.Test = pair[0], pair[1], "rtt", "rtt"
				r.Metrics[measure.RTTMin] = 0.01
				if err := b.archive.Put(t.Context(), []*measure.Result{r}); err != nil {
					t.Fatal(err)
				}
			}
		}
		lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour, Family: c.family})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range lines[len(lines)-1].Diagnosis.Findings {
			found = found || f.ID == "detour"
		}
		if found != c.found {
			t.Errorf("%s: found %t", name, found)
		}
	}
}
