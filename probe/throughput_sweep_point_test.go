package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
