package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// estimated has the capacity of a path say how certain it is.
func estimated(p path, c measure.PathCapacity) []*measure.Result {
	results := p.results()
	for _, r := range results {
		if sortOf(r) == ofTrains && measure.WayOf(r.Kind, r.Parameters) == measure.Forward {
			r.Samples.Capacity = &c
		}
	}
	return results
}

// An uncertain capacity promises the least that it leaves, and says why; one that is certain promises all of it, and what was moved is promised in
// any case.
func TestUncertainCapacity(t *testing.T) {
	p := with(smallWindow) // of a path of 97.5 Mbit/s
	sure := Diagnose(estimated(p, measure.PathCapacity{Capacity: measure.RateEstimate{BitsPerSecond: p.capacity, Low: 0.98 * p.capacity, High: 1.02 * p.capacity, Certain: true}}))
	plain := Diagnose(p.results())
	for _, c := range []struct {
		name     string
		low      float64
		from, to float64 // of what the sure one promises
	}{{"half of it", 0.5, 0.45, 0.6}, {"near it", 0.95, 0.85, 0.95}, {"less than was moved", 0.01, 0, 0.4}} {
		d := Diagnose(estimated(p, measure.PathCapacity{Capacity: measure.RateEstimate{BitsPerSecond: p.capacity, Low: c.low * p.capacity, High: 1.5 * p.capacity,
			Doubt: "too few came together"}}))
		checkFindings(t, d)
		unsure, full := d.First(), sure.First()
		if unsure == nil || full == nil || unsure.ID != full.ID || unsure.Predicted == nil || full.Predicted == nil {
			t.Fatalf("%s: %+v; sure %+v", c.name, unsure, full)
		}
		if share := unsure.Predicted.BitsPerSecond / full.Predicted.BitsPerSecond; share < c.from || share > c.to || !strings.Contains(unsure.Predicted.Basis, "uncertain") {
			t.Errorf("%s: %v of what is sure, want %v to %v; %s", c.name, share, c.from, c.to, unsure.Predicted.Basis)
		}
	}
	if a, b := sure.First().Predicted, plain.First().Predicted; *a != *b {
		t.Errorf("certain %+v, untold %+v", a, b)
	}
}

// A certain capacity that is of a standard rate names it where more was declared; an uncertain one names none.
func TestBelowDeclaredStandard(t *testing.T) {
	for certain, want := range map[bool]bool{true: true, false: false} {
		p := with(fullPath)
		g := gather(estimated(p, measure.PathCapacity{Standard: "Fast Ethernet",
			Capacity: measure.RateEstimate{BitsPerSecond: p.capacity, Low: 0.98 * p.capacity, High: 1.02 * p.capacity, Certain: certain}}))
		g.ways[measure.Forward].set(DeclaredRate, exactly(10*p.capacity, nil))
		d := diagnoseBy(rules, g, nil)
		i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == belowDeclared.ID })
		if i < 0 || strings.Contains(d.Findings[i].Explanation, "the rate of Fast Ethernet") != want {
			t.Errorf("certain %v: %+v", certain, d.Findings)
		}
	}
}

// What trains told of a token bucket that drops is evidence of a policer of that rate, and of no other.
func TestPolicerBucket(t *testing.T) {
	for _, c := range []struct {
		rate float64 // of the bucket, of what the probes tell
		want bool
	}{{1, true}, {3, false}} {
		p := with(func(p *path) { p.goodput, p.resent, p.pacedLost, p.halfLost = 10e6, 800, 0, 0.8 })
		results := estimated(p, measure.PathCapacity{Capacity: measure.RateEstimate{BitsPerSecond: p.capacity, Low: p.capacity, High: p.capacity, Certain: true},
			Bucket: &measure.TokenBucket{Rate: measure.RateEstimate{BitsPerSecond: c.rate * 10e6, Certain: true}, Bytes: 50e3, Drops: true}})
		claim := policer.Look(gather(results).ways[measure.Forward])
		if claim == nil {
			t.Fatalf("%+v: no policer", c)
		}
		if got := slices.Contains(claim.Evidence, BucketRate) && slices.Contains(claim.Evidence, BucketSize); got != c.want {
			t.Errorf("%+v: %v", c, claim.Evidence)
		}
	}
}

// A path whose shaper passes a fifth of what it passes at once carries that fifth: a transfer that gets it, with a queue, finds the path full, and no
// other traffic. A bucket that is in doubt tells nothing, nor does one that a transfer exceeds.
func TestShaper(t *testing.T) {
	for _, c := range []struct {
		certain, shaped bool
		goodput         float64
		want            string
	}{{true, true, 9.44e6, Healthy}, {false, false, 9.44e6, "cross-traffic"}, {true, false, 46e6, Healthy}} {
		p := with(func(p *path) { p.capacity, p.goodput, p.rtt, p.loaded, p.resent = 49.4e6, c.goodput, 0.04, 0.24, 12 })
		d := Diagnose(estimated(p, measure.PathCapacity{Capacity: measure.RateEstimate{BitsPerSecond: p.capacity, Low: p.capacity, High: p.capacity, Certain: true},
			Bucket: &measure.TokenBucket{Rate: measure.RateEstimate{BitsPerSecond: 10e6, Low: 9.9e6, High: 10.1e6, Certain: c.certain}, Bytes: 50e3}}))
		checkFindings(t, d)
		if d.Verdict != c.want {
			t.Errorf("certain %v: %s, want %s: %+v", c.certain, d.Verdict, c.want, d.Findings)
		}
		noted := slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "a shaper passes 10.0 Mbit/s for long") })
		if noted != c.shaped || d.ExpectedBitsPerSecond == nil || c.shaped != (*d.ExpectedBitsPerSecond < 10e6) {
			t.Errorf("%+v: expected %v, %v", c, d.ExpectedBitsPerSecond, d.Notes)
		}
	}
}
