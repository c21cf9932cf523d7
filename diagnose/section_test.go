package diagnose

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

const milli = time.Millisecond

// lostAt is what a probe by UDP found that sent so many packets at a rate.
func lostAt(rate, sent, lost, burst float64, reverse bool) *measure.Result {
	r := measure.NewResult("throughput", time.Now())
	r.Parameters["proto"], r.Parameters["reverse"] = "udp", reverse
	r.Metrics = map[measure.Metric]float64{measure.SentRate: rate, measure.SentPackets: sent, measure.LostPackets: lost, measure.LossBurstMax: burst}
	return r
}

// A way that loses more than a target bears has a finding that says so, though it is full itself; one that loses as much without a target,
// or in few bursts, has none.
func TestLossBudget(t *testing.T) {
	results := readRecording(t, "testdata/faults/healthy-50mbit.json.gz").Results
	target := Target{20e6, 20 * milli}
	for _, c := range []struct {
		name string
		lost *measure.Result
		want string
	}{
		{"above the budget", lostAt(20e6, 7200, 8, 1, false), "loss-budget-exceeded"},
		{"above the budget, in two bursts", lostAt(20e6, 7200, 8, 4, false), Healthy},
		{"within the budget", lostAt(20e6, 7200, 1, 1, false), Healthy},
		{"at another rate", lostAt(2e6, 7200, 8, 1, false), Healthy},
	} {
		all := append(slices.Clone(results), c.lost)
		d := DiagnoseSection(target, nil, all)
		if d.Verdict != c.want || d.Section == nil {
			t.Errorf("%s: verdict %s, want %s; section %v", c.name, d.Verdict, c.want, d.Section)
		}
		checkFindings(t, d)
		if f := d.First(); f != nil && (f.Severity != measure.Problem || f.Evidence[2].Value != *d.Section.NearestRTTSeconds) {
			t.Errorf("%s: %+v", c.name, f)
		}
		if d := Diagnose(all); d.Verdict != Healthy {
			t.Errorf("%s, without a target: verdict %s", c.name, d.Verdict)
		}
	}
}

