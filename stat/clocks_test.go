package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drill is a run of exchanges between two ends whose clocks are injected.
type drill struct {
	offset, skew   float64 // of the far clock: at the start, and what it gains
	stepAt, stepBy float64 // s after the start
	forward, back  float64 // the least delays
	queue          float64 // mean of an exponential one on top, each way
	count          int
	interval       float64
	bend           float64 // s that the far clock swings about its line
}

// ahead is how far the far clock is ahead at a time of the near one.
func (d drill) ahead(at float64) float64 {
	o := d.offset + d.skew*at + d.bend*math.Sin(at)
	if d.stepBy != 0 && at >= d.stepAt {
		o += d.stepBy
	}
	return o
}

func (d drill) run(seed uint64) (all []Exchange) {
	random := rand.New(rand.NewPCG(seed, 16))
	for i := range d.count {
		sent := float64(i) * d.interval
		arrived := sent + d.forward + random.ExpFloat64()*d.queue
		answered := arrived + 20e-6
		received := answered + d.back + random.ExpFloat64()*d.queue
		all = append(all, Exchange{sent, arrived + d.ahead(arrived), answered + d.ahead(answered), received})
	}
	return all
}

var drills = map[string]drill{
	"in step":                  {forward: 0.02, back: 0.02, count: 100, interval: 0.1},
	"offset":                   {offset: 3600, forward: 0.02, back: 0.02, queue: 0.002, count: 100, interval: 0.1},
	"behind, ways differ":      {offset: -0.5, forward: 0.05, back: 0.01, queue: 0.001, count: 100, interval: 0.1},
	"within the round trip":    {offset: 0.004, forward: 0.02, back: 0.02, queue: 0.003, count: 100, interval: 0.1},
	"skew":                     {offset: 0.1, skew: 50e-6, forward: 0.02, back: 0.02, queue: 0.002, count: 300, interval: 0.1},
	"skew beyond a round trip": {offset: -1, skew: 500e-6, forward: 50e-6, back: 50e-6, queue: 20e-6, count: 1000, interval: 0.1},
	"step":                     {offset: 0.01, stepAt: 5.05, stepBy: 0.5, forward: 0.02, back: 0.02, queue: 0.002, count: 100, interval: 0.1},
	"step back and skew":       {skew: 20e-6, stepAt: 4, stepBy: -1, forward: 0.02, back: 0.03, queue: 0.005, count: 100, interval: 0.1},
	"small step":               {stepAt: 6, stepBy: 0.012, forward: 0.02, back: 0.02, queue: 0.0005, count: 100, interval: 0.1},
	"one packet":               {offset: 0.3, skew: 1e-4, forward: 0.02, back: 0.02, count: 1, interval: 1},
	"three packets":            {offset: 0.3, skew: 1e-4, forward: 0.02, back: 0.02, queue: 0.01, count: 3, interval: 1},
	"does not run straight":    {offset: 0.3, bend: 0.05, forward: 0.001, back: 0.001, queue: 0.0001, count: 200, interval: 0.1},
	"queues":                   {forward: 0.02, back: 0.02, queue: 0.03, count: 300, interval: 0.05},
}

// In every run the offset's bound contains the truth, at all times, and the fit's the offset and the skew; steps are seen, and none where none is.
func TestCompareClocks(t *testing.T) {
	const rounding = 1e-9
	for name, d := range drills {
		for seed := range uint64(40) {
			what := fmt.Sprintf("%s, run %d", name, seed)
			exchanges := d.run(seed)
			got, ok := CompareClocks(exchanges)
			if !ok {
				t.Fatalf("%s: nothing of %d exchanges", what, len(exchanges))
			}
			for _, e := range exchanges {
				for _, at := range []float64{e.Sent, e.Received} {
					if o := d.ahead(at); d.bend == 0 && (o < got.Low-rounding || o > got.High+rounding) {
						t.Errorf("%s: ahead by %v at %v, not between %v and %v", what, o, at, got.Low, got.High)
					}
				}
			}
			steps := 0
			if d.stepBy != 0 {
				steps = 1
			}
			if len(got.Steps) != steps {
				t.Errorf("%s: steps %v, want %d", what, got.Steps, steps)
				continue
			}
			if steps == 1 && (math.Abs(got.Steps[0].By-d.stepBy) > 0.2*math.Abs(d.stepBy) || math.Abs(got.Steps[0].At-d.stepAt) > 2*d.interval) {
				t.Errorf("%s: step %+v, want %v at %v", what, got.Steps[0], d.stepBy, d.stepAt)
			}
			checkFit(t, what, d, got.Fit)
		}
	}
}

