package diagnose

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// A rate is held if it arrives over the whole time, and nine tenths of it in each second after the first.
func TestJudgeAcceptance(t *testing.T) {
	moved := func(direction string, whole float64, seconds ...float64) *measure.Result {
		r := measure.NewResult("throughput", time.Now())
		r.Parameters["reverse"] = direction == measure.Reverse
		r.Metrics[measure.Throughput] = whole
		for i, v := range seconds {
			r.Samples.Intervals = append(r.Samples.Intervals, measure.Interval{Direction: direction, End: measure.Receiver,
				StartSeconds: float64(i), EndSeconds: float64(i + 1), BitsPerSecond: v})
		}
		last := float64(len(seconds))
		r.Samples.Intervals = append(r.Samples.Intervals,
			measure.Interval{Direction: direction, End: measure.Receiver, StartSeconds: last, EndSeconds: last + 0.04, BitsPerSecond: 1},
			measure.Interval{Direction: direction, End: measure.Sender, StartSeconds: 1, EndSeconds: 2, BitsPerSecond: 1},
			measure.Interval{Direction: direction, End: measure.Receiver, Stream: 1, StartSeconds: 1, EndSeconds: 2, BitsPerSecond: 1})
		return r
	}
	both := []string{measure.Forward, measure.Reverse}
	for _, c := range []struct {
		name    string
		results []*measure.Result
		ways    []string
		want    []Outcome // of each check
		outcome Outcome
	}{
		{"held both ways", []*measure.Result{moved("forward", 99.5e6, 80e6, 105e6, 100e6), moved("reverse", 100e6, 90e6, 95e6, 100e6)}, both,
			[]Outcome{Passes, Passes, Passes, Passes}, Passes},
		{"too little in all", []*measure.Result{moved("forward", 98e6, 80e6, 100e6, 100e6)}, both[:1], []Outcome{Fails, Passes}, Fails},
		{"one second stood still", []*measure.Result{moved("forward", 100e6, 100e6, 20e6, 180e6)}, both[:1], []Outcome{Passes, Fails}, Fails},
		{"one way was not measured", []*measure.Result{moved("forward", 100e6, 100e6, 100e6)}, both, []Outcome{Passes, Passes, Untold, Untold}, Untold},
		{"too short for seconds", []*measure.Result{moved("forward", 100e6, 100e6)}, both[:1], []Outcome{Passes, Untold}, Untold},
	} {
		a := JudgeAcceptance(100e6, 3, c.results, c.ways...)
		var got []Outcome
		for _, check := range a.Checks {
			got = append(got, check.Outcome)
		}
		if len(got) != len(c.want) || a.Outcome != c.outcome {
			t.Errorf("%s: %s, %v", c.name, a.Outcome, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %s %s is %s, want %s", c.name, a.Checks[i].Way, a.Checks[i].Name, got[i], c.want[i])
			}
		}
	}
}
