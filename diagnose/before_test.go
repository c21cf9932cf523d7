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

// An answer that one of two traces lost is no change of the route between them.
func TestLostAnswerIsNoChange(t *testing.T) {
	x, y, z := []string{"x"}, []string{"y"}, []string{"z"}
	of := func(id string, minute int, hops ...[]string) *measure.Result {
		return traceOf(id, testStart.Add(time.Duration(minute)*time.Minute), hops...)
	}
	whole, late := of("whole", 0, x, y, z), of("late", 1, x, y, nil, z)
	for name, c := range map[string]struct {
		before, now *measure.Result
		moved       bool
	}{
		"the end answered late":        {whole, late, false},
		"the end did not answer":       {whole, of("silent", 1, x, y), false},
		"a router did not answer":      {whole, of("hop", 1, x, nil, z), false},
		"the end had answered late":    {late, of("again", 2, x, y, z), false},
		"another router answered late": {whole, of("other", 1, x, y, nil, []string{"end"}), true},
		"a router more":                {whole, of("more", 1, x, y, []string{"w"}, z), true},
	} {
		moved := compareRoutes([]*measure.Result{c.before}, []*measure.Result{c.now})
		if (moved != nil) != c.moved || moved != nil && (moved.Last != c.before.ID || moved.First != c.now.ID) {
			t.Errorf("%s: %+v", name, moved)
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