func checkFit(t *testing.T, what string, d drill, fit *ClockFit) {
	const rounding = 1e-9
	if d.bend != 0 {
		return
	}
	if fit == nil {
		t.Errorf("%s: no fit", what)
		return
	}
	truth := d.ahead(fit.At)
	if truth < fit.Least-rounding || truth > fit.Most+rounding || fit.Offset < fit.Least-rounding || fit.Offset > fit.Most+rounding {
		t.Errorf("%s: offset %v between %v and %v, in truth %v", what, fit.Offset, fit.Least, fit.Most, truth)
	}
	if fit.SkewLeast > d.skew || fit.SkewMost < d.skew || fit.Skew < fit.SkewLeast || fit.Skew > fit.SkewMost {
		t.Errorf("%s: skew %v between %v and %v, in truth %v", what, fit.Skew, fit.SkewLeast, fit.SkewMost, d.skew)
	}
	// The estimate errs by half of what the ways differ, and by some of what queues leave.
	if err := math.Abs(fit.Offset - truth); err > math.Abs(d.forward-d.back)/2+d.queue+rounding {
		t.Errorf("%s: offset %v, in truth %v: %v off", what, fit.Offset, truth, err)
	}
}

// Without queues offset and skew are exact.
func TestFitExactly(t *testing.T) {
	d := drill{offset: 2, skew: 100e-6, forward: 0.02, back: 0.02, count: 100, interval: 0.1}
	fit, ok := FitClocks(d.run(1))
	within(t, "skew", fit.Skew*1e6, 100, 0.1)
	within(t, "offset", fit.Offset, d.ahead(fit.At), 1e-6)
	if !ok || fit.High-fit.Low > 0.041+100e-6*10 {
		t.Errorf("ok %v, bound %v to %v: wider than a round trip and what the clock gained", ok, fit.Low, fit.High)
	}
}

// What clocks that do not run straight showed lies within the bound, at every stamp.
func TestBentClocks(t *testing.T) {
	d := drills["does not run straight"]
	exchanges := d.run(3)
	c, _ := CompareClocks(exchanges)
	low, high := math.Inf(1), math.Inf(-1)
	for at := 0.; at < 20; at += 0.01 {
		low, high = min(low, d.ahead(at)), max(high, d.ahead(at))
	}
	if low < c.Low-1e-3 || high > c.High+1e-3 {
		t.Errorf("between %v and %v, in truth %v to %v", c.Low, c.High, low, high)
	}
}

// The tighter of what kernels claim and what packets allow counts; of a claim that packets contradict nothing does.
func TestClocksError(t *testing.T) {
	for _, c := range []struct {
		low, high, claim, want float64
		contradicted           bool
	}{
		{-0.02, 0.02, math.NaN(), 0.02, false},
		{-0.02, 0.03, 0.001, 0.001, false},
		{-0.02, 0.03, 0.5, 0.03, false},
		{0.48, 0.52, 0.001, 0.52, true},
		{-0.52, -0.48, 0.001, 0.52, true},
		{0.001, 0.02, 0.001, 0.001, false},
	} {
		most, contradicted := Clocks{Low: c.low, High: c.high}.Error(c.claim)
		if most != c.want || contradicted != c.contradicted {
			t.Errorf("%+v: %v, %v", c, most, contradicted)
		}
	}
}

// A clock that falsely claims to be synchronised is seen through wherever packets can tell, and the bound contains the truth then.
func TestFalseClaim(t *testing.T) {
	const claim = 100e-6
	for name, d := range drills {
		for seed := range uint64(10) {
			c, _ := CompareClocks(d.run(seed))
			most, contradicted := c.Error(claim)
			worst := max(math.Abs(d.ahead(0)), math.Abs(d.ahead(float64(d.count)*d.interval)))
			if d.offset > d.forward && d.stepBy == 0 && !contradicted {
				t.Errorf("%s, run %d: a claim of %v is not contradicted by %v to %v", name, seed, claim, c.Low, c.High)
			}
			if contradicted && d.bend == 0 && most < worst-1e-4 {
				t.Errorf("%s, run %d: error %v, in truth %v", name, seed, most, worst)
			}
		}
	}
}

func TestNoExchanges(t *testing.T) {
	if c, ok := CompareClocks(nil); ok || c.Fit != nil {
		t.Errorf("%+v of nothing", c)
	}
	if steps := ClockSteps(make([]Exchange, 1)); !slices.Equal(steps, nil) {
		t.Errorf("steps %v of one exchange", steps)
	}
}
