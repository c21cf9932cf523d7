package probe

import (
	"cmp"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// sweepFields are the parameters of a sweep.
func sweepFields() []field[Throughput] {
	return []field[Throughput]{
		sweepField(),
		{Name: "sweep-budget", Flag: "budget", Default: "2m", Meaning: "of a sweep: the time for all of its tests",
			binding: span(func(p *Throughput) *time.Duration { return &p.Sweep.Budget })},
		{Name: "sweep-within", Default: "5%", Meaning: "of a sweep: how narrow each point is to be known, as half of its 95 % interval over its mean",
			binding: share(func(p *Throughput) *float64 { return &p.Sweep.Within })},
		{Name: "sweep-seed", Default: "drawn", Meaning: "of a sweep: what the order of its tests is drawn by",
			binding: whole(func(p *Throughput) *int64 { return &p.Sweep.Seed }, 1, mostSeed)},
	}
}

// sweepField is the parameter that says what is swept.
func sweepField() field[Throughput] {
	b := word(func(p *Throughput) *string { return &p.Sweep.Over })
	set := b.set
	b.set = func(p *Throughput, v any) string {
		text, _ := v.(string)
		if _, want := readSweep(text); want != "" {
			return want
		}
		return set(p, v)
	}
	return field[Throughput]{Name: "sweep", Default: "none", Several: true, binding: b,
		Meaning: "test at several values of one of window, len, spacing, streams, rate, cc and dscp, or of two, in random order, each again until it is known" +
			" narrowly: window=64k..8M (doubling), cc=reno,cubic"}
}

// mostSweepTests is how many tests a far end that opens for a sweep lets in: more than fit its budget.
const mostSweepTests = 100_000

// sweepBytes are those of 256 points at the most, with ten metrics each, compressed.
const sweepBytes = 20_000

// sweepDemand is what a sweep asks: all of its budget, and of the path whatever it carries.
func (p *Throughput) sweepDemand(d measure.Demand) measure.Demand {
	d.DurationSeconds = (cmp.Or(p.Sweep.Budget, sweepBudget) + iperf3Setup).Seconds()
	d.Exclusive, d.ResponderTests = true, mostSweepTests
	return d
}
