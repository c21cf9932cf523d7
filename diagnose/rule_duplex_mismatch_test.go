package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// colliding is a probe by UDP both ways at once.
func colliding(loss float64) *measure.Result {
	r := measure.NewResult("throughput", testStart)
	r.Parameters["proto"], r.Parameters["bidir"], r.Parameters["reverse"] = "udp", true, false
	r.Metrics[measure.SentPackets], r.Metrics[measure.LossRatio] = 1000, loss
	return r
}

// Where both ways lose some and a probe of one way loses nothing, a probe of both ways at once is asked for, and tells a cable that takes turns at one
// end from short queues.
func TestCollisions(t *testing.T) {
	some := with(func(p *path) { bursty(p); p.sent, p.resent, p.halfLost = 10_000, 130, 0 })
	for _, c := range []struct {
		name  string
		back  path
		probe []*measure.Result
		asks  bool
		want  string
	}{
		{"one way loses some", with(fullPath), nil, false, "shallow-buffer"},
		{"both ways lose some", some, nil, true, "shallow-buffer"},
		{"and nothing of both at once", some, []*measure.Result{colliding(0)}, false, "shallow-buffer"},
		{"and more of both at once", some, []*measure.Result{colliding(0.008)}, false, "duplex-mismatch"},
	} {
		results := slices.Concat(some.results(), back(c.back.results()), c.probe)
		plan := append(Plan(time.Second, measure.Forward, measure.Reverse), Step{Name: "paced", Way: measure.Way(measure.Forward)})
		if asked := find(Extend(plan, len(plan), results), "colliding") >= 0; asked != c.asks {
			t.Errorf("%s: asks for a probe both ways %v, want %v", c.name, asked, c.asks)
		}
		if d := Diagnose(results); d.Verdict != c.want {
			t.Errorf("%s: verdict %s, want %s", c.name, d.Verdict, c.want)
		}
	}
}

// A transfer that loses much asks for that probe before the way back is measured, whatever it has under way.
func TestCollisionsOfMuch(t *testing.T) {
	for resent, want := range map[float64]bool{500: false, 1_500: true} {
		results := with(func(p *path) { bursty(p); p.sent, p.resent, p.halfLost = 10_000, resent, 0 }).results()
		plan := append(Plan(time.Second, measure.Forward), Step{Name: "paced", Way: measure.Way(measure.Forward)})
		if asked := find(Extend(plan, len(plan), results), "colliding") >= 0; asked != want {
			t.Errorf("%v packets sent again: asks %v, want %v", resent, asked, want)
		}
	}
}

// A cable that is proven to take turns at one end slows both ways: of the way back, for which no cause of its own is found, other connections and another
// congestion control are not asked for.
func TestCollisionsExplainTheWayBack(t *testing.T) {
	for loss, want := range map[float64]bool{0: true, 0.1: false} {
		there := with(func(p *path) { bursty(p); p.sent, p.resent, p.halfLost = 10_000, 1_500, 0 })
		results := slices.Concat(there.results(), back(hundred().results()), []*measure.Result{colliding(loss)})
		plan := Plan(time.Second, measure.Forward, measure.Reverse)
		for range 10 {
			plan = extend(plan, len(plan), results)
		}
		for _, step := range []string{"many-reverse", "other-control-reverse"} {
			if asked := find(plan, step) >= 0; asked != want {
				t.Errorf("%g lost of a probe both ways: asks for %s %v, want %v", loss, step, asked, want)
			}
		}
	}
}
