package control

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// TestClockSteps sets the controller's clock an hour back and an hour forward: there is a new plan at once, numbered above the
// last one, with as many runs for the next minutes as before; and what counted as missed has its Result when that comes.
func TestClockSteps(t *testing.T) {
	for name, step := range map[string]time.Duration{"back": -time.Hour, "forward": time.Hour} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, twoHosts+someTests)
			b.plan()
			before := b.messaging.plans["a"]
			if b.planDue() {
				t.Fatal("a plan is due that was just made")
			}
			b.now = b.now.Add(step)
			if !b.planDue() {
				t.Fatal("no plan is due")
			}
			b.plan()
			after := b.messaging.plans["a"]
			if after.Number <= before.Number {
				t.Errorf("plan %d after plan %d", after.Number, before.Number)
			}
			soon := 0
			for _, r := range after.Runs {
				if !r.Start.Before(b.now) && r.Start.Before(b.now.Add(15*time.Minute)) {
					soon++
				}
			}
			if soon < 14 || soon > 20 { // once a minute, and one that fills the link or two
				t.Errorf("%d runs in the next quarter of an hour, want 16 or so", soon)
			}
			if err := b.fileMisses(t.Context(), b.now); err != nil {
				t.Fatal(err)
			}
			b.file("a", before.Runs)
			missed, err := b.archive.Misses(t.Context(), archive.MissQuery{Source: "a"})
			if err != nil || len(missed) > 0 {
				t.Errorf("%d runs of a stay missed, though all Results came; %v", len(missed), err)
			}
		})
	}
}

// file has a host deliver a Result of each of these runs.
func (b *bench) file(host string, runs []measure.Run) {
	b.t.Helper()
	var results []*measure.Result
	for _, run := range runs {
		r := measure.NewResult("ping", run.Start)
		r.ID, r.Test, r.Tool, r.Source.Name, r.Target.Name = run.ID, run.Test, run.Tool, run.Source, run.Target
		r.Metrics[measure.RTTMin] = 0.01
		results = append(results, r)
	}
	if err := (receiver{b.Control}).File(b.t.Context(), host, results); err != nil {
		b.t.Fatal(err)
	}
}
