package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// The distribution of a ping is that of the echoes that returned, and agrees with its metrics.
func TestEchoDistributions(t *testing.T) {
	answered := func(rtt float64) measure.Echo { return measure.Echo{RTTSeconds: &rtt} }
	echoes := []measure.Echo{answered(0.02), {}, answered(0.01), answered(0.5), {Error: "host unreachable"}}
	s, err := echoDistributions(echoes)[measure.RTTs].Sketch()
	if err != nil {
		t.Fatal(err)
	}
	metrics := reduceEchoes(echoes, []uint64{1, 3, 4})
	got := map[measure.Metric]float64{measure.ReceivedPackets: float64(s.Count()), measure.RTTMin: s.Min(), measure.RTTMax: s.Max(),
		measure.RTTMean: s.Mean()}
	want := map[measure.Metric]float64{}
	for m := range got {
		want[m] = metrics[m]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-metrics +distribution):\n%s", diff)
	}
	if got := echoDistributions([]measure.Echo{{}, {Error: "no route"}}); got != nil {
		t.Errorf("of no echo that returned: %v", got)
	}
}
