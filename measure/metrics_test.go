package measure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A ratio merges by the mean unless it is one of counts that are metrics, too, and every quantile of samples says of which
// distribution it is. Outages add up, and of what is the longest or largest of a run the largest counts. All else is merged by the median.
func TestMerge(t *testing.T) {
	want := map[Metric]Merge{
		LossRatio:       {How: MergeShare, Over: LostPackets, Under: SentPackets},
		ReorderingRatio: {How: MergeShare, Over: ReorderedPackets, Under: ReceivedPackets},
		RTTMean:         {How: MergeSampleMean, Distribution: RTTs},
	}
	for _, d := range Definitions() {
		if _, shared := want[d.Metric]; d.Metric.Unit() == "ratio" && !shared {
			want[d.Metric] = Merge{How: MergeMean}
		}
	}
	for _, way := range []string{Forward, Reverse} {
		want[LossOn(way)] = Merge{How: MergeShare, Over: LostOn(way), Under: SentOn(way)}
	}
	for part, q := range map[string]float64{"min": 0, "median": 0.5, "p95": 0.95, "p99": 0.99, "max": 1} {
		for _, of := range []string{"rtt", "owd_forward", "owd_reverse"} {
			want[Metric(of+"_"+part+"_seconds")] = Merge{How: MergeQuantile, Distribution: Metric(of + "_seconds"), Quantile: q}
		}
	}
	for part, q := range map[string]float64{"min": 0, "median": 0.5, "p95": 0.95, "max": 1} {
		want[Metric("transaction_"+part+"_seconds")] = Merge{How: MergeQuantile, Distribution: TransactionTimes, Quantile: q}
		want[Metric("connect_"+part+"_seconds")] = Merge{How: MergeQuantile, Distribution: ConnectTimes, Quantile: q}
	}
	delete(want, "connect_p95_seconds")
	for _, way := range []string{"", "_forward", "_reverse"} {
		want[Metric("outages"+way+"_count")] = Merge{How: MergeSum}
		want[Metric("outage_longest"+way+"_seconds")] = Merge{How: MergeMax}
		want[Metric("loss_burst"+way+"_max_packets")] = Merge{How: MergeMax}
		want[Metric("reordering_extent"+way+"_max_packets")] = Merge{How: MergeMax}
		want[Metric("reordering_degree"+way+"_max_packets")] = Merge{How: MergeMax}
	}
	want[ReorderingN] = Merge{How: MergeMax}
	delete(want, "reordering_degree_max_packets")
	got := map[Metric]Merge{}
	for _, d := range Definitions() {
		m := d.Metric
		if merge := m.Merge(); merge != (Merge{}) {
			got[m] = merge
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// Every metric follows the data unless it is of a round trip, a transaction, a route, or the host itself. Of the path only rates and token
// buckets are of one way: sizes and hops are those of the route from the source.
func TestFollows(t *testing.T) {
	for _, d := range Definitions() {
		want := FollowsData
		switch name := string(d.Metric); {
		case strings.HasPrefix(name, "host_"):
			want = FollowsHost
		case strings.HasPrefix(name, "rtt_"), d.Group == "Transactions", d.Group == "Path" && d.Metric.Unit() != "bits_per_second" && d.Metric != BucketSize:
			want = FollowsTrip
		}
		if got := d.Metric.Follows(); got != want {
			t.Errorf("%s follows %d, want %d", d.Metric, got, want)
		}
	}
}

// Whatever way the data went, each metric belongs to one pair: what follows the data to that of the data, a round trip to the
// one that it began in, and of a Result of both ways the metrics of the way back to the other.
func TestParts(t *testing.T) {
	a, b := Endpoint{Name: "a", Address: "10.0.0.1"}, Endpoint{Name: "b", Address: "10.0.0.2"}
	all := Result{Source: a, Target: b, Metrics: map[Metric]float64{}}
	there, data, trip := map[Metric]float64{}, map[Metric]float64{}, map[Metric]float64{}
	for i, d := range Definitions() {
		m := d.Metric
		if len(m) > 8 && m[:8] == reversePrefix {
			continue
		}
		all.Metrics[m], there[m] = float64(i), float64(i)
		if m.Follows() == FollowsData {
			data[m] = float64(i)
		} else {
			trip[m] = float64(i)
		}
	}
	both := map[Metric]float64{ReverseThroughput: -1, ReverseSentBytes: -2, ReverseReceivedBytes: -3}
	back := map[Metric]float64{Throughput: -1, SentBytes: -2, ReceivedBytes: -3}
	none := map[Metric]float64{}
	for name, c := range map[string]struct {
		way     Way
		metrics map[Metric]float64
		want    []Part
	}{
		"of no way":        {"", all.Metrics, []Part{{a, b, there}}},
		"forward":          {Forward, all.Metrics, []Part{{a, b, there}}},
		"reverse":          {Reverse, all.Metrics, []Part{{b, a, data}, {a, b, trip}}},
		"data only":        {Reverse, data, []Part{{b, a, data}}},
		"both":             {Both, both, []Part{{a, b, none}, {b, a, back}}},
		"failed":           {Forward, nil, []Part{{a, b, none}}},
		"failed, reverse":  {Reverse, nil, []Part{{b, a, none}}},
		"failed, both":     {Both, nil, []Part{{a, b, none}, {b, a, none}}},
		"both, one failed": {Both, data, []Part{{a, b, data}, {b, a, none}}},
	} {
		r := all
		r.Way, r.Metrics = c.way, c.metrics
		if diff := cmp.Diff(c.want, r.Parts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
