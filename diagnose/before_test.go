package diagnose

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// earlierPath is a ping of round trips and a trace, some time after a beginning.
func earlierPath(after time.Duration, hop string, trips ...float64) []*measure.Result {
	at := testStart.Add(after)
	ping := measure.NewResult("ping", at)
	ping.Source.Name, ping.Target.Name = "bob", "carol"
	for _, v := range trips {
		ping.Samples.Echoes = append(ping.Samples.Echoes, measure.Echo{RTTSeconds: &v})
	}
	return []*measure.Result{ping, traceOf("T"+hop, at, []string{"x"}, []string{hop}, []string{"z"})}
}

// What is known of a path from before says whether it has changed since: another route, a longer round trip, or both; a queue that
// comes and goes is neither.
func TestDiagnoseAfter(t *testing.T) {
	before := earlierPath(0, "y", 0.040, 0.041, 0.042, 0.040, 0.055)
	for name, c := range map[string]struct {
		now    []*measure.Result
		finds  string
		severe measure.Severity
	}{
		"another, longer route": {earlierPath(time.Hour, "w", 0.060, 0.061, 0.062, 0.060, 0.075), "path-change", measure.Warning},
		"another route":         {earlierPath(time.Hour, "w", 0.040, 0.041, 0.042, 0.040, 0.055), "path-change", measure.Info},
		"a longer way":          {earlierPath(time.Hour, "y", 0.060, 0.061, 0.062, 0.060, 0.075), "delay-step", measure.Warning},
		"the same":              {earlierPath(time.Hour, "y", 0.041, 0.040, 0.042, 0.040, 0.055), "", ""},
		"a queue now and then":  {earlierPath(time.Hour, "y", 0.041, 0.080, 0.080, 0.070, 0.055), "", ""},
		"too few round trips":   {earlierPath(time.Hour, "y", 0.060, 0.060), "", ""},
	} {
		d := DiagnoseAfter(before, c.now)
		checkFindings(t, d)
		var found *measure.Finding
		for i, f := range d.Findings {
			if f.ID == "path-change" || f.ID == "delay-step" {
				found = &d.Findings[i]
			}
		}
		if c.finds == "" && found != nil || c.finds != "" && (found == nil || found.ID != c.finds || found.Severity != c.severe) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// A change of delay names the pings that were compared, and not newer ones of another sort.
func TestChangeNamesItsPings(t *testing.T) {
	before, now := earlierPath(0, "y", 0.040, 0.041, 0.042, 0.040, 0.055), earlierPath(time.Hour, "y", 0.060, 0.061, 0.062, 0.060, 0.075)
	for name, parameter := range map[string]any{"df": true, "proto": "tcp"} {
		other := measure.NewResult("ping", testStart.Add(2*time.Hour))
		other.Parameters[name] = parameter
		e := eventBetween(before, append([]*measure.Result{other}, now...))
		if c := e.Changed[0]; c.Last != before[0].ID || c.First != now[0].ID {
			t.Errorf("beside a ping with %s: last %s, first %s, want %s and %s", name, c.Last, c.First, before[0].ID, now[0].ID)
		}
	}
}
