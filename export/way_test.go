package export

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// A Result is exported between the ends that its data went between, as it is filed, whatever its way.
func TestExportedByWay(t *testing.T) {
	type series struct{ Source, Target, Metric string }
	for way, want := range map[measure.Way]map[series]float64{
		measure.Forward: {{"a", "b", "throughput_bits_per_second"}: 1, {"a", "b", "reverse_throughput_bits_per_second"}: 2, {"a", "b", "rtt_min_seconds"}: 3},
		measure.Reverse: {{"b", "a", "throughput_bits_per_second"}: 1, {"b", "a", "reverse_throughput_bits_per_second"}: 2, {"a", "b", "rtt_min_seconds"}: 3},
		measure.Both:    {{"a", "b", "throughput_bits_per_second"}: 1, {"b", "a", "throughput_bits_per_second"}: 2, {"a", "b", "rtt_min_seconds"}: 3},
	} {
		r := measure.NewResult("throughput", time.Now().Add(-time.Second))
		r.Source.Name, r.Target.Name, r.Tool, r.Way = "a", "b", "bulk", way
		r.Metrics = map[measure.Metric]float64{measure.Throughput: 1, measure.ReverseThroughput: 2, measure.RTTMin: 3}
		c := NewCollector(CollectorOptions{})
		c.Observe(r)
		got, n := map[series]float64{}, 0
		streams, counted := c.snapshot()
		for s, l := range streams {
			for _, v := range l.values {
				got[series{s.source, s.target, string(v.metric)}] = v.value
			}
			n += len(l.values) + 1 // whether it came out whole
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", way, diff)
		}
		if p := pack(r); p.samples != n {
			t.Errorf("%s: %d samples are written, want %d", way, p.samples, n)
		}
		if n := counted.results[outcome{"bulk", measure.StatusOK}]; n != 1 {
			t.Errorf("%s: it counts as %d Results", way, n)
		}
	}
}