// A path of 48.7 Mbit/s is judged as a part of longer ones, by recorded Results and by what a probe of 20 Mbit/s lost on it.
func TestJudgeSection(t *testing.T) {
	of := func(c Check) string { return c.Name + " " + string(c.Way) }
	for _, c := range []struct {
		name    string
		fault   string
		rate    float64
		rtt     time.Duration
		lost    []*measure.Result
		outcome Outcome
		fails   []string
		untold  []string
		nearest float64 // round trip
	}{
		{name: "few losses", fault: "healthy-50mbit", rate: 20e6, rtt: 20 * milli, outcome: Passes,
			lost: []*measure.Result{lostAt(20e6, 7200, 0, 0, false), lostAt(20e6, 7200, 0, 0, true)}},
		{name: "too many losses one way", fault: "healthy-50mbit", rate: 20e6, rtt: 20 * milli, outcome: Fails, fails: []string{"losses forward"},
			lost: []*measure.Result{lostAt(20e6, 7200, 8, 1, false), lostAt(20e6, 7200, 0, 0, true)}, nearest: math.Sqrt(900.0/3) * 1448 * 8 / 20e6},
		{name: "the same losses in two bursts", fault: "healthy-50mbit", rate: 20e6, rtt: 20 * milli, outcome: Untold, untold: []string{"losses forward"},
			lost: []*measure.Result{lostAt(20e6, 7200, 8, 4, false), lostAt(20e6, 7200, 0, 0, true)}, nearest: math.Sqrt(900.0/3) * 1448 * 8 / 20e6},
		{name: "too few packets to tell", fault: "healthy-50mbit", rate: 20e6, rtt: 20 * milli, outcome: Untold, untold: []string{"losses forward", "losses reverse"},
			lost: []*measure.Result{lostAt(20e6, 700, 0, 0, false), lostAt(20e6, 700, 0, 0, true)}},
		{name: "losses at another rate say nothing", fault: "healthy-50mbit", rate: 20e6, rtt: 20 * milli, outcome: Untold,
			untold: []string{"losses forward", "losses reverse"}, lost: []*measure.Result{lostAt(45e6, 7200, 900, 1, false), lostAt(2e6, 7200, 0, 0, true)}},
		{name: "faster than the path", fault: "healthy-50mbit", rate: 100e6, rtt: 20 * milli, outcome: Fails,
			fails: []string{"rate forward", "rate reverse"}, untold: []string{"losses forward", "losses reverse"}},
		{name: "a window above the buffers", fault: "receive-window-limited", rate: 20e6, rtt: 100 * milli, outcome: Fails,
			fails:  []string{"receive buffer forward"},
			untold: []string{"losses forward", "queue forward", "losses reverse"}},
		{name: "no window scaling", fault: "no-window-scaling", rate: 20e6, rtt: 100 * milli, outcome: Fails,
			fails:  []string{"options forward", "options reverse"},
			untold: []string{"losses forward", "queue forward", "losses reverse", "queue reverse"}},
		{name: "a window that needs no scaling", fault: "no-window-scaling", rate: 20e6, rtt: 20 * milli, outcome: Untold,
			untold: []string{"losses forward", "queue forward", "losses reverse", "queue reverse"}},
	} {
		got := JudgeSection(Target{c.rate, c.rtt}, append(readRecording(t, "testdata/faults/"+c.fault+".json.gz").Results, c.lost...))
		var fails, untold []string
		for _, check := range got.Checks {
			switch check.Outcome {
			case Fails:
				fails = append(fails, of(check))
				if check.Name != "rate" && len(check.Advice) == 0 {
					t.Errorf("%s: %s fails without advice", c.name, of(check))
				}
			case Untold:
				untold = append(untold, of(check))
			}
		}
		if got.Outcome != c.outcome || !slices.Equal(fails, c.fails) || !slices.Equal(untold, c.untold) {
			t.Errorf("%s: %s, fails %q, untold %q; want %s, %q, %q", c.name, got.Outcome, fails, untold, c.outcome, c.fails, c.untold)
		}
		if n := got.NearestRTTSeconds; (n != nil) != (c.nearest > 0) || n != nil && math.Abs(*n-c.nearest) > 0.01*c.nearest {
			t.Errorf("%s: the nearest round trip is %v, want %v", c.name, n, c.nearest)
		}
	}
	if got := JudgeSection(Target{1e6, milli}, nil); got.Outcome != Untold || len(got.Checks) != 0 {
		t.Errorf("nothing was measured: %+v", got)
	}
}

// Packets are sent each way that can carry the rate, for as long as it takes to tell, within bounds.
func TestSectionSteps(t *testing.T) {
	for _, c := range []struct {
		fault  string
		target Target
		lasts  float64
		steps  int
	}{
		{"healthy-50mbit", Target{20e6, 20 * milli}, 5, 2},
		{"healthy-50mbit", Target{20e6, 400 * milli}, sectionLongest, 2},
		{"healthy-50mbit", Target{1e6, milli}, sectionShortest, 2},
		{"healthy-50mbit", Target{100e6, milli}, 0, 0},
		{"pmtu-blackhole", Target{1e6, milli}, 0, 0},
	} {
		steps := SectionSteps(c.target, readRecording(t, "testdata/faults/"+c.fault+".json.gz").Results)
		if len(steps) != c.steps {
			t.Errorf("%s %+v: %d steps, want %d", c.fault, c.target, len(steps), c.steps)
		}
		for _, s := range steps {
			if s.Parameters["duration"] != c.lasts || s.Parameters["rate"] != c.target.Rate {
				t.Errorf("%s %+v: %+v", c.fault, c.target, s)
			}
		}
	}
}
