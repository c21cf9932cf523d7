package analysis

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
)

type figures = map[measure.Metric]float64

// ran is a Result of a tool.
func ran(tool, kind string, seconds float64, metrics figures, samples measure.Samples) *measure.Result {
	return &measure.Result{Tool: tool, Kind: kind, DurationSeconds: seconds, Metrics: metrics, Samples: samples}
}

// Tools that measured what a pair carries are told with what they found beside the reference, how they scatter and what they cost.
func TestCompareTools(t *testing.T) {
	streams := measure.Samples{Trains: []measure.Train{{SentPackets: 100}}, Capacity: &measure.PathCapacity{Streams: []measure.StreamSample{{BitsPerSecond: 8e6, Seconds: 1}}}}
	failed := ran("bulk", "throughput", 3, nil, measure.Samples{})
	failed.Status = measure.StatusFailed
	results := []*measure.Result{
		ran("bulk", "throughput", 10, figures{measure.Throughput: 90e6, measure.SentBytes: 100e6, measure.ReceivedBytes: 99e6, measure.RetransmittedBytes: 1e6}, measure.Samples{}),
		ran("bulk", "throughput", 12, figures{measure.Throughput: 110e6, measure.SentBytes: 140e6}, measure.Samples{}),
		ran("bulk", "throughput", 11, figures{measure.Throughput: 100e6, measure.SentBytes: 120e6}, measure.Samples{}),
		failed, ran("bulk", "throughput", 3, figures{measure.RTTMedian: 0.02}, measure.Samples{}), // which did not ask for a throughput
		ran("bulk", "throughput", 90, figures{measure.Throughput: 1e6}, measure.Samples{Sweep: &measure.Sweep{}}),
		ran("", "ndt7", 20, figures{measure.Throughput: 95e6, measure.ReverseReceivedBytes: 5e6, measure.SentBytes: 10e6}, measure.Samples{}),
		ran("train", "capacity", 2, figures{measure.Capacity: 120e6, measure.Available: 60e6}, streams),
		ran("bbcp", "command", 9, figures{measure.Throughput: 80e6}, measure.Samples{}),
		ran("rtt", "ping", 1, figures{measure.RTTMedian: 0.02}, measure.Samples{}),
	}
	bytes := func(n float64) *float64 { return &n }
	metrics := []measure.Metric{measure.Throughput, measure.Capacity, measure.Available}
	bulk := Tool{Tool: "bulk", Kind: "throughput", Metric: measure.Throughput, Runs: 3, Failed: 1, Median: 100e6, Low: 90e6, High: 110e6, Spread: 0.2, Deviation: bytes(0), Reference: true,
		Seconds: 11, Bytes: bytes(120e6)}
	one := func(tool, kind string, m measure.Metric, value, deviation, seconds float64, cost *float64) Tool {
		return Tool{Tool: tool, Kind: kind, Metric: m, Runs: 1, Median: value, Low: value, High: value, Deviation: &deviation, Seconds: seconds, Bytes: cost}
	}
	want := []Tool{
		one("train", "capacity", measure.Capacity, 120e6, 0.2, 2, bytes(1e6+100*1480)), one("train", "capacity", measure.Available, 60e6, -0.4, 2, bytes(1e6+100*1480)),
		one("ndt7", "ndt7", measure.Throughput, 95e6, -0.05, 20, bytes(15e6)), bulk, one("bbcp", "command", measure.Throughput, 80e6, -0.2, 9, nil),
	}
	if diff := cmp.Diff(want, CompareTools(results, metrics, ""), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for reference, at := range map[string]int{"train": 0, "bbcp": 4, "none": -1} {
		for i, got := range CompareTools(results, metrics, reference) {
			if got.Reference != (i == at) || (got.Deviation == nil) != (at < 0) {
				t.Errorf("reference %s: %+v", reference, got)
			}
		}
	}
	for _, got := range CompareTools(results, []measure.Metric{measure.Throughput, measure.RTTMedian}, "") {
		if got.Metric == measure.RTTMedian && got.Deviation != nil {
			t.Errorf("a time is off from a rate by %v", *got.Deviation)
		}
	}
	if got := CompareTools(nil, metrics, ""); got == nil || len(got) > 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// Figures that no test brings come to numbers that JSON can hold.
func TestCompareToolsOfWildFigures(t *testing.T) {
	wild := ran("wild", "capacity", 1, figures{measure.Throughput: 1e308, measure.SentBytes: 1.7e308, measure.RetransmittedBytes: 1.7e308},
		measure.Samples{Capacity: &measure.PathCapacity{Streams: []measure.StreamSample{{BitsPerSecond: 1e308, Seconds: 1e308}, {BitsPerSecond: -1e308, Seconds: 1e308}}}})
	wild.Parameters = map[string]any{"length": 1e308}
	wild.Samples.Trains = []measure.Train{{SentPackets: 1000}, {SentPackets: -1000}}
	small := ran("small", "throughput", 1, figures{measure.Throughput: 1e-300}, measure.Samples{})
	tools := CompareTools([]*measure.Result{wild, wild, ran("wild", "capacity", 1e308, figures{measure.Throughput: 1e-308}, measure.Samples{}), small, small, small}, []measure.Metric{measure.Throughput}, "")
	if _, err := json.Marshal(tools); err != nil || len(tools) != 2 {
		t.Errorf("%v: %+v", err, tools)
	}
}
