package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// Sweep makes tests at several values of one parameter of a throughput test or two, each again until its throughput is known narrowly.
// How it goes on is in sweepPlan.
type Sweep struct {
	Over   string        // what is swept, as parseSweep reads it; "": nothing, there is one test
	Budget time.Duration // for all tests; 0: sweepBudget
	Within float64       // how narrow a point has to be: half of its 95 % interval, over its mean; 0: sweepWithin
	Seed   int64         // of the order; 0: drawn
}

const (
	sweepBudget = 2 * time.Minute
	sweepWithin = 0.05
	// sweepEach is how long a test of a sweep is, unless said: on a path of 100 ms slow start is then less than half of it.
	sweepEach = 2 * time.Second
	// sweepPause is what a test takes beside its time, on a path of some milliseconds; longer ones are known by their first test.
	sweepPause = 200 * time.Millisecond
	// drawnSeeds is how many orders are drawn from: a seed that people can type.
	drawnSeeds = 1_000_000
	// mostSeed is what a number in JSON has of a seed.
	mostSeed = 1 << 53
)

func (s Sweep) withDefaults() Sweep {
	setDefault(&s.Budget, sweepBudget)
	setDefault(&s.Within, sweepWithin)
	if s.Seed == 0 {
		s.Seed = 1 + rand.Int64N(drawnSeeds)
	}
	return s
}

// checkSweep refuses a sweep that cannot be, or that its budget is too small for.
func (p *Throughput) checkSweep() error {
	if p.Sweep.Over == "" {
		if p.Sweep != (Sweep{}) {
			return &input.Error{Field: "sweep", Value: "", Remedy: "say what to sweep, such as window=64k..8M, or leave out its budget, within and seed"}
		}
		return nil
	}
	refuse := func(remedy string) error { return &input.Error{Field: "sweep", Value: p.Sweep.Over, Remedy: remedy} }
	if c := &p.Config; p.Search != "" || c.Bidir || c.Bytes > 0 || c.Blocks > 0 || c.Source != nil {
		return refuse("it is of tests of a time in one direction: leave out search, bytes, blocks, bidir and input")
	}
	axes, err := parseSweep(p.Sweep.Over)
	if err != nil {
		return err
	}
	for _, a := range axes {
		switch {
		case a.fixed(p):
			return refuse("leave out " + a.parameter + ", which is swept")
		case a.name == "spacing" && (p.Config.Proto != iperf3.UDP || p.Config.Rate > 0 || p.Config.Burst > 0):
			return refuse("spacing is of udp, whose rate and burst it is: give proto udp without these")
		case (a.name == "cc" || a.name == "window") && p.Config.Proto == iperf3.UDP:
			return refuse(a.name + " is of tcp")
		}
	}
	points := sweepValues(axes)
	for _, values := range points {
		one, err := p.at(axes, values)
		if err == nil {
			err = one.Validate()
		}
		if err != nil {
			return err
		}
	}
	if least := time.Duration(len(points)) * (p.sweepRun() + sweepPause); cmp.Or(p.Sweep.Budget, sweepBudget) < least {
		return &input.Error{Field: "sweep-budget", Value: cmp.Or(p.Sweep.Budget, sweepBudget).String(),
			Remedy: fmt.Sprintf("%d points of %s each take %s at least: give more, or fewer points", len(points), p.sweepRun(), least.Round(time.Second))}
	}
	return nil
}

// sweepRun is how long a test of the sweep sends.
func (p *Throughput) sweepRun() time.Duration {
	return cmp.Or(p.Config.Duration, sweepEach) + p.Config.Omit
}

// at is the test at a point.
func (p *Throughput) at(axes []sweepAxis, values []any) (*Throughput, error) {
	one := *p
	one.Sweep, one.OnInterval, one.OnRun, one.alone = Sweep{}, nil, nil, true
	one.Config.Interval = -1
	setDefault(&one.Config.Duration, sweepEach)
	spacing := 0.
	for i, a := range axes {
		if want := a.set(&one, values[i]); want != "" {
			return nil, &input.Error{Field: "sweep", Value: a.format(values[i]), Remedy: want}
		}
		if a.name == "spacing" {
			spacing = values[i].(float64)
		}
	}
	if spacing > 0 { // datagrams one by one, that far from each other
		setDefault(&one.Config.Length, defaultUDP)
		one.Config.Rate = max(1, int64(math.Round(float64(8*one.Config.Length)/spacing)))
		one.Config.Burst, one.Config.NoOffload = 1, true
	}
	return &one, nil
}

