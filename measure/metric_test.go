package measure

import (
	"slices"
	"testing"
)

func TestUnit(t *testing.T) {
	for m, want := range map[Metric]string{
		RTTMin: "seconds", Throughput: "bits_per_second", HostDiskRead: "bytes_per_second", "x_packets_per_second": "packets_per_second",
		CwndMax: "bytes", LossRatio: "ratio", LossBurstMax: "packets", HopCount: "count", Achieved: "bits_per_second", Expected: "bits_per_second", "a2_count": "count",
		"": "", "rtt": "", "_seconds": "", "seconds": "", "RTT_seconds": "", "2x_seconds": "", "x y_seconds": "", "rtt_ms": "",
	} {
		if got := m.Unit(); got != want {
			t.Errorf("%q: unit %q, want %q", m, got, want)
		}
	}
}

func TestMetricsInOrder(t *testing.T) {
	got := []Metric{"odd_seconds", SentPackets, "bad_seconds", RTTMax, RTTMedian}
	slices.SortFunc(got, Metric.Compare)
	if want := []Metric{RTTMedian, RTTMax, SentPackets, "bad_seconds", "odd_seconds"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
