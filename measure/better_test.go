package measure_test

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

func TestBetter(t *testing.T) {
	for metric, want := range map[measure.Metric]measure.Better{
		measure.RTTMedian: measure.BetterLow, measure.LossRatio: measure.BetterLow, measure.LossBurstMax: measure.BetterLow,
		measure.ReorderedPackets: measure.BetterLow, measure.Retransmits: measure.BetterLow, measure.HopCount: measure.BetterLow,
		measure.RwndLimitedRatio: measure.BetterLow, measure.HostCPU: measure.BetterLow, measure.HostReceiveDrops: measure.BetterLow,
		measure.Throughput: measure.BetterHigh, measure.Capacity: measure.BetterHigh, measure.Available: measure.BetterHigh,
		measure.Achieved: measure.BetterHigh, measure.Expected: measure.BetterHigh,
		measure.PathMTU: measure.BetterHigh, measure.HostDiskFreeRatio: measure.BetterHigh, measure.HostMemoryAvailable: measure.BetterHigh,
		measure.SentPackets: measure.BetterNone, measure.SentBytes: measure.BetterNone, measure.HostReceived: measure.BetterNone,
		measure.HostTCPSendMax: measure.BetterNone, "site_queue_seconds": measure.BetterLow, "site_copy_bytes_per_second": measure.BetterHigh,
	} {
		if got := metric.Better(); got != want {
			t.Errorf("%s: better is %q, want %q", metric, got, want)
		}
	}
}