// sweep makes the tests of a sweep, and returns one Result of all.
func (p *Throughput) sweep(ctx context.Context) (*measure.Result, error) {
	s := p.Sweep.withDefaults()
	axes, err := parseSweep(s.Over)
	if err != nil {
		return nil, err
	}
	points := sweepValues(axes)
	plan := sweepPlan{points: len(points), within: s.Within, budget: s.Budget.Seconds(), each: (p.sweepRun() + sweepPause).Seconds(), seed: s.Seed}
	result := newResult("throughput", p.Target)
	watch := startWatch()
	var runs []sweepRun
	var results []*measure.Result // one for each run, without what a sweep has no use for
	ended := ""
	for ended == "" {
		var point int
		if point, ended = plan.next(runs); ended != "" {
			break
		}
		var one *Throughput
		if one, err = p.at(axes, points[point]); err != nil {
			return nil, err
		}
		began := time.Now()
		var r *measure.Result
		r, err = one.Do(ctx)
		if ctx.Err() != nil {
			ended = measure.SweepBroken
			break
		}
		value, known := r.Get(measure.Throughput)
		if err == nil && !known {
			err = errNoRate
		}
		runs = append(runs, sweepRun{point: point, value: value, failure: failureOf(err), seconds: time.Since(began).Seconds()})
		keepWindows(r)
		results = append(results, r)
		if p.OnRun != nil {
			p.OnRun(sweepLine(axes, points[point], runs))
		}
	}
	watch.stop(result)
	if ended != measure.SweepFailed && ended != measure.SweepBroken {
		err = nil
	}
	p.swept(result, s, axes, points, runs, results, ended)
	result.Fail(err)
	return result, err
}

// swept fills in what came of a sweep.
func (p *Throughput) swept(r *measure.Result, s Sweep, axes []sweepAxis, points [][]any, runs []sweepRun, results []*measure.Result, ended string) {
	sweep := &measure.Sweep{Metric: measure.Throughput, Unit: measure.Throughput.Unit(), Parameters: sweepParameters(axes), Seed: s.Seed, Within: s.Within, Ended: ended,
		Order: []int{}}
	for _, run := range runs {
		sweep.Order = append(sweep.Order, run.point)
	}
	best := -1
	for i, values := range points {
		point := sweepPoint(values, i, runs, results, s.Within)
		if point.N > 0 && (best < 0 || point.Mean > sweep.Points[best].Mean) {
			best = i
		}
		sweep.Points = append(sweep.Points, point)
	}
	r.Samples.Sweep = sweep
	r.Way = measure.WayOf(r.Kind, map[string]any{"reverse": p.Config.Reverse})
	for i, run := range runs {
		if run.point == best && run.failure == "" {
			of := results[i]
			r.Source, r.Target, r.TargetClock = of.Source, of.Target, of.TargetClock
			r.Parameters["peer"] = of.Parameters["peer"]
			r.Metrics[measure.Throughput] = sweep.Points[best].Mean
			break
		}
	}
	all := *p
	all.Sweep = s
	setDefault(&all.Port, iperf3.DefaultPort)
	setDefault(&all.Config.Duration, sweepEach)
	for name, v := range recorded(throughputFields(), &all) {
		r.Parameters[name] = v
	}
	noteMemory(r, results)
	if ended == measure.SweepBudget {
		r.Note(fmt.Sprintf("the budget of %s was spent before every point was known within %.3g %%", s.Budget, 100*s.Within))
	}
}

// errNoRate is what went wrong with a test whose far end is an iperf3 that tells too little.
var errNoRate = errors.New("the far end told no rate")

func failureOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
