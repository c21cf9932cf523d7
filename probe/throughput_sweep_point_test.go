package probe

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
)

// What a sweep keeps of a run tells the window as the whole run does, and has nothing else of its readings.
func TestKeepWindows(t *testing.T) {
	r := &measure.Result{}
	for i := range 10 {
		for _, end := range []string{measure.Sender, measure.Receiver} {
			r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{End: end, Direction: measure.Forward, Stream: 1 + i%2, ElapsedSeconds: float64(i),
				Values: map[string]float64{"snd_wnd_bytes": 1000 + float64(i), "rtt_seconds": 0.01, "snd_cwnd_bytes": 5}})
		}
	}
	r.Samples.Intervals = []measure.Interval{{}}
	want := windowOf([]*measure.Result{r})
	keepWindows(r)
	if diff := cmp.Diff(want, windowOf([]*measure.Result{r})); diff != "" || want == nil {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if kept := r.Samples.TCPInfo; len(kept) != 10 || len(kept[0].Values) != 2 || r.Samples.Intervals != nil {
		t.Errorf("kept %+v", r.Samples)
	}
}

// A point's figure lies in the middle of its interval, which is that of the mean.
func TestSweepPointIsMean(t *testing.T) {
	runs := []sweepRun{{point: 1, value: 90}, {point: 0, value: 5}, {point: 1, value: 100}, {point: 1, value: 140}}
	r := &measure.Result{Metrics: map[measure.Metric]float64{}}
	got := sweepPoint([]any{"cubic"}, 1, runs, []*measure.Result{r, r, r, r}, 0.7)
	if got.Mean != 110 || got.N != 3 || math.Abs(got.Low+got.High-220) > 1e-9 || !got.Narrow || got.Low > 90 {
		t.Errorf("%+v", got)
	}
}

// Values asked for in any order are drawn from the least to the largest.
func TestSweepLinesInOrder(t *testing.T) {
	sweep := &measure.Sweep{Parameters: []measure.SweepParameter{{Name: "cc"}, {Name: "window", Unit: "bytes"}}, Points: []measure.SweepPoint{
		{Values: []any{"reno", 4096.}, N: 3, Mean: 4}, {Values: []any{"reno", 1024.}, N: 3, Mean: 1}, {Values: []any{"cubic", 4096.}, N: 3, Mean: 5},
		{Values: []any{"cubic", 2048.}, N: 0}, {Values: []any{"cubic", 1024.}, N: 3, Mean: 2}}}
	want := []chart.Line{{Label: "cc reno", Points: []chart.Point{{1024, 1}, {4096, 4}}}, {Label: "cc cubic", Points: []chart.Point{{1024, 2}, {4096, 5}}}}
	if diff := cmp.Diff(want, sweepLines(sweep, 1)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
