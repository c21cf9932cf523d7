package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// colliding is a probe by UDP both ways at once, of which nothing is lost on the way back.
func colliding(loss float64) *measure.Result {
	r := measure.NewResult("throughput", testStart)
	r.Parameters["proto"], r.Parameters["bidir"], r.Parameters["reverse"] = "udp", true, false
	r.Metrics[measure.SentPackets], r.Metrics[measure.LossRatio] = 1000, loss
	r.Metrics[measure.ReverseSentBytes], r.Metrics[measure.ReverseReceivedBytes] = 1e6, 1e6
	return r
}

// Where a transfer loses some and a probe of one way loses nothing, a probe of both ways at once is asked for, whether the way back is known to lose
// as well or not, and tells a cable that takes turns at one end from short queues.
func TestCollisions(t *testing.T) {
	some := with(func(p *path) { bursty(p); p.sent, p.resent, p.halfLost = 10_000, 130, 0 })
	for _, c := range []struct {
		name  string
		back  path
		probe []*measure.Result
		asks  bool
		want  string
	}{
		{"one way loses some, and the other is full", with(fullPath), nil, false, "shallow-buffer"},
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

// That probe is asked for before the way back is measured. It is not where a paced probe loses as much, nor where a transfer loses next to nothing.
func TestCollisionsAreAskedForEarly(t *testing.T) {
	for _, c := range []struct {
		resent, paced float64
		want          bool
	}{{10, 0, false}, {130, 0, true}, {500, 8, true}, {500, 40, false}} {
		p := with(func(p *path) { bursty(p); p.sent, p.resent, p.pacedLost, p.halfLost = 10_000, c.resent, c.paced, 0 })
		plan := append(Plan(time.Second, measure.Forward), Step{Name: "paced", Way: measure.Way(measure.Forward)})
		if asked := find(Extend(plan, len(plan), p.results()), "colliding") >= 0; asked != c.want {
			t.Errorf("%v packets sent again, and %v lost of %v that were paced: asks %v, want %v", c.resent, c.paced, p.pacedSent, asked, c.want)
		}
	}
}

// A cable that is proven to take turns at one end slows both ways: the way back has that finding as well, by the losses of that way, and no step is
// asked for that tells why it loses packets.
func TestCollisionsExplainTheWayBack(t *testing.T) {
	for loss, want := range map[float64]bool{0: true, 0.1: false} {
		there := with(func(p *path) { bursty(p); p.sent, p.resent, p.halfLost = 10_000, 1_500, 0 })
		lossy := with(func(p *path) { p.sent, p.resent, p.pacedSent = 10_000, 1_500, 0 })
		results := slices.Concat(there.results(), back(lossy.results()), []*measure.Result{colliding(loss)})
		plan := Plan(time.Second, measure.Forward, measure.Reverse)
		for range 10 {
			plan = extend(plan, len(plan), results)
		}
		asked := slices.ContainsFunc(plan, func(s Step) bool { return s.Name == "paced-reverse" || s.Name == "many-reverse" })
		if asked != want {
			t.Errorf("%g lost of a probe both ways: asks about the way back %v, want %v", loss, asked, want)
		}
		var ways []measure.Way
		for _, f := range Diagnose(results).Findings {
			if f.ID == "duplex-mismatch" {
				ways = append(ways, f.Way)
			}
		}
		if both := len(ways) == 2; both == want {
			t.Errorf("%g lost of a probe both ways: duplex-mismatch of %v", loss, ways)
		}
		back := gather(results).ways[measure.Reverse]
		if back.Value(CollidingLoss) != 0 || back.Value(CollidingBack) != loss {
			t.Errorf("%g lost on the way there: on the way back %g, and %g on its other way", loss, back.Value(CollidingLoss), back.Value(CollidingBack))
		}
	}
}
